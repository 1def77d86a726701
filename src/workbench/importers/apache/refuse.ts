/** Adds the drop rules of what Apache httpd refuses. */
import { answerWith, type DraftEntry, markClosed, markDifference, tryRule } from '../draft.ts';
import {
  addressParts,
  areDisjoint,
  dropFields,
  type ImportedCondition,
  type ImportedFilter,
} from '../filter.ts';
import { addGuard } from '../guard.ts';
import type { ApacheImport } from './context.ts';

/** A refusal of the source. */
export interface RefusedRequests {
  readonly condition: ImportedCondition;
  readonly status: number;
  /** Why more is refused than in the source. */
  readonly closings?: readonly string[];
  readonly differences?: readonly string[];
  readonly unmet: string;
  /** Access control comes before the redirects of a folder, and after those of the server. */
  readonly isAccess?: boolean;
}

/** Adds the rules, and notes the condition for paths that rewrites write. */
export function refuse(
  state: ApacheImport,
  entry: DraftEntry,
  { condition, status, closings = [], differences = [], unmet, isAccess = false }: RefusedRequests,
): void {
  const emit = (filter: ImportedFilter): string | null => emitDrop(state, entry, { filter, isAccess });
  const isWhole = addGuard(state.draft, entry, {
    condition,
    differences,
    unmet,
    closing: 'refused',
    emit,
    close: emit,
  });
  state.guards.push({ condition, place: entry.place });
  if (entry.becomes.length > 0) answerWith(state.draft, entry, { status, product: 'Apache' });
  if (closings.length === 0 || !isWhole) return;
  for (const closing of closings) markClosed(entry, closing);
  markClosed(entry, 'all that it guards is refused, until a rule is written by hand');
}

/** Adds a rule, or several where its addresses are more than one takes; a text is the reason why it cannot. */
function emitDrop(
  state: ApacheImport,
  entry: DraftEntry,
  { filter, isAccess }: { readonly filter: ImportedFilter; readonly isAccess: boolean },
): string | null {
  for (const part of addressParts(filter)) {
    const failure = tryRule(state.draft, entry, 'drop', dropFields(part));
    if (failure !== null) return failure;
  }
  const earlier = state.redirects.find(
    (one) => (one.isOfServer || !isAccess) && !areDisjoint(filter, one.filter),
  );
  if (earlier !== undefined)
    markDifference(
      entry,
      `requests that ${earlier.place} redirects are refused first; Apache redirects them`,
    );
  return null;
}
