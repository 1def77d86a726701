/** Analytics and top lists over real sockets and a real store: counts equal those of the requests one by one. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApi, type TestApi } from '../support/api.ts';
import { addSubject, type Subject } from '../support/api-rules-subject.ts';
import { testDatabases } from '../support/databases.ts';
import { type SentRequest, storeTraffic } from '../support/traffic-requests.ts';

const HOUR = 3_600_000;
const COUNTRIES = ['DE', 'NO', 'US', 'FR', 'GB', 'NL', 'SE', 'DK', 'PL', 'ES', 'IT', 'CH'] as const;

describe.each(testDatabases())('analytics on $kind', (database) => {
  let api: TestApi;
  let subject: Subject;
  let requests: readonly SentRequest[];

  beforeAll(async () => {
    api = await startApi(database);
    subject = await addSubject(api);
    requests = Array.from({ length: 600 }, (_, index): SentRequest => {
      const blocked = index % 20 === 0;
      return {
        at: api.now() - index * 120_000,
        ...(blocked ? { action: 'block' } : {}),
        status: blocked ? 403 : index % 50 === 1 ? 502 : 200,
        octetsIn: index,
        octetsOut: 2 * index,
        cache: blocked ? null : index % 3 === 0 ? 'miss' : 'hit',
        country: COUNTRIES[index % COUNTRIES.length]!,
        bot: index % 7 === 0 ? 'gptbot' : null,
        ip: `192.0.2.${index % 100}`,
        path: index % 4 === 0 ? '/' : `/page/${index % 30}`,
        edgeMs: 10,
        originRequest: !blocked && index % 3 === 0,
        originError: index % 50 === 1 && index % 3 === 0,
        originMs: !blocked && index % 3 === 0 ? 80 : null,
      };
    });
    for (let from = 0; from < requests.length; from += 150) {
      await storeTraffic(api.store, subject.domain.id, requests.slice(from, from + 150));
    }
  });
  afterAll(() => api.close());

  const ask = (query = '') => subject.ask('GET', `/analytics/${query}`);
  /** Requests in the period of an answer. */
  const within = ({ from, to }: { readonly from: string; readonly to: string }): readonly SentRequest[] =>
    requests.filter(({ at }) => at >= Date.parse(from) && at < Date.parse(to));
  const numberOf = (of: readonly SentRequest[], test: (sent: SentRequest) => boolean): number =>
    of.filter(test).length;

  test('totals and points equal sums over the requests', async () => {
    const { status, body, text } = await ask();
    expect(status, text).toBe(200);
    const all = within(body);
    expect(all.length).toBeGreaterThan(500);
    expect(body.totals).toMatchObject({
      requests: all.length,
      octets_in: all.reduce((sum, { octetsIn = 0 }) => sum + octetsIn, 0),
      octets_out: all.reduce((sum, { octetsOut = 0 }) => sum + octetsOut, 0),
      origin_requests: numberOf(all, ({ originRequest }) => originRequest === true),
      origin_errors: numberOf(all, ({ originError }) => originError === true),
      actions: {
        forward: numberOf(all, ({ action }) => action === undefined),
        block: numberOf(all, ({ action }) => action === 'block'),
      },
      statuses: {
        '200': numberOf(all, ({ status: sent }) => sent === 200),
        '403': numberOf(all, ({ status: sent }) => sent === 403),
        '502': numberOf(all, ({ status: sent }) => sent === 502),
      },
    });
    const hits = numberOf(all, ({ cache }) => cache === 'hit');
    const misses = numberOf(all, ({ cache }) => cache === 'miss');
    expect(body.totals.cache_hit_ratio).toBeCloseTo(hits / (hits + misses), 3);
    expect(body.by).toBe(null);
    expect(body).not.toHaveProperty('values');
    expect(body.points).toHaveLength((Date.parse(body.to) - Date.parse(body.from)) / HOUR);
    for (const point of body.points) {
      const start = Date.parse(point.at);
      const own = requests.filter(({ at }) => at >= start && at < start + HOUR);
      expect(point.requests).toBe(own.length);
    }
  });

  test('visitors and quantiles are within the errors that the answer states', async () => {
    const { body } = await ask();
    const { visitors, milliseconds } = body.precision;
    // Four standard errors of an estimate.
    expect(Math.abs(body.totals.visitors - 100) / 100).toBeLessThan(4 * visitors);
    expect(Math.abs(body.totals.edge_ms.p99 - 10) / 10).toBeLessThanOrEqual(milliseconds);
    expect(Math.abs(body.totals.origin_ms.p50 - 80) / 80).toBeLessThanOrEqual(milliseconds);
  });

  test('by country lists the ten with the most requests and all others as one', async () => {
    const { body } = await ask('?by=country');
    const all = within(body);
    expect(body.values).toHaveLength(11);
    for (const { value, requests: sent, points } of body.values) {
      expect(points).toHaveLength(body.points.length);
      expect(points.reduce((sum: number, one: number) => sum + one, 0)).toBe(sent);
      if (value !== null) expect(sent).toBe(numberOf(all, ({ country }) => country === value));
    }
    expect(body.values.at(-1).value).toBe(null);
    const sum = body.values.reduce((so: number, { requests: sent }: { requests: number }) => so + sent, 0);
    expect(sum).toBe(all.length);
  });

  test.each(['action', 'status', 'cache', 'bot'])('by %s adds up to all requests', async (by) => {
    const { body } = await ask(`?by=${by}&step=day`);
    const sum = body.values.reduce((so: number, { requests: sent }: { requests: number }) => so + sent, 0);
    expect(sum).toBe(body.totals.requests);
  });

  test('by minute has the same requests as by hour', async () => {
    const ends = `from=${new Date(Math.floor(api.now() / HOUR) * HOUR - 5 * HOUR).toISOString()}&to=${new Date(Math.floor(api.now() / HOUR) * HOUR).toISOString()}`;
    const minutes = await ask(`?step=minute&${ends}`);
    const hours = await ask(`?step=hour&${ends}`);
    expect(minutes.body.points).toHaveLength(300);
    expect(hours.body.points).toHaveLength(5);
    expect(minutes.body.totals).toEqual(hours.body.totals);
    expect(hours.body.totals.requests).toBe(within(hours.body).length);
  });

  test('a top list has the most frequent values with the bounds of their counts', async () => {
    const { status, body, text } = await subject.ask('GET', '/analytics/top/?of=path&limit=3');
    expect(status, text).toBe(200);
    const all = within(body);
    expect(body).toMatchObject({ of: 'path', total: all.length, unlisted_at_most: 0 });
    expect(body.values).toHaveLength(3);
    const home = numberOf(all, ({ path }) => path === '/');
    expect(body.values[0]).toEqual({ value: '/', requests: home, at_least: home });
    for (const { value, requests: most, at_least } of body.values) {
      const true_ = numberOf(all, ({ path }) => path === value);
      expect(at_least).toBeLessThanOrEqual(true_);
      expect(most).toBeGreaterThanOrEqual(true_);
    }
  });

  test.each(['address', 'country', 'user_agent', 'ja4', 'referrer'])(
    'there is a top list of %s',
    async (of) => {
      const { status, body, text } = await subject.ask('GET', `/analytics/top/?of=${of}`);
      expect(status, text).toBe(200);
      expect(body.values.length).toBeLessThanOrEqual(10);
    },
  );

  test('an answer that has not changed is 304', async () => {
    const query = `?from=${new Date(api.now() - 9 * HOUR).toISOString()}&to=${new Date(api.now() - 2 * HOUR).toISOString()}`;
    const tag = (await ask(query)).headers['etag']!.replace(/^W\//, '');
    const again = await subject.ask('GET', `/analytics/${query}`, undefined, { 'if-none-match': tag });
    expect(again.status).toBe(304);
  });

  test('a plan without monitoring or logs is 403 with the name of the feature', async () => {
    const other = await addSubject(api);
    await other.allow({ monitoring_enabled: false, logs_enabled: false });
    expect(await other.ask('GET', '/analytics/')).toMatchObject({
      status: 403,
      body: { error: expect.stringContaining('monitoring (`monitoring_enabled`)') },
    });
    expect(await other.ask('GET', '/analytics/top/?of=path')).toMatchObject({
      status: 403,
      body: { error: expect.stringContaining('(`logs_enabled`)') },
    });
    expect((await other.ask('GET', '/rules/hits/')).status).toBe(200);
    // The plan is checked before the query (semantics §6).
    expect((await other.ask('GET', '/analytics/?step=week')).status).toBe(403);
  });

  test('a viewer may read both, and a stranger gets 404', async () => {
    const viewer = await subject.member('viewer', 'viewer');
    const stranger = await api.person('stranger');
    for (const path of ['/analytics/', '/analytics/top/?of=path']) {
      expect((await viewer.call('GET', subject.at(path))).status).toBe(200);
      expect((await stranger.call('GET', subject.at(path))).status).toBe(404);
    }
  });

  test('a domain without traffic has points of zero', async () => {
    const fresh = await addSubject(api);
    const { body } = await fresh.ask('GET', '/analytics/?by=action');
    expect(body.totals).toMatchObject({ requests: 0, visitors: 0, cache_hit_ratio: null });
    expect(body.points.every((point: { requests: number }) => point.requests === 0)).toBe(true);
    expect(body.values).toEqual([]);
    expect((await fresh.ask('GET', '/analytics/top/?of=path')).body).toMatchObject({ total: 0, values: [] });
  });

  test.each([
    ['/analytics/?by=colour', 'by: '],
    ['/analytics/?step=minute&from=2026-01-01', 'from: counts by minute are stored for 48 hours'],
    ['/analytics/?from=2999-01-01', 'from: lies in the future'],
    ['/analytics/?from=tomorrow', 'from: must be an RFC 3339 time'],
    ['/analytics/top/', 'of: '],
    ['/analytics/top/?of=colour', 'of: '],
    ['/analytics/top/?of=path&limit=1000', 'limit: must be a whole number from 1 to 100'],
    ['/analytics/top/?of=path&step=hour', '`step`: is not a known query parameter'],
  ])('%s is refused with a sentence', async (path, said) => {
    const answer = await subject.ask('GET', path);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toContain(said);
  });
});
