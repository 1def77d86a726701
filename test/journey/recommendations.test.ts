/**
 * Recommendations over real sockets: each kind appears from stored facts with the facts as its evidence, its change is applied
 * by `edgeplan apply` as it is, changes nothing else, and then the recommendation is gone.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Recommendation } from '../../src/control/recommendations/shapes.ts';
import { startApi, type TestApi } from '../support/api.ts';
import { addSubject, type Subject } from '../support/api-rules-subject.ts';
import { builtCli, edgeplan, type Run } from '../support/built.ts';
import { testDatabases } from '../support/databases.ts';
import { batchOf, lineOf } from '../support/log-lines.ts';
import { newCertificate } from '../support/sample-rows.ts';
import { type Matched, type SentRequest, storeTraffic } from '../support/traffic-requests.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Requests of each day. */
const REQUESTS = 300;

/** The ids of the objects of a domain, by what is wrong with each. */
interface Made {
  readonly unused: number;
  readonly used: number;
  readonly ready: number;
  readonly broad: number;
  readonly waf: number;
  readonly cache: number;
  readonly guard: number;
  readonly loop: number;
  readonly inert: number;
  readonly direct: number;
}

/** A domain that was made 40 days ago. */
async function oldSubject(api: TestApi): Promise<Subject> {
  api.ahead = -40 * DAY;
  const subject = await addSubject(api);
  api.ahead = 0;
  return subject;
}

/** Makes objects as they were 40 days ago. */
async function makeObjects(api: TestApi, subject: Subject): Promise<Made> {
  const make = async (path: string, body: object): Promise<number> => {
    const made = await subject.ask('POST', path, body);
    expect(made.status, made.text).toBe(200);
    return made.body.id;
  };
  api.ahead = -40 * DAY;
  const a = { type: 'A', destination: '198.51.100.20' };
  const shop = await make('/records/', { name: 'shop', ...a, proxied: true });
  const made = {
    direct: await make('/records/', { name: 'direct', ...a }),
    // Two rules with the same filters: paired by content, a change of one would create a third.
    unused: await make('/rules/drop/', { path_includes: ['/x/*'], countries: ['KP'], record_ids: [shop] }),
    used: await make('/rules/drop/', { path_includes: ['/x/*'], countries: ['KP'], record_ids: [shop] }),
    ready: await make('/rules/drop/', { countries: ['NO'], action_mode: 'dry_run' }),
    broad: await make('/rules/drop/', { countries: ['SE'], action_mode: 'dry_run' }),
    waf: await make('/rules/waf/', { rule_excludes: ['920100'] }),
    cache: await make('/rules/cache/', { path_includes: ['/list/*'] }),
    guard: await make('/rules/captcha/', { path_includes: ['/login'] }),
    loop: await make('/rules/redirect/', { target: '/new/', path_includes: ['/*'], preserve_path: true }),
    inert: await make('/rules/drop/', { path_includes: ['/a/*'], path_excludes: ['/*'], countries: ['NO'] }),
  };
  api.ahead = 0;
  return made;
}

/** Traffic of 31 days: a rule is used, one would have blocked 4.6 % of the week, one 25 %. */
async function sendTraffic(api: TestApi, subject: Subject, { used, ready, broad }: Made): Promise<void> {
  const drop = (id: number, mode: 'enforce' | 'dry_run'): Matched => ({
    type: 'drop',
    id,
    effect: 'block',
    mode,
  });
  const today = api.now() - (api.now() % DAY);
  for (let day = 0; day <= 30; day++) {
    // One minute a day: each is a row that the answer opens.
    const at = day === 0 ? api.now() - 60_000 : today - day * DAY + HOUR;
    const requests = Array.from({ length: REQUESTS }, (_, index): SentRequest => {
      if (index === 0) return { at, action: 'block', status: 403, matches: [drop(used, 'enforce')] };
      const would = day > 7 ? null : index <= 14 ? ready : index % 4 === 0 ? broad : null;
      if (would === null) return { at };
      const by = drop(would, 'dry_run');
      return { at, matches: [by], shadow: { action: 'block', status: 403, by } };
    });
    await storeTraffic(api.store, subject.domain.id, requests);
  }
}

/** Log entries: a form that a signature blocks, and cached lists with links of a campaign. */
async function shipEntries(
  api: TestApi,
  { domain }: Subject,
  { waf, cache }: Made,
): Promise<readonly string[]> {
  const forms = Array.from({ length: 24 }, (_, index) => {
    const line = lineOf({
      domain: domain.name,
      at: api.now() - HOUR - (index % 12) * 3 * HOUR,
      rule: `waf/${waf}`,
      matches: [`waf/${waf}`],
      ip: `203.0.113.${index}`,
      target: '/posts/new',
    });
    const request = { ...(line['request'] as object), headers: { 'sec-fetch-site': 'same-origin' } };
    return { ...line, request, waf: { score: 5, ids: [942100], targets: ['ARGS:comment'] } };
  });
  const lists = Array.from({ length: 240 }, (_, index) => {
    const query = index % 2 === 0 ? `page=1&utm_source=mail${index}` : 'page=2';
    const line = lineOf({
      domain: domain.name,
      at: api.now() - HOUR - (index % 72) * HOUR,
      action: 'forward',
      target: `/list/shoes?${query}`,
    });
    const matches = [{ rule: `cache/${cache}`, mode: 'enforce', effect: 'cache' }];
    return { ...line, sampled: 0.01, status: 200, cache: index % 3 === 0 ? 'hit' : 'miss', matches };
  });
  const domains = [{ name: domain.name, id: domain.id, since: 0 }];
  await api.logs.append({ nodeId: 1, bytes: batchOf([...forms, ...lists]), domains, now: api.now() });
  return forms.map(({ id }) => id as string);
}

describe.each(testDatabases())('recommendations on $kind', (database) => {
  let api: TestApi;
  let subject: Subject;
  let made: Made;
  let forms: readonly string[];
  let folder: string;
  let key: { readonly key: string; readonly id: number };

  const list = async (): Promise<readonly Recommendation[]> => {
    const { status, body, text } = await subject.ask('GET', '/recommendations/');
    expect(status, text).toBe(200);
    return body;
  };
  const find = async (id: string): Promise<Recommendation | undefined> =>
    (await list()).find((one) => one.id === id);
  const run = (args: readonly string[], input?: string): Promise<Run> => {
    const env = { EDGEPLAN_SERVER: api.url, EDGEPLAN_KEY: subject.owner.key, COLUMNS: '100' };
    return edgeplan(args, { cwd: folder, env, ...(input === undefined ? {} : { input }) });
  };
  /** Every rule and record of the domain, by type and id, without the time of its last change. */
  const objects = async (): Promise<ReadonlyMap<string, object>> => {
    const rules = (await subject.ask('GET', '/rules/')).body as {
      type: string;
      id: number;
      updated_at: string;
    }[];
    const records = (await subject.ask('GET', '/records/')).body as { id: number; updated_at: string }[];
    return new Map<string, object>([
      ...rules.map(({ updated_at: _, ...rule }): [string, object] => [`${rule.type}/${rule.id}`, rule]),
      ...records.map(({ updated_at: _, ...record }): [string, object] => [`record/${record.id}`, record]),
    ]);
  };

  beforeAll(async () => {
    await builtCli();
    folder = mkdtempSync(join(tmpdir(), 'edgeplan-recommend-'));
    api = await startApi(database, { tier: 'business' });
    subject = await oldSubject(api);
    made = await makeObjects(api, subject);
    await sendTraffic(api, subject, made);
    forms = await shipEntries(api, subject, made);
    key = await subject.owner.anotherKey({ name: 'ci', expiry: 30, now: api.now() - 20 * DAY });
    await api.store.write((tx) =>
      tx.certificates.insert(
        newCertificate(subject.domain.id, {
          names_json: JSON.stringify([subject.domain.name]),
          not_after: api.now() + 5 * DAY,
        }),
      ),
    );
  }, 600_000);
  afterAll(async () => {
    await api.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test('every kind appears from its facts, the most severe first', async () => {
    const ids = (await list()).map(({ id }) => id);
    expect(ids).toEqual([
      `mistaken_rule:redirect/${made.loop}:redirect_loop`,
      'uncovered_names:domain',
      expect.stringMatching(/^expiring_certificate:certificate\/\d+$/),
      `expiring_key:key/${key.id}`,
      `exposed_origin:record/${made.direct}`,
      expect.stringMatching(/^mistaken_rule:/),
      expect.stringMatching(/^mistaken_rule:/),
      `waf_false_positive:waf/${made.waf}:942100`,
      `dry_run_too_broad:drop/${made.broad}`,
      `dry_run_ready:drop/${made.ready}`,
      `unused_rule:drop/${made.unused}`,
      `unused_rule:waf/${made.waf}`,
      `unused_rule:captcha/${made.guard}`,
      `unused_rule:cache/${made.cache}`,
      `split_cache_key:cache/${made.cache}`,
    ]);
    expect(ids).toContain(`mistaken_rule:captcha/${made.guard}:exact_path_guard`);
    expect(ids).toContain(`mistaken_rule:drop/${made.inert}:exclude_swallows_includes`);
  });

  test('the evidence is what is stored', async () => {
    const week = 8 * REQUESTS;
    expect((await find(`unused_rule:drop/${made.unused}`))!.evidence).toMatchObject({
      requests: 31 * REQUESTS,
      traffic_days: 31,
      hits: 0,
    });
    expect((await find(`dry_run_ready:drop/${made.ready}`))!.evidence).toMatchObject({
      requests: week,
      hits: 8 * 14,
      would_change: 8 * 14,
      changes: [{ from: 'forward', to: 'block 403', instead: null, requests: 8 * 14 }],
    });
    expect((await find(`waf_false_positive:waf/${made.waf}:942100`))!.evidence).toMatchObject({
      entries: 24,
      requests: 24,
      visitors: 24,
      hours: 12,
      places: [{ path: '/posts/new', target: 'ARGS:comment', requests: 24 }],
      examples: expect.arrayContaining([forms[0]]),
    });
    expect((await find(`split_cache_key:cache/${made.cache}`))!.evidence).toMatchObject({
      entries: 240,
      misses: 160,
      split_misses: 80,
      parameters: [{ name: 'utm_source', reason: 'tracking', misses: 80, values: 80 }],
      other_parameters: ['page'],
    });
    expect((await find(`expiring_key:key/${key.id}`))!.evidence).toMatchObject({ key: key.id, name: 'ci' });
    expect((await find('uncovered_names:domain'))!.evidence).toEqual({
      names: [`shop.${subject.domain.name}`],
      of: 1,
      certificates: 1,
    });
  });

  const FIXES: readonly (readonly [string, (of: Made) => string, (of: Made) => string, object])[] = [
    ['unused_rule', (of) => `drop/${of.unused}`, (of) => `drop/${of.unused}`, { enabled: false }],
    ['dry_run_too_broad', (of) => `drop/${of.broad}`, (of) => `drop/${of.broad}`, { enabled: false }],
    ['dry_run_ready', (of) => `drop/${of.ready}`, (of) => `drop/${of.ready}`, { action_mode: 'enforce' }],
    [
      'waf_false_positive',
      (of) => `waf/${of.waf}:942100`,
      (of) => `waf/${of.waf}`,
      { exclusions: [{ id: 942100, tag: '', target: 'ARGS:comment', path: '/posts/new' }] },
    ],
    [
      'split_cache_key',
      (of) => `cache/${of.cache}`,
      (of) => `cache/${of.cache}`,
      { query_mode: 'include', query_params: ['page'] },
    ],
    ['exposed_origin', (of) => `record/${of.direct}`, (of) => `record/${of.direct}`, { proxied: true }],
    [
      'mistaken_rule',
      (of) => `captcha/${of.guard}:exact_path_guard`,
      (of) => `captcha/${of.guard}`,
      { path_includes: ['/login', '/login/*'] },
    ],
    [
      'mistaken_rule',
      (of) => `redirect/${of.loop}:redirect_loop`,
      (of) => `redirect/${of.loop}`,
      { path_excludes: ['/new/*'] },
    ],
    [
      'mistaken_rule',
      (of) => `drop/${of.inert}:exclude_swallows_includes`,
      (of) => `drop/${of.inert}`,
      { enabled: false },
    ],
  ];

  test.each(FIXES)(
    'the change of %s is applied as it is, and ends it',
    async (kind, idOf, objectOf, change) => {
      const [id, changed] = [`${kind}:${idOf(made)}`, objectOf(made)];
      const before = await objects();
      const printed = await run(['recommend', subject.domain.name, '--fix', id]);
      expect(printed).toMatchObject({ code: 0, err: '' });
      expect(printed.out).toBe((await find(id))!.fix!.edge_yaml);
      const applied = await run(['apply', '-f', '-'], printed.out);
      expect(applied.code, applied.err).toBe(0);
      expect(applied.out).toContain('applied 1 change');
      const after = new Map(before);
      after.set(changed, { ...before.get(changed)!, ...change });
      expect(await objects()).toEqual(after);
      expect(await find(id)).toBeUndefined();
      const again = await run(['apply', '-f', '-'], printed.out);
      expect(again).toMatchObject({ code: 0, out: `no changes: ${subject.domain.name} matches the file\n` });
    },
    60_000,
  );

  test('a fragment never creates, deletes or prunes', async () => {
    const gone = `domain: ${subject.domain.name}\nfragment: true\nrules:\n  - { id: 999999, type: drop, countries: [NO] }\n`;
    const before = await objects();
    const absent = await run(['apply', '-f', '-'], gone);
    expect(absent.code).toBe(3);
    expect(absent.err).toContain('the server has no rule drop/999999, which the fragment is to change');
    const pruned = await run(['apply', '-f', '-', '--prune'], gone);
    expect(pruned.code).toBe(2);
    expect(pruned.err).toContain('is a fragment, and --prune would delete the rest of the domain');
    expect(await objects()).toEqual(before);
  });

  test('the command prints the list for people and as JSON, and refuses what has no change', async () => {
    const { code, out, err } = await run(['recommend', subject.domain.name]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^shop\d+\.example {2}\d+ recommendations\n/);
    expect(out).toContain(`\nwarning  expiring_key:key/${key.id}\n         your API key \`ci\` expires on `);
    const json = JSON.parse((await run(['recommend', subject.domain.name, '--json'])).out);
    expect(json).toMatchObject({
      format: 'edgeplan.recommendations/v1',
      domain: subject.domain.name,
      left_out: [],
    });
    expect(json.recommendations).toEqual(await list());
    const none = await run(['recommend', subject.domain.name, '--fix', `expiring_key:key/${key.id}`]);
    expect(none.code).toBe(1);
    expect(none.err).toContain('no change of edge rules or records is proposed');
    const unknown = await run(['recommend', subject.domain.name, '--fix', 'unused_rule:drop/0']);
    expect([unknown.code, unknown.out]).toEqual([1, '']);
    expect(unknown.err).toContain('there is no recommendation `unused_rule:drop/0`');
    expect((await run(['recommend', subject.domain.name, '--fix', 'x', '--json'])).code).toBe(2);
    expect((await run(['recommend', 'nobody.example'])).code).toBe(4);
  }, 60_000);

  test('a viewer sees them without the keys of the owner, a stranger gets 404', async () => {
    const viewer = await subject.member('reader', 'viewer');
    const own = await viewer.anotherKey({ name: 'theirs', expiry: 30, now: api.now() - 20 * DAY });
    const { status, body } = await viewer.call('GET', subject.at('/recommendations/'));
    expect(status).toBe(200);
    const keys = (body as Recommendation[]).filter(({ kind }) => kind === 'expiring_key').map(({ id }) => id);
    expect(keys).toEqual([`expiring_key:key/${own.id}`]);
    expect((await list()).map(({ id }) => id)).not.toContain(`expiring_key:key/${own.id}`);
    const stranger = await api.person('passer-by');
    expect((await stranger.call('GET', subject.at('/recommendations/'))).status).toBe(404);
  });

  test('pages lead through all of them, an unchanged answer is 304, and a wrong parameter is a 400', async () => {
    const whole = await list();
    const found: Recommendation[] = [];
    for (let path: string | undefined = subject.at('/recommendations/?limit=2'); path !== undefined; ) {
      const { body, headers } = await subject.owner.call('GET', path);
      expect(headers['x-total-count']).toBe(String(whole.length));
      found.push(...body);
      path = /^<(.+)>; rel="next"$/.exec(headers['link'] ?? '')?.[1];
    }
    expect(found).toEqual(whole);
    const { headers } = await subject.ask('GET', '/recommendations/');
    const same = { 'if-none-match': headers['etag']! };
    expect((await subject.ask('GET', '/recommendations/', undefined, same)).status).toBe(304);
    expect((await subject.ask('GET', '/recommendations/?limits=2')).body.error).toContain(
      'did you mean `limit`',
    );
    expect((await subject.ask('GET', '/recommendations/?limit=0')).status).toBe(400);
  });

  test('without a feature its facts are not read, and the answer says which', async () => {
    await subject.allow({ monitoring_enabled: false, logs_enabled: false });
    const { status, body, headers } = await subject.ask('GET', '/recommendations/');
    expect([status, headers['x-left-out']]).toEqual([200, 'counts=monitoring_enabled, logs=logs_enabled']);
    const kinds = new Set((body as Recommendation[]).map(({ kind }) => kind));
    expect(kinds).toEqual(new Set(['uncovered_names', 'expiring_certificate', 'expiring_key']));
    const { out } = await run(['recommend', subject.domain.name]);
    expect(out).toContain('without log entries: the plan of the domain does not include `logs_enabled`');
    await subject.allow({});
    expect((await subject.ask('GET', '/recommendations/')).headers['x-left-out']).toBeUndefined();
  });

  test('a domain without any facts has none', async () => {
    const fresh = await addSubject(api);
    const { status, body } = await fresh.ask('GET', '/recommendations/');
    expect([status, body]).toEqual([200, []]);
  });
});

test('a computation beyond its time is a 503 with Retry-After', async () => {
  const silent = `import { parentPort } from 'node:worker_threads';
    parentPort.postMessage({ kind: 'started', clock: null });
    parentPort.on('message', () => undefined)`;
  const file = new URL(`data:text/javascript,${encodeURIComponent(silent)}`);
  const api = await startApi(testDatabases()[0]!, { compute: { file, budgetMs: 300 } });
  try {
    const subject = await addSubject(api);
    const { status, body, headers } = await subject.ask('GET', '/recommendations/');
    expect([status, headers['retry-after']]).toEqual([503, '10']);
    expect(body.error).toBe('this computation took longer than 0.3 s, which is the limit');
  } finally {
    await api.close();
  }
});
