/** What the readers of expressions share. */
import type { ImportedCondition } from '../filter.ts';
import type { AccountLists } from './account-lists.ts';
import type { CloudflareExpression, CloudflareValue } from './parse-expression.ts';

/** What expressions are read with. */
export interface ExpressionReading {
  readonly lists: AccountLists;
  readonly differences: string[];
  /** The rule acts on fewer requests where the condition holds, so that none that holds for more may take its place. */
  readonly isException: boolean;
}

/** One comparison. */
export type Comparison = Extract<CloudflareExpression, { kind: 'compare' }>;

/** A comparison with texts; a length is compared with numbers. */
export interface TextComparison {
  readonly field: CloudflareValue;
  readonly operator: string;
  readonly operands: readonly string[];
  readonly reading: ExpressionReading;
}

/** What is read where the opposite is meant. */
export function opposite(reading: ExpressionReading): ExpressionReading {
  return { ...reading, isException: !reading.isException };
}

/** A condition that no filter has. */
export function unknown({ text }: { readonly text: string }, reason: string): ImportedCondition {
  return { kind: 'unknown', text, reason };
}

/** A condition that holds for more requests than the expression; an unknown one where that lets more requests through. */
export function wider(
  expression: CloudflareExpression,
  {
    reading,
    condition,
    difference,
  }: {
    readonly reading: ExpressionReading;
    readonly condition: ImportedCondition;
    readonly difference: string;
  },
): ImportedCondition {
  if (reading.isException) return unknown(expression, `has no equivalent: ${difference}`);
  reading.differences.push(difference);
  return condition;
}
