/**
 * The keys by which rules of a file and of a server are paired. The API has no field for a rule's `key`, so a rule is the
 * one that the lock names, else rules are compared by content: all fields, else `name`, else filters.
 */
import type { Rule } from '../../rules/model/types.ts';
import type { RemoteDomain } from '../remote/remote-domain.ts';
import type { PairingKey } from './pair-up.ts';

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
