/** Paths that rewrites write: what Apache refuses or redirects of them, it does for the requests that are rewritten. */
import { markDifference } from '../draft.ts';
import { filtersOf, type ImportedCondition } from '../filter.ts';
import type { TextTest } from '../text-test.ts';
import { type ApacheImport, allOf, anyOf, notOf } from './context.ts';
import { refuse } from './refuse.ts';
import { withoutFiles } from './rewrite-conditions.ts';

/** Whether one of several tests passes; `null`: one may. */
export function anyResult(results: readonly (boolean | null)[]): boolean | null {
  return results.includes(true) ? true : results.includes(null) ? null : false;
}

/** Refuses the requests whose path is rewritten to one that a guard refuses, or may. */
export function refuseWritten(state: ApacheImport): void {
  for (const { condition, entry, test } of state.written) {
    const redirect = state.redirects.find(
      ({ filter }) => anyResult((filter.pathIncludes ?? []).map(test)) !== false,
    );
    if (redirect !== undefined && entry.becomes.includes('rewrite'))
      markDifference(entry, `Apache redirects the path that it writes as ${redirect.place} says`);
    for (const guard of [...state.guards]) {
      const asked = withPath(guard.ofWritten, (tests) => anyResult(tests.map(test)));
      const refused = allOf([withoutFiles(condition), asked, notOf(guard.condition)]);
      const alternatives = filtersOf(refused);
      if (alternatives.ok && alternatives.filters.length === 0) continue;
      if (entry.outcome === 'not_needed') entry.outcome = 'exact';
      const closings = [`${guard.place} refuses the path that it writes, or may`];
      refuse(state, entry, { condition: refused, status: 403, closings, unmet: 'no request reaches it' });
    }
  }
}

/** A condition for one path: its tests of paths are decided, those that may hold in favour of the condition. */
function withPath(
  condition: ImportedCondition,
  test: (tests: readonly TextTest[]) => boolean | null,
  isNegated = false,
): ImportedCondition {
  switch (condition.kind) {
    case 'path':
      return { kind: 'constant', value: test(condition.tests) ?? !isNegated };
    case 'not':
      return notOf(withPath(condition.of, test, !isNegated));
    case 'all':
      return allOf(condition.of.map((one) => withPath(one, test, isNegated)));
    case 'any':
      return anyOf(condition.of.map((one) => withPath(one, test, isNegated)));
    default:
      return condition;
  }
}
