/**
 * Redirects with a list of targets (semantics §13). In: the list. Out: the paths whose entry may lead to the request's own URL, for
 * which the rule then does nothing.
 */
import { createTargetFacts, parseTarget } from '../../base/paths/path.ts';
import { entryAt, type OpenedList, redirectOf } from '../../engine/evaluator/lists.ts';
import { splitReference } from '../../engine/evaluator/phases/redirect.ts';

/** The paths of a list of targets whose target has the same path, with or without parameters. */
export function pathsToThemselves(list: OpenedList): readonly string[] {
  const facts = createTargetFacts();
  return Array.from({ length: list.entries }, (_, number) => number).flatMap((number) => {
    const { text: from } = entryAt(list, number);
    const { path } = splitReference(redirectOf(list, number).to);
    // A request whose target is no canonical path is refused, so that it has no such URL.
    if (parseTarget(path === '' ? '/' : path, facts) !== 0) return [];
    return facts.path === from || facts.pathWithoutParameters === from ? [from] : [];
  });
}
