/** Finds rules of equal priority that run in another order on the server than in the file. */
import type { Rule } from '../../rules/model/types.ts';

/**
 * Rules of equal priority run by id, and the server assigns ids in order of creation. Returns a sentence for each
 * type and priority whose order on the server differs from the file's.
 */
export function ruleOrderConflicts(
  desired: readonly Rule[],
  pairs: ReadonlyMap<Rule, Rule>,
  nameOf: (rule: Rule) => string,
): readonly string[] {
  const ties = new Map<string, Rule[]>();
  for (const rule of desired) {
    const tie = `${rule.type} ${rule.priority}`;
    ties.set(tie, [...(ties.get(tie) ?? []), rule]);
  }
  const sentences: string[] = [];
  for (const tied of ties.values()) {
    const ordered = [...tied].sort((one, other) => one.id - other.id);
    // New rules get ids above all existing ones, in the order of the file.
    const ids = ordered.map((rule) => pairs.get(rule)?.id ?? Number.POSITIVE_INFINITY);
    const at = ids.findIndex((id, index) => index > 0 && id < ids[index - 1]!);
    if (at < 1) continue;
    const [earlier, later] = [ordered[at - 1]!, ordered[at]!];
    sentences.push(
      `${nameOf(earlier)} and ${nameOf(later)} share priority ${later.priority} and run in the other order on the ` +
        'server; give them different priorities',
    );
  }
  return sentences;
}
