/** Hits of rules over real sockets and a real store: every number equals that of the requests one by one. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApi, type TestApi } from '../support/api.ts';
import { addSubject, type Subject } from '../support/api-rules-subject.ts';
import { testDatabases } from '../support/databases.ts';
import { type Matched, type SentRequest, storeTraffic } from '../support/traffic-requests.ts';

const HOUR = 3_600_000;

describe.each(testDatabases())('hits on $kind', (database) => {
  let api: TestApi;
  let subject: Subject;
  let requests: readonly SentRequest[];
  let ids: Readonly<Record<'drop' | 'shadow' | 'redirect' | 'unused' | 'removed', number>>;

  async function rule(slug: string, body: object): Promise<number> {
    const made = await subject.ask('POST', `/rules/${slug}/`, body);
    expect(made.status, made.text).toBe(200);
    return made.body.id;
  }

  beforeAll(async () => {
    api = await startApi(database);
    subject = await addSubject(api);
    const redirect = await rule('redirect', { path_includes: ['/old'], target: '/new', status_code: 301 });
    const unused = await rule('redirect', { path_includes: ['/older'], target: '/new', priority: 10 });
    const drop = await rule('drop', { path_includes: ['/admin/*'], ips: ['203.0.113.0/24'] });
    const shadow = await rule('drop', { countries: ['KP'], action_mode: 'dry_run', priority: 5 });
    const removed = await rule('drop', { path_includes: ['/gone'], countries: ['KP'] });
    ids = { drop, shadow, redirect, unused, removed };
    requests = makeRequests();
    for (let from = 0; from < requests.length; from += 100) {
      await storeTraffic(api.store, subject.domain.id, requests.slice(from, from + 100));
    }
    expect((await subject.ask('DELETE', `/rules/drop/${removed}`)).status).toBe(200);
  });
  afterAll(() => api.close());

  /** Requests of the last 20 hours: forwarded, blocked, redirected, and some that the dry_run rule would have blocked. */
  function makeRequests(): readonly SentRequest[] {
    const block = (id: number): Matched => ({ type: 'drop', id, effect: 'block' });
    const would: Matched = { ...block(ids.shadow), mode: 'dry_run' };
    const moved: Matched = { type: 'redirect', id: ids.redirect, effect: 'redirect' };
    const shadow = { action: 'block', status: 403, by: would } as const;
    return Array.from({ length: 400 }, (_, index): SentRequest => {
      const at = api.now() - index * 180_000;
      if (index % 10 === 0) return { at, action: 'block', status: 403, matches: [block(ids.drop)] };
      if (index % 10 === 1) return { at, matches: [would], shadow };
      if (index % 10 === 2) return { at, action: 'redirect', status: 301, matches: [would, moved], shadow };
      if (index % 10 === 3) return { at, action: 'redirect', status: 301, matches: [moved] };
      if (index % 100 === 4) return { at, action: 'block', status: 403, matches: [block(ids.removed)] };
      return { at };
    });
  }

  /** Requests that matched a rule, from a time on. */
  const matched = (type: string, id: number, from = 0): readonly SentRequest[] =>
    requests.filter(
      ({ at, matches = [] }) => at >= from && matches.some((one) => one.type === type && one.id === id),
    );

  const ask = (query = '') => subject.ask('GET', `/rules/hits/${query}`);

  test('every rule is listed in evaluation order with its hits, unused ones with zeros', async () => {
    const { status, body, text } = await ask();
    expect(status, text).toBe(200);
    expect(body.rules.map(({ type, id }: Matched) => `${type}/${id}`)).toEqual([
      `drop/${ids.shadow}`,
      `drop/${ids.drop}`,
      `redirect/${ids.unused}`,
      `redirect/${ids.redirect}`,
    ]);
    for (const one of body.rules) {
      const own = matched(one.type, one.id, Date.parse(body.from));
      expect(one.hits).toBe(own.length);
      const last = Math.max(...own.map(({ at }) => at));
      expect(one.last_at).toBe(own.length === 0 ? null : new Date(last).toISOString());
      expect(one).not.toHaveProperty('series');
    }
    const [shadow, drop, unused] = body.rules;
    expect(drop).toMatchObject({ about: '/admin/* · 1 address', action_mode: 'enforce', priority: 100 });
    expect(drop.by_effect).toEqual({ enforce: { block: drop.hits }, dry_run: {} });
    expect(shadow.by_effect).toEqual({ enforce: {}, dry_run: { block: shadow.hits } });
    expect(unused).toMatchObject({ hits: 0, last_at: null, changes: [], would_change: 0 });
  });

  test('a dry_run rule lists what it would have changed, and which rule would have lost', async () => {
    const { body } = await ask();
    const [shadow] = body.rules;
    const own = matched('drop', ids.shadow, Date.parse(body.from));
    const redirected = own.filter(({ action }) => action === 'redirect').length;
    expect(shadow.would_change).toBe(own.length);
    expect(shadow.changes).toEqual(
      expect.arrayContaining([
        { from: 'forward', to: 'block 403', instead: null, requests: own.length - redirected },
        {
          from: 'redirect 301',
          to: 'block 403',
          instead: `redirect/${ids.redirect}`,
          requests: redirected,
        },
      ]),
    );
    expect(shadow.changes).toHaveLength(2);
  });

  test('hits of a rule that was deleted are listed apart', async () => {
    const { body } = await ask();
    const own = matched('drop', ids.removed, Date.parse(body.from)).length;
    expect(own).toBeGreaterThan(0);
    expect(body.removed).toEqual([
      expect.objectContaining({ type: 'drop', id: ids.removed, hits: own, by_effect: expect.anything() }),
    ]);
    expect(body.uncounted).toEqual({ hits: 0, changes: 0 });
  });

  test.each(['minute', 'hour', 'day'] as const)(
    'with step=%s each rule has its hits by step, and they add up',
    async (step) => {
      const from = step === 'minute' ? new Date(api.now() - 5 * HOUR).toISOString() : '';
      const { status, body, text } = await ask(`?step=${step}${from === '' ? '' : `&from=${from}`}`);
      expect(status, text).toBe(200);
      expect(body.step).toBe(step);
      const length = { minute: 60_000, hour: HOUR, day: 24 * HOUR }[step];
      for (const one of body.rules) {
        const own = matched(one.type, one.id, Date.parse(body.from));
        expect(one.hits).toBe(own.length);
        for (const { at, hits } of one.series) {
          const start = Date.parse(at);
          expect(hits).toBe(own.filter((sent) => sent.at >= start && sent.at < start + length).length);
        }
        expect(one.series.reduce((sum: number, { hits }: { hits: number }) => sum + hits, 0)).toBe(one.hits);
      }
    },
  );

  test('a period that ends before the traffic has none of it', async () => {
    const to = new Date(api.now() - 22 * HOUR).toISOString();
    const { body } = await ask(`?to=${to}`);
    expect(body.rules.map(({ hits }: { hits: number }) => hits)).toEqual([0, 0, 0, 0]);
    expect(body.removed).toEqual([]);
  });

  test('pages lead through all rules, of the same period', async () => {
    const whole = await ask();
    const listed: unknown[] = [];
    let path: string | null = subject.at(`/rules/hits/?limit=3&from=${whole.body.from}&to=${whole.body.to}`);
    for (let page = 0; path !== null; page++) {
      const answer = await subject.owner.call('GET', path);
      expect(answer.status, answer.text).toBe(200);
      expect(answer.headers['x-total-count']).toBe('4');
      expect([answer.body.from, answer.body.to]).toEqual([whole.body.from, whole.body.to]);
      listed.push(...answer.body.rules);
      const link = /^<(.+)>; rel="next"$/.exec(answer.headers['link'] ?? '');
      path = link === null ? null : link[1]!;
      expect(page).toBeLessThan(2);
    }
    expect(listed).toEqual(whole.body.rules);
  });

  test('an answer that has not changed is 304', async () => {
    const query = `?from=${new Date(api.now() - 20 * HOUR).toISOString()}&to=${new Date(api.now() - HOUR).toISOString()}`;
    const tag = (await ask(query)).headers['etag']!;
    const again = await subject.ask('GET', `/rules/hits/${query}`, undefined, { 'if-none-match': tag });
    expect(again.status).toBe(304);
  });

  test('a viewer and a read-only key may read them, and a stranger gets 404', async () => {
    const viewer = await subject.member('viewer', 'viewer');
    expect((await viewer.call('GET', subject.at('/rules/hits/'))).status).toBe(200);
    const { key } = await subject.owner.anotherKey({ readOnly: true });
    const headers = { authorization: `Bearer ${key}` };
    const answer = await subject.owner.call('GET', subject.at('/rules/hits/'), undefined, headers);
    expect(answer.status).toBe(200);
    const stranger = await api.person('stranger');
    expect((await stranger.call('GET', subject.at('/rules/hits/'))).status).toBe(404);
  });

  test('a domain without rules and traffic has an empty list', async () => {
    const fresh = await addSubject(api);
    const { status, body } = await fresh.ask('GET', '/rules/hits/?step=hour');
    expect(status).toBe(200);
    expect(body).toMatchObject({ rules: [], removed: [], step: 'hour' });
  });

  test.each([
    ['?step=week', 'step: '],
    ['?from=yesterday', 'from: must be an RFC 3339 time'],
    ['?from=2020-01-01&step=hour', 'use a `from` of'],
    ['?limit=0', 'limit: must be a whole number from 1 to 1000'],
    ['?steps=hour', 'did you mean `step`?'],
  ])('%s is refused with a sentence', async (query, said) => {
    const answer = await ask(query);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toContain(said);
  });
});
