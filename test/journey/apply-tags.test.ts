/** Tags by keys in an edge file, applied to a real server, which has ids alone; and what its export re-applies. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { applied } from '../support/applied.ts';

const site = applied('tags', ['--no-lock']);
const { at, apply } = site;
const save = (rules: string): void => site.save(`rules:\n${rules}`);

/** A rule as the server answers it. */
interface ServedRule {
  readonly id: number;
  readonly conditions: { readonly tags: { readonly includes: readonly string[] } };
}

/** The rules of a type on the server. */
async function rules(slug: string): Promise<readonly ServedRule[]> {
  return site.get(`rules/${slug}/`);
}

const BAD = '  - { key: bad, type: fingerprint, match_ja4: ["t10*"], action: tag }\n';
const AI =
  '  - { key: "7", type: bot_route, bot_kinds: [gptbot], action: tag, conditions: { tags: { excludes: [bad] } } }\n';
const FLOOD =
  '  - { key: flood, type: waf, conditions: { tags: { includes: [bot_route/7, fingerprint/bad] } } }\n';

test('rules that are named are created first, and the file then has no difference', {
  timeout: 120_000,
}, async () => {
  // The rule that names them is the first of the file.
  save(FLOOD + AI + BAD);
  const dry = await apply('--dry-run');
  expect(dry.out).toContain('bot_route/7 (new)');
  const first = await apply();
  expect(first.code, first.err).toBe(0);
  const [bad] = await rules('fingerprint');
  const [bots] = await rules('bot-route');
  const [waf] = await rules('waf');
  expect(bots!.conditions).toEqual({ tags: { excludes: [`fingerprint/${bad!.id}`] } });
  expect(waf!.conditions.tags.includes).toEqual([`bot_route/${bots!.id}`, `fingerprint/${bad!.id}`]);
  for (const flags of [[], ['--prune'], ['--dry-run']])
    expect(await apply(...flags)).toEqual({ code: 0, out: site.nothing, err: '' });
});

test('a rule that is there already waits for the new one that it names', { timeout: 120_000 }, async () => {
  save('  - { key: flood, type: waf }\n');
  expect((await apply()).code).toBe(0);
  const [before] = await rules('waf');
  save(BAD + AI + FLOOD);
  const second = await site.server.run(['apply', '--no-lock', '--prune']);
  expect(second.code, second.err).toBe(0);
  const [bots] = await rules('bot-route');
  const [waf, ...others] = await rules('waf');
  expect(others).toEqual([]);
  expect(waf!.id).toBe(before!.id);
  expect(waf!.conditions.tags.includes[0]).toBe(`bot_route/${bots!.id}`);
  save(`${BAD}${AI}  - { key: flood, type: waf }\n`);
  const third = await site.server.run(['apply', '--no-lock', '--prune']);
  expect(third.code, third.err).toBe(0);
  expect(third.out).toContain('conditions');
  expect(Object.keys((await rules('waf'))[0]!)).not.toContain('conditions');
  expect((await apply()).out).toBe(site.nothing);
});

test('an export re-applies without a difference, with and without ids, also elsewhere', {
  timeout: 180_000,
}, async () => {
  save(`  - { type: bot_route, bot_kinds: [ccbot], action: tag }\n${BAD}${AI}${FLOOD}`);
  expect((await apply()).code).toBe(0);
  for (const flags of [[], ['--ids']]) {
    const exported = await site.server.run(['export', site.domain, ...flags]);
    expect(exported.code, exported.err).toBe(0);
    const again = await site.server.run(['apply', '--no-lock', '-f', '-', ...flags], exported.out);
    expect([again.err, again.out]).toEqual(['', site.nothing]);
  }
  const { out } = await site.server.run(['export', site.domain]);
  const other = `other-${site.domain}`;
  await site.server.domain(other);
  const moved = out.replace(site.domain, other);
  const elsewhere = await site.server.run(['apply', '--no-lock', '-f', '-'], moved);
  expect(elsewhere.code, elsewhere.err).toBe(0);
  expect((await site.server.run(['export', other])).out).toBe(moved);
});

test('an export leaves tags of deleted rules out, and says so', { timeout: 120_000 }, async () => {
  save(BAD + AI + FLOOD);
  expect((await apply()).code).toBe(0);
  const [bad] = await rules('fingerprint');
  const [bots] = await rules('bot-route');
  await site.server.call('DELETE', `/domains/${site.domain}/rules/fingerprint/${bad!.id}`);
  const some = await site.server.run(['export', site.domain]);
  expect(some.code, some.err).toBe(0);
  expect(some.out).toContain('tags: { includes: [bot_route/1] }');
  await site.server.call('DELETE', `/domains/${site.domain}/rules/bot-route/${bots!.id}`);
  const none = await site.server.run(['export', site.domain]);
  expect(none.err).toMatch(/the rules whose tags rule waf\/\d+ needs were deleted; .*disabled\n$/);
  expect(none.out).toContain('  - type: waf\n    enabled: false\n');
  writeFileSync(at('exported.yaml'), none.out);
  expect((await site.server.run(['compile', '-f', 'exported.yaml', '-o', 'plan.bin'])).code).toBe(0);
});

test('with a lock an export has the keys, and tags by them', { timeout: 120_000 }, async () => {
  save(BAD + AI + FLOOD);
  expect((await site.server.run(['apply'])).code).toBe(0);
  const exported = await site.server.run(['export', site.domain, '-o', 'edge.yaml']);
  expect(exported.code, exported.err).toBe(0);
  expect(readFileSync(at('edge.yaml'), 'utf8')).toContain(
    'tags: { includes: [bot_route/7, fingerprint/bad] }',
  );
  expect((await site.server.run(['apply'])).out).toBe(site.nothing);
});
