/** The digests of the lists in a sealed plan: read from its first octets, and replaced without compiling. */
import { describe, expect, test } from 'vitest';
import { compile } from '../../../../src/engine/compiler/compile.ts';
import { loadPlan, openList } from '../../../../src/engine/evaluator/index.ts';
import { digestsIn, listDigests, withListDigests } from '../../../../src/engine/plan/list-digests.ts';
import { openPlan, seal } from '../../../../src/engine/plan/seal.ts';
import type { RuleList } from '../../../../src/rules/model/types.ts';
import { addressList, byDigest, droppingSet, hexOf } from '../../../support/listed-plans.ts';

const FIRST = addressList('192.0.2.1');
const SECOND = addressList('192.0.2.2', '198.51.100.0/24');
const OTHER = addressList('203.0.113.9');
const planOf = (lists: readonly RuleList[], drops: readonly string[], revision = 0): Uint8Array =>
  seal(compile(droppingSet(lists, drops)).plan, { revision });
const PLAN = planOf([byDigest('bad', FIRST), byDigest('worse', OTHER)], ['@bad', '@worse'], 3);

describe('the digests of a sealed plan', () => {
  test('are those of the rule set, with name and kind', () => {
    const expected = [
      { name: 'bad', kind: 'ip', digest: hexOf(FIRST) },
      { name: 'worse', kind: 'ip', digest: hexOf(OTHER) },
    ];
    expect(listDigests(openPlan(PLAN).plan)).toEqual(expected);
    expect(digestsIn(PLAN)).toEqual([hexOf(FIRST), hexOf(OTHER)]);
  });

  test('are read from octets at any offset', () => {
    const shifted = new Uint8Array(PLAN.length + 3);
    shifted.set(PLAN, 3);
    expect(digestsIn(shifted.subarray(3))).toEqual([hexOf(FIRST), hexOf(OTHER)]);
  });

  test('of two names with one content are one', () => {
    expect(digestsIn(planOf([byDigest('a', FIRST), byDigest('b', FIRST)], ['@a', '@b']))).toEqual([
      hexOf(FIRST),
    ]);
  });

  test('are none of a plan that contains its lists, of one without lists, and of other octets', () => {
    const contained = planOf([{ name: 'bad', kind: 'ip', entries: [{ value: '192.0.2.1' }] }], ['@bad']);
    const without = planOf([], ['192.0.2.1']);
    for (const octets of [contained, without, FIRST, new Uint8Array(0), PLAN.subarray(0, 40)])
      expect(digestsIn(octets)).toEqual([]);
  });
});

describe('a plan with other digests', () => {
  const lists = new Map([FIRST, SECOND, OTHER].map((octets) => [hexOf(octets), openList(octets)]));
  const blocks = (plan: Uint8Array, ip: string): boolean =>
    loadPlan(plan, { lists: (digest) => lists.get(digest) ?? null }).evaluate({
      ...{ scheme: 'https', method: 'GET', host: 'example.com', target: '/', ip },
    }).action === 'block';

  test('decides by the new contents, and is the plan that compiling would give', () => {
    const changed = withListDigests(PLAN, new Map([['bad', hexOf(SECOND)]]), 4);
    const compiled = planOf([byDigest('bad', SECOND), byDigest('worse', OTHER)], ['@bad', '@worse'], 4);
    expect(changed).toEqual(compiled);
    expect(blocks(PLAN, '192.0.2.1')).toBe(true);
    const ips = ['192.0.2.1', '192.0.2.2', '198.51.100.7', '203.0.113.9'];
    expect(ips.map((ip) => blocks(changed, ip))).toEqual([false, true, true, true]);
  });

  test('leaves lists as they are that are not given, and the first plan unchanged', () => {
    const before = hexOf(PLAN);
    expect(withListDigests(PLAN, new Map([['unknown', hexOf(SECOND)]]), 3)).toEqual(PLAN);
    withListDigests(PLAN, new Map([['bad', hexOf(SECOND)]]), 3);
    expect(hexOf(PLAN)).toBe(before);
  });
});
