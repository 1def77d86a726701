/**
 * Names of lists in rules (semantics §13): `@name` where an entry of the list's kind may be. In: a rule. Out: the lists that it
 * names, with their places, or what is wrong with a name.
 */
import { type FieldPath, quoteValue } from '../../base/diagnostics/diagnostic.ts';
import type { ListKind } from '../../base/vocabulary/vocabulary.ts';
import { namesList } from './list-name.ts';
import { nearest } from './nearest.ts';
import type { Problem } from './report.ts';
import type { Rule } from './types.ts';

/** A list that a rule names. */
export interface NamedList {
  /** Without `@`. */
  readonly name: string;
  /** What the list has to have where it is named. */
  readonly kind: ListKind;
  /** Below the rule. */
  readonly path: FieldPath;
}

/** The entries of a rule that may name lists, by what they are. Under `regex`, `@` is a character of the pattern. */
function entriesOf(
  rule: Rule,
): readonly { kind: ListKind; path: FieldPath; entries: readonly (string | number)[] }[] {
  const { conditions } = rule;
  const inConditions = (['ips', 'countries', 'asns', 'user_agents'] as const).flatMap((member) =>
    (['includes', 'excludes'] as const).map((list) => ({
      kind: CONDITION_KINDS[member],
      path: ['conditions', member, list],
      entries: conditions?.[member]?.[list] ?? [],
    })),
  );
  const hosts = rule.host_match_type === 'regex' ? [] : (['host_includes', 'host_excludes'] as const);
  const paths =
    'path_includes' in rule && rule.path_match_type === 'wildcard'
      ? [
          { kind: 'path', path: ['path_includes'], entries: rule.path_includes } as const,
          { kind: 'path', path: ['path_excludes'], entries: rule.path_excludes } as const,
        ]
      : [];
  const own =
    rule.type === 'drop'
      ? [
          { kind: 'country', path: ['countries'], entries: rule.countries } as const,
          { kind: 'ip', path: ['ips'], entries: rule.ips } as const,
        ]
      : [];
  const targets =
    rule.type === 'redirect' && rule.targets !== undefined
      ? [{ kind: 'redirect', path: ['targets'], entries: [rule.targets] } as const]
      : [];
  return [
    ...own,
    ...targets,
    ...hosts.map((field) => ({ kind: 'host' as const, path: [field], entries: rule[field] })),
    ...paths,
    ...inConditions,
  ];
}

const CONDITION_KINDS = { ips: 'ip', countries: 'country', asns: 'asn', user_agents: 'user_agent' } as const;

/** The lists that a rule names, each with every place. */
export function listsOf(rule: Rule): readonly NamedList[] {
  return entriesOf(rule).flatMap(({ kind, path, entries }) =>
    entries.flatMap((entry, index) =>
      namesList(entry)
        ? [{ name: entry.slice(1), kind, path: kind === 'redirect' ? path : [...path, index] }]
        : [],
    ),
  );
}

/** What is wrong with a named list; `null`: nothing. @param kinds all lists that are known, by name */
export function judgeList(
  { name, kind }: Pick<NamedList, 'name' | 'kind'>,
  kinds: ReadonlyMap<string, ListKind>,
): Problem | null {
  const found = quoteValue(`@${name}`);
  const known = kinds.get(name);
  if (known === kind) return null;
  if (known !== undefined) {
    const message = `names a list of kind \`${known}\`, and entries here are of kind \`${kind}\``;
    return { code: 'list_kind', message, found };
  }
  const near = nearest(
    name,
    [...kinds].flatMap(([other, its]) => (its === kind ? [other] : [])),
  );
  const remedy =
    near === null
      ? `make a list \`${name}\` of kind \`${kind}\`, or write the entries`
      : `did you mean \`@${near}\`?`;
  return { code: 'unknown_list', message: 'names a list that the domain does not have', found, remedy };
}
