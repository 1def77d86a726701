/** A test: a condition on one value whose result depends on the value alone. Equal conditions share one test. */
import type { Meter } from '../octets/meter.ts';
import type { LiteralIndex } from '../patterns/literal-index.ts';
import { setsIn } from '../patterns/literal-index.ts';
import type { Matcher } from '../patterns/pattern.ts';
import type { InspectedValue } from './values.ts';

/** Whether an operator matches a value that is transformed already; charges the meter. */
export type OperatorCheck = (value: InspectedValue, meter: Meter) => boolean;

/** One test of a level. */
export interface ValueTest {
  /** Its number within the level, from 0. */
  readonly number: number;
  /** The number of its transformation chain. */
  readonly chain: number;
  /** `!@…`: the test passes if the operator does not match. */
  readonly negated: boolean;
  /** Whether the operator runs after each transformation, not only after the last. */
  readonly multiMatch: boolean;
  /** The set of literals of which every matching value contains one; -1: the operator requires none. */
  readonly set: number;
  /** The kinds of octets of which every matching value contains one; -1: values of any kinds match. */
  readonly needed: number;
  /** The length in octets of the shortest matching value; 0: values of any length match. */
  readonly shortest: number;
  readonly check: OperatorCheck;
  /** The pattern of an `@rx` that a lazy DFA matches, else `null`. */
  readonly lazy: Matcher | null;
}

/** Whether a value contains a literal of a set. */
export function containsLiteralOf(value: InspectedValue, index: LiteralIndex, set: number): boolean {
  const sets = setsOf(value, index);
  return sets.length > 0 && (sets[set >> 5]! & (1 << (set & 31))) !== 0;
}

/** The sets of which a value contains a literal; searched at the first call and stored with the value. */
export function setsOf(value: InspectedValue, index: LiteralIndex): readonly number[] {
  value.sets ??= setsIn(index, value.text);
  return value.sets;
}
