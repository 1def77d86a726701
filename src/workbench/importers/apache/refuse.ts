/** Adds the drop rules of what Apache httpd refuses. */
import { answerWith, type DraftEntry, markClosed, markDifference, markOpened, tryRule } from '../draft.ts';
import {
  addressParts,
  areDisjoint,
  bothFilters,
  dropFields,
  EVERY_REQUEST,
  filtersOf,
  type ImportedCondition,
  type ImportedFilter,
} from '../filter.ts';
import { addGuard } from '../guard.ts';
import { endsWithText, equalsText, literalOf, passes, startOf, type TextTest } from '../text-test.ts';
import { type ApacheImport, allOf, anyOf, NEVER, notOf, sameCondition, withoutUnknown } from './context.ts';

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
  /** The condition for paths that rewrites write, where it is another. */
  readonly ofWritten?: ImportedCondition;
}

/** Adds the rules, and notes the condition for paths that rewrites write. */
export function refuse(
  state: ApacheImport,
  entry: DraftEntry,
  {
    condition,
    status,
    closings = [],
    differences = [],
    unmet,
    isAccess = false,
    ofWritten = condition,
  }: RefusedRequests,
): void {
  const emit = (filter: ImportedFilter): string | null => emitDrop(state, entry, { filter, isAccess });
  const guard = { differences, unmet, closing: 'refused', emit, close: emit } as const;
  const isWhole = addGuard(state.draft, entry, { ...guard, condition });
  const folders = state.indexes.flatMap((index) => foldersOf(condition, index));
  for (const one of folders) {
    const failure = emit(one);
    if (failure !== null) markOpened(entry, failure);
  }
  if (entry.becomes.length > 0) answerWith(state.draft, entry, { status, product: 'Apache' });
  state.guards.push({ condition, ofWritten, place: entry.place });
  if (folders.length > 0)
    markClosed(entry, 'folders are refused too where it refuses a file that may be their index');
  if (closings.length === 0 || !isWhole) return;
  for (const closing of closings) markClosed(entry, closing);
  markClosed(entry, 'all that it guards is refused, until a rule is written by hand');
}

/** The requests of folders whose index meets a condition that they do not meet by their own path. */
function foldersOf(condition: ImportedCondition, index: string): readonly ImportedFilter[] {
  const asked = withIndex(condition, index);
  if (sameCondition(asked, condition)) return [];
  const exact = filtersOf(allOf([asked, notOf(condition)]));
  const wide = exact.ok ? exact : filtersOf(withoutUnknown(asked, false));
  if (!wide.ok) return [FOLDERS];
  return wide.filters.flatMap((filter) => {
    const own = bothFilters(filter, FOLDERS);
    return own === null ? [] : [typeof own === 'string' ? filter : own];
  });
}

const FOLDERS: ImportedFilter = { ...EVERY_REQUEST, pathIncludes: [endsWithText('/')] };

/** The condition for folders, as their index meets it. What is excepted from paths stays so, unless it is of folders alone. */
function withIndex(condition: ImportedCondition, index: string, isNegated = false): ImportedCondition {
  switch (condition.kind) {
    case 'path': {
      const excepted = condition.tests.filter((one) => isNegated && !passes(one, '/x/'));
      const tests = [...excepted, ...condition.tests.flatMap((one) => folderTests(one, index))];
      return tests.length === 0 ? NEVER : { kind: 'path', tests };
    }
    case 'not':
      return notOf(withIndex(condition.of, index, !isNegated));
    case 'all':
      return allOf(condition.of.map((one) => withIndex(one, index, isNegated)));
    case 'any':
      return anyOf(condition.of.map((one) => withIndex(one, index, isNegated)));
    default:
      return condition;
  }
}

/** Tests of the folders whose index passes a test. */
function folderTests(test: TextTest, index: string): readonly TextTest[] {
  const literal = literalOf(test);
  if (literal !== null)
    return literal.endsWith(`/${index}`) ? [equalsText(literal.slice(0, -index.length))] : [];
  const start = startOf(test);
  const folder = start.slice(0, start.lastIndexOf('/') + 1);
  const inside = folder === '' ? '/' : folder;
  if (passes(test, inside) && passes(test, `${inside}x/`)) return [test];
  if (!passes(test, `${inside}${index}`)) return [];
  return folder === '' || folder === '/'
    ? [endsWithText('/')]
    : [{ kind: 'pieces', pieces: [folder.slice(0, -1), '/'] }];
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
