/** A test: what a condition asks of one value, where the answer depends on the value alone. */

import type { Meter } from '../octets/meter.ts';
import type { LiteralIndex } from '../patterns/literal-index.ts';
import { setsIn } from '../patterns/literal-index.ts';
import type { Matcher } from '../patterns/pattern.ts';
import type { InspectedValue } from './values.ts';

/** Whether an operator holds for a value that is transformed already. */
export type OperatorCheck = (value: InspectedValue, meter: Meter) => boolean;

export interface ValueTest {
  readonly number: number;
  readonly chain: number;
  readonly negated: boolean;
  readonly multiMatch: boolean;
  /** The set of literals of which the value must hold one for the operator to hold; -1: any value may do. */
  readonly set: number;
  /** Kinds of octets of which the value must hold one for the operator to hold; -1: any value may do. */
  readonly needed: number;
  /** Octets that the value must have for the operator to hold; 0: any value may do. */
  readonly shortest: number;
  readonly check: OperatorCheck;
  /** The pattern, where its DFA is built while it runs. */
  readonly lazy: Matcher | null;
}

/** Whether a value holds a literal of a set. */
export function containsLiteralOf(value: InspectedValue, index: LiteralIndex, set: number): boolean {
  const sets = setsOf(value, index);
  return sets.length > 0 && (sets[set >> 5]! & (1 << (set & 31))) !== 0;
}

/** The sets that a value holds a literal of, looked for at the first question. */
export function setsOf(value: InspectedValue, index: LiteralIndex): readonly number[] {
  value.sets ??= setsIn(index, value.text);
  return value.sets;
}
