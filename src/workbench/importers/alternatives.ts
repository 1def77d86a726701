/** Adds the rules of one condition to the draft: one for each alternative, and all of them or none. */
import {
  type DraftEntry,
  type ImportDraft,
  markDifference,
  markMissing,
  markNeedless,
  removeRules,
} from './draft.ts';
import { filtersOf, type ImportedCondition, type ImportedFilter } from './filter.ts';

/** A condition, and how the rule of one of its alternatives is added. */
export interface ConditionalRules {
  readonly condition: ImportedCondition;
  /** How the rules decide otherwise than the source. */
  readonly differences: readonly string[];
  /** The reason why nothing is needed if no request meets the condition. */
  readonly unmet: string;
  /** Adds the rule of one alternative; a text is the reason why it cannot. */
  emit(filter: ImportedFilter): string | null;
}

/** Whether the rules were added; otherwise the entry says why not. */
export function addAlternatives(
  draft: ImportDraft,
  entry: DraftEntry,
  { condition, differences, unmet, emit }: ConditionalRules,
): boolean {
  const alternatives = filtersOf(condition);
  if (!alternatives.ok) {
    markMissing(entry, alternatives.reason);
    return false;
  }
  if (alternatives.filters.length === 0) {
    markNeedless(entry, unmet);
    return false;
  }
  const reason = emitFilters(draft, entry, { filters: alternatives.filters, emit });
  if (reason !== null) {
    markMissing(entry, reason);
    return false;
  }
  for (const difference of differences) markDifference(entry, difference);
  return true;
}

/** Adds the rules of filters, all of them or none; a text is the reason why none was added. */
export function emitFilters(
  draft: ImportDraft,
  entry: DraftEntry,
  { filters, emit }: { readonly filters: readonly ImportedFilter[]; readonly emit: ConditionalRules['emit'] },
): string | null {
  const before = entry.becomes.length;
  for (const filter of filters) {
    const reason = emit(filter);
    if (reason === null) continue;
    removeRules(draft, entry, before);
    return reason;
  }
  return null;
}
