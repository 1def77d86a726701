import { expectTypeOf, test } from 'vitest';
import type * as decision from '../../src/engine/evaluator/decision.ts';
import type * as request from '../../src/engine/evaluator/request.ts';
import type * as oracle from './types.ts';

test('the oracle takes and gives the same shapes as the evaluator', () => {
  expectTypeOf<oracle.EdgeRequest>().toEqualTypeOf<request.EdgeRequest>();
  expectTypeOf<oracle.Decision>().toEqualTypeOf<decision.Decision>();
  expectTypeOf<oracle.ErrorPageAnswer>().toEqualTypeOf<decision.ErrorPageAnswer>();
});
