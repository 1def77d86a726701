/** The self-test that the publisher and the node run over the same bytes. */
import { describe, expect, test } from 'vitest';
import { assertPublishable } from '../../../../src/control/publishing/make-plan.ts';
import { compile } from '../../../../src/engine/compiler/index.ts';
import { selfTest } from '../../../../src/engine/evaluator/self-test.ts';
import { openPlan, seal } from '../../../../src/engine/plan/seal.ts';
import type { RuleSet } from '../../../../src/rules/model/types.ts';
import { generateRuleSet, seeded } from '../../../support/generate.ts';
import { SHOP } from '../../../support/golden-shop.ts';

const shop = (): Uint8Array => seal(compile(SHOP).plan, { revision: 3 });
const expected = { domain: SHOP.domain.name, revision: 3 };
const SUSPENDED: RuleSet = { ...SHOP, domain: { ...SHOP.domain, suspended: true } };

describe('selfTest', () => {
  test('accepts a sealed plan of the expected domain and revision', () => {
    expect(selfTest(shop(), { ...expected, refusesNoHost: true })).toBeNull();
  });

  test('accepts every plan that the compiler makes of an active domain', () => {
    for (let seed = 1; seed <= 60; seed++) {
      const made = generateRuleSet(seeded(seed));
      const ruleSet: RuleSet = { ...made, domain: { ...made.domain, status: 'active', suspended: false } };
      const bytes = seal(compile(ruleSet).plan, { revision: seed });
      const wanted = { domain: ruleSet.domain.name, revision: seed, refusesNoHost: true };
      expect(selfTest(bytes, wanted), `seed ${seed}`).toBeNull();
    }
  });

  test('rejects a plan of another domain or revision, and its sentence names both', () => {
    expect(selfTest(shop(), { ...expected, revision: 4 })).toMatch(/ revision 3 of .*, not revision 4 of /);
    expect(selfTest(shop(), { ...expected, domain: 'other.test' })).toContain('`other.test`');
  });

  test('rejects bytes that do not open', () => {
    const bytes = shop();
    bytes[bytes.length - 9]! ^= 1;
    expect(selfTest(bytes, expected)).toMatch(/does not open: .*checksum/);
  });

  test('rejects a plan to publish from which the words of hosts and rules are missing', () => {
    const { plan } = openPlan(shop());
    const bytes = seal({ ...plan, words: new Uint32Array(0) }, { revision: 3 });
    expect(selfTest(bytes, { ...expected, refusesNoHost: true })).toContain('the plan refuses');
  });

  test('rejects a plan that refuses a host of a record only where the plan must serve', () => {
    const bytes = seal(compile(SUSPENDED).plan, { revision: 3 });
    expect(selfTest(bytes, expected)).toBeNull();
    expect(selfTest(bytes, { ...expected, refusesNoHost: true })).toContain('a host it has records for');
  });
});

test('the publisher throws the fault `self_test` for a plan that refuses a host of a record', () => {
  const bytes = seal(compile(SUSPENDED).plan, { revision: 3 });
  expect(() => assertPublishable(bytes, expected)).toThrow(
    expect.objectContaining({ name: 'PublishFault', code: 'self_test' }) as Error,
  );
  expect(() => assertPublishable(shop(), expected)).not.toThrow();
});
