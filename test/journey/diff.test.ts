/** `edgeplan diff` over files, and `/domains/{domain}/diff` over revisions. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDecisionLog } from '../../src/edge/proxy/log/decision-log.ts';
import { builtCli, edgeplan, type Run } from '../support/built.ts';
import { testDatabases } from '../support/databases.ts';
import { DOMAIN, journalSubject } from '../support/edge-journal.ts';
import { addDomain, addDrop, changeDomain, openHouse, until } from '../support/publish-setup.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-diff-'));
const RECORDS = [{ id: 1, name: '@', type: 'A', destination: '192.0.2.1', proxied: true }];
const RULES = [
  { id: 1, type: 'drop', path_includes: ['/admin/*'] },
  { id: 2, type: 'drop', ips: ['198.51.100.0/24', '203.0.113.7', '192.0.2.5-192.0.2.9', '2001:db8::/48'] },
  { id: 3, type: 'rate_limit', limit: 2, path_includes: ['/limited'] },
  { id: 4, type: 'error_page', mode: 'custom', codes: [502], content: { '502': '<h1>soon</h1>' } },
];

/** JSON is YAML. */
function save(name: string, rules: readonly object[], records: readonly object[] = RECORDS): string {
  writeFileSync(join(folder, name), JSON.stringify({ domain: 'example.com', records, rules }));
  return name;
}

function run(...args: string[]): Promise<Run> {
  return edgeplan(args, { cwd: folder });
}

beforeAll(async () => {
  await builtCli();
  save('old.yaml', RULES);
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true }));

describe('edgeplan diff', () => {
  test('two equal files have no difference, and the exit code is 0', async () => {
    const again = save('again.yaml', RULES.toReversed());
    expect(await run('diff', 'old.yaml', again)).toMatchObject({
      code: 0,
      out: 'old.yaml and again.yaml decide alike\n',
      err: '',
    });
  });

  test('two files of one name in two folders are named as typed', async () => {
    mkdirSync(join(folder, 'there'));
    save('there/old.yaml', RULES.slice(1));
    const { out } = await run('diff', 'old.yaml', 'there/old.yaml');
    expect(out).toContain('old.yaml → there/old.yaml: 1 rule removed\n');
  });

  test('rules that were added, removed, changed and moved are listed, and the exit code is 1', async () => {
    const changed = save('new.yaml', [
      { ...RULES[0], priority: 7 },
      { ...RULES[1], ips: ['198.51.100.0/24', '203.0.113.8', '192.0.2.5-192.0.2.9', '2001:db8::/48'] },
      { ...RULES[3], content: { '502': '<h1>late</h1>' } },
      { id: 9, type: 'redirect', path_includes: ['/old'], target: '/new' },
    ]);
    const { code, out } = await run('diff', 'old.yaml', changed);
    expect(code).toBe(1);
    expect(out).toContain(
      'old.yaml → new.yaml: 1 rule added, 1 rule removed, 2 rules changed, 1 rule moved\n',
    );
    expect(out).toContain('\n> drop/1\n    priority  100 → 7\n');
    expect(out).toContain('\n~ drop/2\n    ips\n      - 203.0.113.7\n      + 203.0.113.8\n');
    expect(out).toMatch(
      /\n~ error_page\/4\n {4}content\.502 {2}13 octets, XXH32 \w{8} → 13 octets, XXH32 \w{8}\n/,
    );
    expect(out).toContain('\n+ redirect/9\n');
    expect(out).toContain('    target  /new\n');
    expect(out).toContain('\n- rate_limit/3\n');
    expect(out).toContain('    path.includes  /limited\n');
  });

  test('rules are paired by key, and without ids by content', async () => {
    const plain = RULES.map(({ id: _, ...rule }) => rule);
    save('plain.yaml', plain);
    const more = save('more.yaml', [{ type: 'drop', path_includes: ['/first'] }, ...plain]);
    const { out } = await run('diff', 'plain.yaml', more);
    expect(out).toContain(': 1 rule added\n');
    save('keyed.yaml', [{ key: 'office', type: 'drop', path_includes: ['/a'] }]);
    const other = save('keyed2.yaml', [
      { key: 'else', type: 'drop', path_includes: ['/a'] },
      { key: 'office', type: 'drop', path_includes: ['/b'] },
    ]);
    const keyed = await run('diff', 'keyed.yaml', other, '--json');
    expect(JSON.parse(keyed.out)).toMatchObject({
      format: 'edgeplan.diff/v1',
      same: false,
      decisions: null,
      rules: [
        { change: 'added', rule: 'drop/1', key: 'else' },
        { change: 'changed', rule: 'drop/2', before: 'drop/1', key: 'office' },
      ],
    });
  });

  test('sealed plans and stdin are read, and differences of hosts and the domain listed', async () => {
    await run('compile', '-f', 'old.yaml', '-o', 'old.edgeplan');
    expect((await run('diff', 'old.edgeplan', 'old.yaml')).code).toBe(0);
    const moved = save('moved.yaml', RULES, [{ ...RECORDS[0], destination: '192.0.2.2' }]);
    const { out, code } = await run('diff', 'old.edgeplan', moved);
    expect(code).toBe(1);
    expect(out).toContain('1 host differs\n');
    expect(out).toContain('\n~ host example.com\n');
    expect((await run('diff', '-', '-')).code).toBe(2);
    expect((await run('diff', 'old.yaml')).code).toBe(2);
    writeFileSync(join(folder, 'broken.yaml'), 'domain: [');
    expect((await run('diff', 'old.yaml', 'broken.yaml')).code).toBe(3);
  });

  test('requests and logs are evaluated with both sides, and changed decisions are grouped', async () => {
    const asked = ['/admin/x', '/', '/limited', '/limited', '/limited', '/limited', '/limited'];
    const lines = asked.map((target) => JSON.stringify({ host: 'example.com', target, ip: '192.0.2.200' }));
    writeFileSync(join(folder, 'requests.jsonl'), `${lines.join('\n')}\nnonsense\n`);
    const looser = save('looser.yaml', [RULES[1]!, { ...RULES[2], limit: 4 }, RULES[3]!]);
    const { code, out, err } = await run('diff', 'old.yaml', looser, '--requests', 'requests.jsonl');
    expect(code).toBe(1);
    expect(out).toContain('7 decisions replayed with looser.yaml: 3 would change\n');
    expect(out).toContain('\n1 line\n  was  block 403 by drop/1\n  now  forward\n');
    expect(out).toContain('    line 1  GET https://example.com/admin/x\n');
    // Both count for themselves, so limits are compared and not taken as they were.
    expect(out).toContain('\n2 lines\n  was  block 429 by rate_limit/3\n  now  forward\n');
    expect(err).toContain('1 line could not be read; the first: requests.jsonl:8');
    const subject = journalSubject({ domain: DOMAIN, records: RECORDS, rules: RULES });
    const log = createDecisionLog({ file: join(folder, 'log.jsonl'), rate: 1, onFault: () => undefined });
    for (const target of ['/admin/y', '/']) log.done(subject.entry({ target }));
    await log.close();
    const logged = await run('diff', 'old.yaml', looser, '--log', 'log.jsonl', '--json');
    expect(logged.code).toBe(1);
    expect(JSON.parse(logged.out).decisions).toMatchObject({ compared: 2, changed: 1 });
    // Rules that differ without any request that tells are a difference all the same, and the other way round is none.
    const same = await run('diff', 'old.yaml', 'old.yaml', '--requests', 'requests.jsonl');
    expect([same.code, same.out.split('\n').at(-2)]).toEqual([
      0,
      '7 decisions replayed with old.yaml: none would change',
    ]);
    writeFileSync(join(folder, 'garbage.jsonl'), 'nonsense\n');
    const nothing = await run('diff', 'old.yaml', 'old.yaml', '--requests', 'garbage.jsonl');
    expect([nothing.code, nothing.out]).toEqual([3, 'old.yaml and old.yaml decide alike\n']);
  });

  test('limits that have changed places are shown with a request on which both act, and disjoint ones proved alike', async () => {
    const limits = [
      { id: 1, type: 'rate_limit', limit: 2, path_includes: ['/api/*'], priority: 1 },
      { id: 2, type: 'rate_limit', limit: 9, path_includes: ['*/login'], priority: 2 },
      { id: 3, type: 'rate_limit', limit: 5, path_includes: ['/shop/*'], priority: 3 },
    ];
    save('limits.yaml', limits);
    save('swapped.yaml', limits.with(1, { ...limits[1]!, priority: 0 }));
    const swapped = await run('diff', 'limits.yaml', 'swapped.yaml');
    expect(swapped.code).toBe(1);
    expect(swapped.out).toContain('1 outcome changes, with a request that shows it:\n');
    expect(swapped.out).toMatch(
      / {2}rate limit rate_limit\/1 before rate_limit\/2 → rate_limit\/2 before rate_limit\/1\n +https:\/\/example\.com\/api\/\S*\/?login /,
    );
    save('apart.yaml', limits.with(2, { ...limits[2]!, priority: 0 }));
    const apart = await run('diff', 'limits.yaml', 'apart.yaml');
    expect(apart.out).toContain(
      'rate limit rate_limit/2 before rate_limit/3 → rate_limit/3 before rate_limit/2',
    );
    expect(apart.out).not.toContain('rate_limit/1 before');
    const [first, , third] = limits;
    save('two.yaml', [first!, third!]);
    save('turned.yaml', [first!, { ...third!, priority: 0 }]);
    expect((await run('diff', 'two.yaml', 'turned.yaml')).out).toContain(
      'proved: hosts and rules decide every request alike\n',
    );
  });
});

describe.each(testDatabases().map((database) => [database.kind, database] as const))(
  'the diff of revisions, on %s',
  (_, database) => {
    test('the API lists the changes between any two publications, and reports a missing one', async () => {
      const made = await database.make();
      const house = await openHouse({ database: made.database });
      const path = '/domains/shop.test/diff';
      const shop = await addDomain(house, 'shop.test');
      const reached = (revision: number) =>
        until(
          async () => (await house.store.latest.plans.current('shop.test'))?.revision === revision,
          `revision ${revision}`,
        );
      await reached(1);
      const early = await house.call('GET', path);
      expect([early.status, early.body]).toEqual([
        409,
        { error: 'there are no two revisions to compare yet' },
      ]);
      const { rule } = await addDrop(house, shop, '/a');
      await reached(2);
      await addDrop(house, shop, '/b');
      await reached(3);
      const last = await house.call('GET', path);
      expect(last.status).toBe(200);
      expect(last.body).toMatchObject({ from: 2, to: 3, same: false, domain: [], hosts: [] });
      expect(last.body.rules).toMatchObject([{ change: 'added', rule: `drop/${rule.id + 1}` }]);
      expect((await house.call('GET', `${path}?from=3&to=2`)).body.rules).toMatchObject([
        { change: 'removed' },
      ]);
      expect((await house.call('GET', `${path}?from=1`)).body.rules).toHaveLength(2);
      expect((await house.call('GET', `${path}?from=3`)).body).toMatchObject({ same: true, rules: [] });
      expect((await house.call('GET', `${path}?from=9`)).status).toBe(404);
      expect((await house.call('GET', `${path}?from=x`)).status).toBe(400);
      await changeDomain(house, shop, { status: 'banned' });
      await reached(4);
      const gone = (await house.call('GET', path)).body;
      expect(gone.rules.map(({ change }: { change: string }) => change)).toEqual(['removed', 'removed']);
      expect(gone.hosts).toMatchObject([{ change: 'removed', host: 'shop.test' }]);
      await house.close();
      await made.drop();
    });
  },
);
