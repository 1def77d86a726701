/** The phase table against the order of slots in a plan. */
import { expect, test } from 'vitest';
import { RULE_TYPES } from '../../../../src/base/vocabulary/vocabulary.ts';
import { PHASE_TABLE } from '../../../../src/engine/evaluator/phases.ts';

test('the phase table names every rule type once, in the order of their slots in a plan', () => {
  expect(PHASE_TABLE.flatMap(({ types }) => types)).toEqual(RULE_TYPES);
});
