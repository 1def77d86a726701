/** What the names of `op` in conditions mean: a comparison, maybe negated. Apart from the form, so that the page reads it without one. */
import { type ConditionOp, VALUE_COMPARISONS, type ValueComparison } from './vocabulary.ts';

/** The comparison of a condition, and whether it is negated; `null` for `present` and `absent`. */
export function comparisonOf(
  op: ConditionOp,
): { readonly comparison: ValueComparison; readonly negated: boolean } | null {
  const negated = op.startsWith('not_');
  const comparison = VALUE_COMPARISONS.find((name) => name === (negated ? op.slice(4) : op));
  return comparison === undefined ? null : { comparison, negated };
}
