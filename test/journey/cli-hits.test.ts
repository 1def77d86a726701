/** `edgeplan hits` and `edgeplan traffic` as processes against an API on a real socket. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApi, type TestApi } from '../support/api.ts';
import { addSubject, type Subject } from '../support/api-rules-subject.ts';
import { builtCli, edgeplan, type Run, startEdgeplan } from '../support/built.ts';
import { testDatabases } from '../support/databases.ts';
import { type Matched, type SentRequest, storeTraffic } from '../support/traffic-requests.ts';

let api: TestApi;
let subject: Subject;
let folder: string;
let env: Readonly<Record<string, string>>;
let ids: { readonly drop: number; readonly shadow: number; readonly redirect: number };

beforeAll(async () => {
  await builtCli();
  folder = mkdtempSync(join(tmpdir(), 'edgeplan-hits-'));
  api = await startApi(testDatabases()[0]!);
  subject = await addSubject(api);
  env = { EDGEPLAN_SERVER: api.url, EDGEPLAN_KEY: subject.owner.key, COLUMNS: '80' };
  const rule = async (slug: string, body: object): Promise<number> =>
    (await subject.ask('POST', `/rules/${slug}/`, body)).body.id;
  const drop = await rule('drop', { path_includes: ['/admin/*'], ips: ['203.0.113.0/24'] });
  const shadow = await rule('drop', { countries: ['KP'], action_mode: 'dry_run' });
  const redirect = await rule('redirect', { path_includes: ['/old/*'], target: '/new' });
  ids = { drop, shadow, redirect };
  await storeTraffic(api.store, subject.domain.id, requests());
}, 600_000);
afterAll(async () => {
  await api.close();
  rmSync(folder, { recursive: true, force: true });
});

/** 2,400 requests of the last 20 hours; a quarter is blocked, a quarter would be. */
function requests(): readonly SentRequest[] {
  const blocked: Matched = { type: 'drop', id: ids.drop, effect: 'block' };
  const would: Matched = { type: 'drop', id: ids.shadow, effect: 'block', mode: 'dry_run' };
  const shadow = { action: 'block', status: 403, by: would } as const;
  return Array.from({ length: 2_400 }, (_, index): SentRequest => {
    const at = api.now() - index * 30_000;
    const path = index % 8 === 0 ? '/' : '/page';
    if (index % 4 === 0) return { at, path, action: 'block', status: 403, matches: [blocked] };
    return index % 4 === 1 ? { at, path, matches: [would], shadow } : { at, path, cache: 'hit' };
  });
}

function run(...args: readonly string[]): Promise<Run> {
  return edgeplan(args, { cwd: folder, env });
}

describe('edgeplan hits', () => {
  test('prints every rule with its hits, and what a dry_run rule would have changed', async () => {
    const { code, out, err } = await run('hits', subject.domain.name);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const lines = out.split('\n');
    expect(lines[0]).toMatch(/^shop\d+\.example {2}\d{4}-\d\d-\d\d \d\d:00 to .* UTC, by hour$/);
    expect(lines[2]).toMatch(/^rule +mode +prio +hits +last +24 h +effect$/);
    expect(out).toMatch(new RegExp(`^drop/${ids.drop} +enforce +100 +600 +\\d+ \\S+ +[▁-█ ]+ +block$`, 'm'));
    expect(out).toContain('\n  /admin/* · 1 address\n');
    expect(out).toContain('\n  would have: 600 forward → block 403\n');
    expect(out).toMatch(
      new RegExp(`^redirect/${ids.redirect} +enforce +100 +0 +never in 24 h · /old/\\*$`, 'm'),
    );
    expect(out).toContain('\n3 rules · 1 without a hit\n');
    for (const line of lines) expect([...line].length).toBeLessThanOrEqual(80);
  });

  test('--json prints the fields of the API with the domain', async () => {
    const { code, out } = await run('hits', subject.domain.name, '--last', '30h', '--json');
    expect(code).toBe(0);
    const document = JSON.parse(out);
    expect(Object.keys(document)).toEqual([
      'format',
      'domain',
      'from',
      'to',
      'step',
      'rules',
      'removed',
      'uncounted',
    ]);
    expect(document).toMatchObject({ format: 'edgeplan.hits/v1', domain: subject.domain.name, step: 'hour' });
    expect(document.rules[0]).toMatchObject({ type: 'drop', id: ids.drop, hits: 600 });
  });

  test('--type shows rules of one type, and --last a shorter time by minute', async () => {
    const { out } = await run('hits', subject.domain.name, '--type', 'redirect', '--last', '2h');
    expect(out).toContain('by minute');
    expect(out).toContain('\n1 rule · 1 without a hit\n');
    expect(out).not.toContain('drop/');
  });

  test('colours are in the output only where they are requested', async () => {
    expect((await run('hits', subject.domain.name)).out).not.toContain('\u001b[');
    expect((await run('hits', subject.domain.name, '--color', 'always')).out).toContain('\u001b[');
  });

  test('--follow prints a report after another, and SIGINT ends it with 0', async () => {
    const args = ['hits', subject.domain.name, '--follow', '--json'];
    const child = startEdgeplan(args, { cwd: folder, env });
    let lines = 0;
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      lines += text.split('\n').length - 1;
      if (lines >= 2) child.kill('SIGINT');
    });
    const code = await new Promise((resolve) => child.on('close', resolve));
    expect(code).toBe(0);
    expect(lines).toBeGreaterThanOrEqual(2);
  });

  test.each([
    [['--last', 'soon'], 2, 'write a duration such as 90m, 24h, 7d or 2w'],
    [['--last', '2h', '--from', '2026-11-20'], 2, '`--last` ends now, so it excludes --from and --to'],
    [['--from', '2h', '--to', '3h'], 2, '`--from` must be before --to'],
    [['--from', 'noon'], 2, 'or how long ago: 90m, 24h, 7d, 2w'],
    [['--step', 'minute', '--last', '60h'], 4, 'counts by minute are stored for 48 hours'],
  ] as const)('%j is refused with a sentence', async (args, exit, said) => {
    const { code, err } = await run('hits', subject.domain.name, ...args);
    expect(code).toBe(exit);
    expect(err).toContain(said);
  });

  test('a domain that the key has no access to is exit code 4', async () => {
    const { code, err } = await run('hits', 'nobody.example');
    expect(code).toBe(4);
    expect(err).toContain('the key has access to no domain `nobody.example`');
  });
});

describe('edgeplan traffic', () => {
  test('prints totals, actions and a top list', async () => {
    const { code, out, err } = await run('traffic', subject.domain.name, '--top', 'path');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^requests +2,400 {2}[▁-█ ]+$/m);
    expect(out).toMatch(/^statuses +200 1,800 \(75\.0 %\) · 403 600 \(25\.0 %\)$/m);
    expect(out).toMatch(/^forward +1,800 +75\.0 % +[▁-█ ]+$/m);
    expect(out).toMatch(/^block +600 +25\.0 % +[▁-█ ]+$/m);
    expect(out).toMatch(/^ +2,100 +87\.5 % {2}\/page$/m);
    for (const line of out.split('\n')) expect([...line].length).toBeLessThanOrEqual(80);
  });

  test('--json has the top list beside the counts, or null', async () => {
    const { out } = await run('traffic', subject.domain.name, '--by', 'cache', '--json');
    const document = JSON.parse(out);
    expect(document).toMatchObject({ format: 'edgeplan.traffic/v1', by: 'cache', top: null });
    const listed = JSON.parse((await run('traffic', subject.domain.name, '--top', 'address', '--json')).out);
    expect(listed.top).toMatchObject({ of: 'address', total: 2_400 });
  });

  test('a plan without monitoring is a refusal that names the feature', async () => {
    const other = await addSubject(api);
    await other.allow({ monitoring_enabled: false });
    const own = { ...env, EDGEPLAN_KEY: other.owner.key };
    const { code, err } = await edgeplan(['traffic', other.domain.name], { cwd: folder, env: own });
    expect(code).toBe(4);
    expect(err).toContain('`monitoring_enabled`');
  });
});
