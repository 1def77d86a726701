/** Lists of an edge file, applied to a real server, and what its export re-applies. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { applied } from '../support/applied.ts';

const site = applied('lists', ['--no-lock']);
const { at, save, apply } = site;
const RECORDS = 'records:\n  - { name: shop, type: A, destination: 198.51.100.20, proxied: true }\n';
const RULES =
  'rules:\n' +
  '  - { key: office, type: drop, path_includes: [/admin], ip_match_type: exclude, ips: ["@office"] }\n' +
  '  - { key: moved, type: redirect, targets: "@moved" }\n';

async function lists(): Promise<readonly Record<string, unknown>[]> {
  return site.get('lists/');
}

test('lists are made before the rules that name them, changed whole, and deleted after them', {
  timeout: 600_000,
}, async () => {
  mkdirSync(at('lists'), { recursive: true });
  const paths = Array.from({ length: 2_500 }, (_, index) => `/old/${index} /new/${index} # page ${index}\n`);
  writeFileSync(at('lists', 'moved.txt'), paths.join(''));
  const head = (entries: string): string =>
    `lists:\n  - { name: office, kind: ip, entries: [${entries}] }\n  - { name: moved, kind: redirect }\n`;
  save(head('203.0.113.0/24') + RECORDS + RULES);
  const first = await apply();
  expect(first.code, first.err).toBe(0);
  expect(first.out).toContain('+ create list @moved');
  expect(await lists()).toMatchObject([
    { name: 'moved', kind: 'redirect', entry_count: 2_500 },
    { name: 'office', kind: 'ip', entry_count: 1 },
  ]);
  expect((await apply()).out).toBe(site.nothing);

  save(head('192.0.2.1, 203.0.113.0/24') + RECORDS + RULES);
  const second = await apply();
  expect(second.code, second.err).toBe(0);
  expect(second.out).toContain('~ update list @office');
  expect(second.out).toContain('2 entries (+1 −0)');
  expect((await apply()).out).toBe(site.nothing);

  const file = at('exported.yaml');
  const exported = await site.server.run(['export', site.domain, '-o', file]);
  expect(exported.code, exported.err).toBe(0);
  expect(readFileSync(file, 'utf8')).toContain('{ name: moved, kind: redirect }');
  expect(readFileSync(at('lists', 'moved.txt'), 'utf8')).toBe(paths.join(''));
  expect(await site.server.run(['apply', '--no-lock', '-f', file])).toEqual({
    code: 0,
    out: site.nothing,
    err: '',
  });
  const whole = await site.server.run(['export', site.domain]);
  expect(whole.out).toContain('to: /new/2499');

  save(RECORDS);
  const kept = await apply();
  expect(kept.err).toContain('list @moved, list @office');
  const pruned = await apply('--prune');
  expect(pruned.code, pruned.err).toBe(0);
  expect(await lists()).toEqual([]);
});

test('a list of another kind is named, and the file’s is not applied', { timeout: 600_000 }, async () => {
  save(`lists: [{ name: a, kind: ip, entries: [192.0.2.1] }]\n${RECORDS}`);
  expect((await apply()).code).toBe(0);
  save(`lists: [{ name: a, kind: path, entries: [/x] }]\n${RECORDS}`);
  const other = await apply();
  expect(other.err).toContain('list a is of kind ip on the server and path in the file');
  expect(await lists()).toMatchObject([{ name: 'a', kind: 'ip' }]);
});

test('an optional field that the file no longer has is removed from the rule', {
  timeout: 600_000,
}, async () => {
  const rules = (drop: string, redirect: string, rate: string, headers: string): string =>
    `lists: [{ name: m, kind: redirect, entries: [{ from: /a, to: /b }] }]\n${RECORDS}rules:\n` +
    `  - { key: d, type: drop, path_includes: [/x]${drop} }\n` +
    `  - { key: r, type: redirect${redirect} }\n` +
    `  - { key: l, type: rate_limit, limit: 5${rate} }\n` +
    `  - { key: h, type: headers, response: { set: { X-A: b } }${headers} }\n`;
  save(
    rules(
      ', status: 404',
      ', targets: "@m"',
      ', key_parts: [ip, path], count_statuses: [401], headers: true',
      ', request: { remove: [X-B] }',
    ),
  );
  const first = await apply();
  expect(first.code, first.err).toBe(0);
  expect((await apply()).out).toBe(site.nothing);
  save(rules('', ', target: /c', '', ''));
  const second = await site.server.run(['apply', '--no-lock', '--prune']);
  expect(second.code, second.err).toBe(0);
  expect((await apply()).out).toBe(site.nothing);
});
