/**
 * The keys by which rules of a file and of a server are paired. The API has no field for a rule's `key`, so a rule is the
 * one that the lock names, else rules are compared by content: all fields, else `name`, else filters.
 */
import type { Rule } from '../../rules/model/types.ts';
import type { RemoteDomain } from '../remote/remote-domain.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Texts that are equal when two scopes are: records that the file has are written by file id, others by server id.
 */
export interface ScopeTexts {
  ours(rule: Rule): string;
  theirs(rule: Rule): string;
}

/** Builds the texts for rules of the file (`ours`) and of the server (`theirs`). */
export function scopeTexts(remote: RemoteDomain, recordIds: ReadonlyMap<number, number>): ScopeTexts {
  const fileIds = new Map([...recordIds].map(([ours, theirs]) => [theirs, ours]));
  const known = new Set(remote.records.map(({ id }) => id));
  const textOf = (names: readonly string[]): string => JSON.stringify([...names].sort());
  return {
    ours: ({ record_ids }) => textOf(record_ids.map((id) => `file ${id}`)),
    theirs: ({ record_ids }) =>
      textOf(
        record_ids.map((id) => {
          const ours = fileIds.get(id);
          return ours === undefined ? `${known.has(id) ? 'server' : 'gone'} ${id}` : `file ${ours}`;
        }),
      ),
  };
}

/** The fields that decide which requests a rule matches. */
const FILTERS = [
  'host_pattern',
  'host_match_type',
  'host_includes',
  'host_excludes',
  'path_match_type',
  'path_includes',
  'path_excludes',
  'country_match_type',
  'countries',
  'ip_match_type',
  'ips',
  'match_ja4',
  'match_ja4h',
  'bot_kinds',
  'require_verified',
  'codes',
  'conditions',
] as const;

/** How rules are paired. */
export interface PairingOptions {
  /** Whether the file's ids are those of the server. */
  readonly ids: boolean;
  /** Whether rules that are not paired are deleted. */
  readonly prune: boolean;
  /** The server's id of a rule of the file by the lock; `null`: the lock has none. */
  readonly locked?: (rule: Rule) => number | null;
}

/**
 * The pairing keys of rules, strongest first: id, lock, content, name, priority with filters, filters, and with `prune`
 * priority alone.
 */
export function rulePairingKeys(
  scopes: ScopeTexts,
  { ids, prune, locked }: PairingOptions,
): readonly PairingKey<Rule, Rule>[] {
  const scoped = (text: (rule: Rule) => string, unique: boolean): PairingKey<Rule, Rule> => ({
    desired: (rule) => `${rule.type} ${scopes.ours(rule)} ${text(rule)}`,
    existing: (rule) => `${rule.type} ${scopes.theirs(rule)} ${text(rule)}`,
    unique,
  });
  const both = (text: (rule: Rule) => string | null): PairingKey<Rule, Rule> => {
    return { desired: text, existing: text, unique: true };
  };
  return [
    ...(ids ? [both(({ type, id }) => `${type} ${id}`)] : []),
    ...(locked === undefined ? [] : [lockedKey(locked)]),
    scoped((rule) => JSON.stringify(Object.entries(contentOf(rule)).sort()), false),
    both((rule) => ('name' in rule && rule.name !== '' ? `${rule.type} ${rule.name}` : null)),
    scoped((rule) => `${rule.priority} ${filtersOf(rule)}`, true),
    scoped(filtersOf, true),
    ...(prune ? [both(({ type, priority }) => `${type} ${priority}`)] : []),
  ];
}

/** Pairs a rule with the one that the lock names. */
function lockedKey(locked: (rule: Rule) => number | null): PairingKey<Rule, Rule> {
  return {
    desired: (rule) => {
      const id = locked(rule);
      return id === null ? null : `${rule.type} ${id}`;
    },
    existing: ({ type, id }) => `${type} ${id}`,
    unique: true,
  };
}

/** The filters of a rule as text. */
function filtersOf(rule: Rule): string {
  const fields = rule as unknown as Fields;
  return JSON.stringify(FILTERS.map((name) => fields[name] ?? null));
}

/** The content of a rule: everything except id, type and scope. */
export function contentOf({ id: _, type: __, record_ids: ___, ...content }: Rule): Fields {
  return content as unknown as Fields;
}

// Pairs entries of two lists that represent the same object, by the strongest key first.

/** A pairing key: entries whose texts are equal are paired; `null`: the key does not apply. */
export interface PairingKey<A, B> {
  /** The text of an entry of the first list. */
  readonly desired: (entry: A) => string | null;
  /** The text of an entry of the second list. */
  readonly existing: (entry: B) => string | null;
  /** `false`: entries of equal text are paired in their order; `true`: they are not paired. */
  readonly unique: boolean;
}

/** The result of pairing. */
export interface Paired<A, B> {
  /** Entries of the second list by those of the first. */
  readonly pairs: ReadonlyMap<A, B>;
  /** Entries of the second list that were not paired, in order. */
  readonly left: readonly B[];
}

/** Pairs entries by one key after another; an entry is paired at most once. */
export function pairUp<A, B>(
  desired: readonly A[],
  existing: readonly B[],
  keys: readonly PairingKey<A, B>[],
): Paired<A, B> {
  const pairs = new Map<A, B>();
  const taken = new Set<B>();
  for (const key of keys) {
    const open = desired.filter((entry) => !pairs.has(entry));
    const free = existing.filter((entry) => !taken.has(entry));
    const groups = groupBy(free, key.existing);
    for (const [text, ours] of groupBy(open, key.desired)) {
      const theirs = groups.get(text) ?? [];
      if (key.unique && (ours.length > 1 || theirs.length > 1)) continue;
      for (const [index, entry] of ours.entries()) {
        const match = theirs[index];
        if (match === undefined) break;
        pairs.set(entry, match);
        taken.add(match);
      }
    }
  }
  return { pairs, left: existing.filter((entry) => !taken.has(entry)) };
}

/** Groups entries by text; entries without a text are left out. */
function groupBy<T>(entries: readonly T[], textOf: (entry: T) => string | null): ReadonlyMap<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const entry of entries) {
    const text = textOf(entry);
    if (text === null) continue;
    const group = groups.get(text);
    if (group === undefined) groups.set(text, [entry]);
    else group.push(entry);
  }
  return groups;
}
