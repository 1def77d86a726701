import { describe, expect, test } from 'vitest';
import { compile } from '../../../src/compiler/index.ts';
import type { RuleSet } from '../../../src/model/types.ts';
import { openPlan } from '../../../src/plan/open.ts';
import { seal } from '../../../src/plan/seal.ts';
import { selfTest } from '../../../src/publisher/self-test.ts';
import { generateRuleSet, seeded } from '../../support/generate.ts';
import { SHOP } from '../../support/golden-shop.ts';

const shop = (): Uint8Array => seal(compile(SHOP).plan, { revision: 3 });
const expected = { domain: SHOP.domain.name, revision: 3 };

describe('selfTest', () => {
  test('passes a whole plan', () => {
    expect(() => selfTest(shop(), expected)).not.toThrow();
  });

  test('passes whatever compiles and serves', () => {
    for (let seed = 1; seed <= 60; seed++) {
      const made = generateRuleSet(seeded(seed));
      const ruleSet: RuleSet = { ...made, domain: { ...made.domain, status: 'active', suspended: false } };
      const bytes = seal(compile(ruleSet).plan, { revision: seed });
      expect(() => selfTest(bytes, { domain: ruleSet.domain.name, revision: seed })).not.toThrow();
    }
  });

  test('refuses a plan of another domain or revision', () => {
    expect(() => selfTest(shop(), { ...expected, revision: 4 })).toThrow(
      /revision 3, it was made for .* revision 4/,
    );
    expect(() => selfTest(shop(), { ...expected, domain: 'other.test' })).toThrow('`other.test`');
  });

  test('refuses bytes that do not open', () => {
    const bytes = shop();
    bytes[bytes.length - 9]! ^= 1;
    expect(() => selfTest(bytes, expected)).toThrow(/does not open: .*checksum/);
  });

  test('refuses a plan whose hosts were lost on the way', () => {
    const { plan } = openPlan(shop());
    const bytes = seal({ ...plan, words: new Uint32Array(0) }, { revision: 3 });
    expect(() => selfTest(bytes, expected)).toThrow('the plan refuses');
  });

  test('refuses a plan that refuses its own hosts', () => {
    const paused: RuleSet = { ...SHOP, domain: { ...SHOP.domain, suspended: true } };
    const bytes = seal(compile(paused).plan, { revision: 3 });
    expect(() => selfTest(bytes, expected)).toThrow('a host it has records for');
  });
});
