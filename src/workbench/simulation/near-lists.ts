/**
 * Rules whose entries name lists, as the search for a request near another reads them. In: a rule and the lists. Out: the rule with
 * the first entries of each list in the place of its name.
 */
import { namesList } from '../../rules/model/list-name.ts';
import { listsOf } from '../../rules/model/list-names.ts';
import type { Rule, RuleList } from '../../rules/model/types.ts';

/** Entries of a list that are tried: proposals are few, and each is simulated. */
const MOST_ENTRIES = 32;

/** The rule with entries of lists; itself if it names none. A list whose entries are not known has none. */
export function withEntries(rule: Rule, lists: readonly RuleList[]): Rule {
  const named = listsOf(rule);
  if (named.length === 0) return rule;
  const entriesOf = (entry: string | number): readonly (string | number)[] => {
    if (!namesList(entry)) return [entry];
    const list = lists.find(({ name }) => name === entry.slice(1));
    if (list === undefined || !('entries' in list)) return [];
    return list.entries.slice(0, MOST_ENTRIES).map(({ value }) => value);
  };
  const changed = structuredClone(rule) as object as Record<string, unknown>;
  const inLists = named.filter(({ kind }) => kind !== 'redirect');
  const fields = new Map(inLists.map(({ path }) => [path.slice(0, -1).join(' '), path.slice(0, -1)]));
  for (const field of fields.values()) {
    const last = field.at(-1)!;
    const parent = field.slice(0, -1).reduce((part, step) => part[step] as Record<string, unknown>, changed);
    parent[last] = (parent[last] as readonly (string | number)[]).flatMap(entriesOf);
  }
  // The paths of a list of targets are the rule's.
  for (const { name, kind } of named) {
    if (kind === 'redirect') changed['path_includes'] = entriesOf(`@${name}`);
  }
  return changed as object as Rule;
}
