/** Generated lists: some entries of a rule set's rules move to lists that several rules name. */
import type { ListKind } from '../../src/base/vocabulary/vocabulary.ts';
import { readEntries } from '../../src/rules/model/lists.ts';
import type { EntryList, Rule, RuleSet } from '../../src/rules/model/types.ts';
import type { Random } from './generate-random.ts';

const KINDS = ['ip', 'asn', 'country', 'host', 'path', 'user_agent'] as const;
const EACH = 3;

type Entry = string | number;

/** The rule with each list of entries that may name lists replaced. */
function mapEntries(rule: Rule, map: (kind: ListKind, entries: readonly Entry[]) => Entry[]): Rule {
  const made: Record<string, unknown> = { ...rule };
  const replace = (kind: ListKind, field: string): void => {
    const entries = made[field] as readonly Entry[] | undefined;
    if (entries !== undefined && entries.length > 0) made[field] = map(kind, entries);
  };
  if (rule.type === 'drop') {
    replace('ip', 'ips');
    replace('country', 'countries');
  }
  if (rule.host_match_type !== 'regex') {
    replace('host', 'host_includes');
    replace('host', 'host_excludes');
  }
  if ('path_includes' in rule && rule.path_match_type === 'wildcard') {
    replace('path', 'path_includes');
    replace('path', 'path_excludes');
  }
  const conditions = rule.conditions as Readonly<Record<string, Record<string, Entry[]>>> | undefined;
  if (conditions === undefined) return made as unknown as Rule;
  const members = { ips: 'ip', countries: 'country', asns: 'asn', user_agents: 'user_agent' } as const;
  const changed = Object.entries(conditions).map(([member, value]) => {
    const kind = members[member as keyof typeof members];
    if (kind === undefined) return [member, value];
    return [
      member,
      Object.fromEntries(Object.entries(value).map(([list, entries]) => [list, map(kind, entries)])),
    ];
  });
  return { ...made, conditions: Object.fromEntries(changed) } as unknown as Rule;
}

const TARGETS = ['/new', '/a/b', 'https://other.test/x?y=1', '/%20', '/a?b'];

/** Some redirects answer a list of paths that rules name, instead of one target. */
function withRedirects(random: Random, ruleSet: RuleSet): RuleSet {
  const paths = ruleSet.rules.flatMap((rule) => ('path_includes' in rule ? rule.path_includes : []));
  const found = [...paths, '/', '/a', '/a/b', '/x.php'].map((from) => ({
    from,
    to: random.pick(TARGETS),
    ...(random.chance(0.5) ? { status: random.pick([301, 308] as const) } : {}),
  }));
  const entries = found.filter((entry) => readEntries('redirect', [entry]).ok);
  const read = readEntries('redirect', entries);
  const list: EntryList = { name: 'moved', kind: 'redirect', entries: read.ok ? read.entries : [] };
  const rules = ruleSet.rules.map((rule): Rule => {
    if (rule.type !== 'redirect' || random.chance(0.5)) return rule;
    const { target_mode: _, ...others } = rule;
    const filter = { path_match_type: 'wildcard', path_includes: ['/*'], path_excludes: [] } as const;
    return { ...others, ...filter, preserve_path: false, target: '', targets: '@moved' };
  });
  return { ...ruleSet, rules, lists: [...(ruleSet.lists ?? []), list] };
}

/** A rule set some of whose rules name lists, `share` of their entries. */
export function withLists(random: Random, ruleSet: RuleSet, share: number): RuleSet {
  const found = new Map<ListKind, Entry[]>(KINDS.map((kind) => [kind, []]));
  for (const rule of ruleSet.rules) {
    mapEntries(rule, (kind, entries) => {
      // An exact host with a star is another one than the wildcard of a list.
      found.get(kind)!.push(...entries.filter((entry) => readEntries(kind, [entry]).ok));
      return [...entries];
    });
  }
  const lists = KINDS.flatMap((kind) =>
    random.times(EACH, (index): EntryList => {
      const read = readEntries(kind, random.some(found.get(kind)!.length > 0 ? found.get(kind)! : [], 12));
      return { name: `${kind}-${index}`, kind, entries: read.ok ? read.entries : [] };
    }),
  );
  const rules = ruleSet.rules.map((rule) =>
    mapEntries(rule, (kind, entries) =>
      entries.flatMap((entry) => (random.chance(share) ? [`@${kind}-${random.int(EACH)}`] : [entry])),
    ),
  );
  return withRedirects(random, { ...ruleSet, rules, lists });
}
