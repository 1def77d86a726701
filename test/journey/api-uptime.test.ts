/** Uptime and incidents over real sockets and a real store, and as `edgeplan uptime` prints them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { WriteTransaction } from '../../src/control/store/store.ts';
import {
  type IncidentChange,
  judgeDue,
  notifyIncident,
  settledMinute,
} from '../../src/control/traffic/uptime/judge-due.ts';
import { createReadMinutes } from '../../src/control/traffic/uptime/read-minutes.ts';
import { startApi, type TestApi } from '../support/api.ts';
import { addSubject, type Subject } from '../support/api-rules-subject.ts';
import { builtCli, edgeplan } from '../support/built.ts';
import { testDatabases } from '../support/databases.ts';
import { type SentRequest, storeTraffic } from '../support/traffic-requests.ts';

const MINUTE = 60_000;
/** Minutes of the series; the last of them is the last that is judged. */
const MINUTES = 20;
/** The origin is down in these minutes of the series. */
const DOWN = { from: 5, to: 11 } as const;
const REQUESTS = 6;

describe.each(testDatabases())('uptime on $kind', (database) => {
  let api: TestApi;
  let subject: Subject;
  let first: number;

  beforeAll(async () => {
    await builtCli();
    api = await startApi(database);
    subject = await addSubject(api);
    first = settledMinute(api.now()) - MINUTES + 1;
    const settings = {
      uptime_threshold_pct: 50,
      uptime_window_min: 3,
      uptime_min_requests: 10,
      uptime_min_active_min: 2,
      uptime_recover_min: 2,
    };
    expect((await subject.ask('PUT', '', settings)).status).toBe(200);
    const record = { type: 'A', name: 'www', destination: '198.51.100.7', proxied: true, monitor: true };
    expect((await subject.ask('POST', '/records/', record)).status).toBe(200);
    await api.store.write(async (tx) => {
      await tx.uptime.lock(first - 1);
    });
  }, 600_000);
  afterAll(() => api.close());

  async function judge(): Promise<readonly string[]> {
    const seen: string[] = [];
    const options = {
      store: api.store,
      minutes: createReadMinutes(api.store),
      async changed(tx: WriteTransaction, change: IncidentChange) {
        await notifyIncident(tx, change, api.now());
        seen.push(`${change.kind} ${change.domain.name}`);
      },
    };
    while (await judgeDue(options, api.now()));
    return seen;
  }

  test('a domain that was never judged is unknown, and the answer says what counts', async () => {
    const { status, body, text } = await subject.ask('GET', '/uptime/');
    expect(status, text).toBe(200);
    expect(body).toMatchObject({
      status: 'unknown',
      judged_through: null,
      incident: null,
      availability: null,
    });
    expect(body.reasons[0]).toContain('`monitor: true` on a proxied record');
    expect(body.hours).toHaveLength(24);
    expect((await subject.ask('GET', '/uptime/incidents/')).body).toEqual([]);
  });

  test('minutes in which the origin fails open one incident, which resolves when it answers again', async () => {
    const requests = Array.from({ length: MINUTES * REQUESTS }, (_, at): SentRequest => {
      const minute = Math.floor(at / REQUESTS);
      const isDown = minute >= DOWN.from && minute < DOWN.to;
      const time = (first + minute) * MINUTE + (at % REQUESTS) * 1_000;
      return {
        at: time,
        originRequest: true,
        monitored: true,
        originError: isDown,
        status: isDown ? 502 : 200,
      };
    });
    await storeTraffic(api.store, subject.domain.id, requests);
    const { name } = subject.domain;
    expect(await judge()).toEqual([`opened ${name}`, `resolved ${name}`]);
    expect(await judge()).toEqual([]);
    const [incident, ...others] = (await subject.ask('GET', '/uptime/incidents/')).body;
    expect(others).toEqual([]);
    const time = (minute: number): string => new Date((first + minute) * MINUTE).toISOString();
    expect(incident).toMatchObject({
      began_at: time(DOWN.from),
      // Three minutes of the window are down at the end of the third.
      opened_at: time(DOWN.from + 3),
      resolved_at: time(DOWN.to + 2),
      resolution: 'recovered',
      requests: (DOWN.to + 2 - DOWN.from) * REQUESTS,
      errors: (DOWN.to - DOWN.from) * REQUESTS,
    });
    const { body } = await subject.ask('GET', '/uptime/?hours=3');
    const errors = (DOWN.to - DOWN.from) * REQUESTS;
    expect(body).toMatchObject({ status: 'up', incident: null, requests: requests.length, errors });
    expect(body.availability).toBeCloseTo(1 - errors / requests.length, 6);
    expect(body.judged_through).toBe(time(MINUTES));
    const feed = await subject.owner.call('GET', '/notifications/');
    expect(
      feed.body.notifications.map(({ kind, data }: { kind: string; data: object }) => [kind, data]),
    ).toEqual([
      ['outage.resolved', expect.objectContaining({ incident_id: incident.id, until: time(DOWN.to + 2) })],
      ['outage.opened', expect.objectContaining({ since: time(DOWN.from), requests: 18, errors: 18 })],
    ]);
  });

  test('incidents are read page by page, and a wrong parameter is refused with the nearest one', async () => {
    const [{ id }] = (await subject.ask('GET', '/uptime/incidents/?limit=1')).body;
    expect((await subject.ask('GET', `/uptime/incidents/?before=${id}`)).body).toEqual([]);
    const refused = await subject.ask('GET', '/uptime/?hour=3');
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('`hours`')]);
    expect((await subject.ask('GET', '/uptime/?hours=841')).status).toBe(400);
  });

  test('`edgeplan uptime` prints the state, the hours and the incident; --json the fields of the API', async () => {
    const env = { EDGEPLAN_SERVER: api.url, EDGEPLAN_KEY: subject.owner.key, COLUMNS: '80' };
    const run = (...args: readonly string[]) =>
      edgeplan(['uptime', subject.domain.name, ...args], { cwd: '/', env });
    const { code, out, err } = await run();
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(new RegExp(`^${subject.domain.name} {2}up\\n`));
    expect(out).toMatch(/^answered +70\.00 % {2}of 120 requests$/m);
    expect(out).toMatch(/^ +1 {2}\d{4}-\d\d-\d\d \d\d:\d\d UTC +8 min +36 +48 {2}recovered$/m);
    for (const line of out.split('\n')) expect([...line].length).toBeLessThanOrEqual(80);
    const document = JSON.parse((await run('--json', '--last', '3h')).out);
    expect(document).toMatchObject({
      format: 'edgeplan.uptime/v1',
      domain: subject.domain.name,
      status: 'up',
    });
    expect(document.hours).toHaveLength(3);
    expect(document.incidents).toHaveLength(1);
    const refused = await run('--last', '40d');
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('--last 35d')]);
  });
});
