/**
 * The keys by which rules of a file and of a server are paired. The API has no field for a rule's `key`, so rules are
 * matched by content: all fields, else `name`, else filters.
 */
import type { Rule } from '../../model/types.ts';
import type { RemoteDomain } from '../remote/remote-domain.ts';
import type { Sign } from './pair-up.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Texts that are equal when two scopes are: the file's records by their ids there, others by the server's. */
export interface ScopeTexts {
  ours(rule: Rule): string;
  theirs(rule: Rule): string;
}

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

/** What decides which requests a rule is about. */
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

export function ruleSigns(
  scopes: ScopeTexts,
  { ids, prune }: { readonly ids: boolean; readonly prune: boolean },
): readonly Sign<Rule, Rule>[] {
  const scoped = (text: (rule: Rule) => string, unique: boolean): Sign<Rule, Rule> => ({
    wanted: (rule) => `${rule.type} ${scopes.ours(rule)} ${text(rule)}`,
    there: (rule) => `${rule.type} ${scopes.theirs(rule)} ${text(rule)}`,
    unique,
  });
  const both = (text: (rule: Rule) => string | null): Sign<Rule, Rule> => {
    return { wanted: text, there: text, unique: true };
  };
  return [
    ...(ids ? [both(({ type, id }) => `${type} ${id}`)] : []),
    scoped((rule) => JSON.stringify(Object.entries(contentOf(rule)).sort()), false),
    both((rule) => ('name' in rule && rule.name !== '' ? `${rule.type} ${rule.name}` : null)),
    scoped((rule) => `${rule.priority} ${filtersOf(rule)}`, true),
    scoped(filtersOf, true),
    ...(prune ? [both(({ type, priority }) => `${type} ${priority}`)] : []),
  ];
}

function filtersOf(rule: Rule): string {
  const fields = rule as unknown as Fields;
  return JSON.stringify(FILTERS.map((name) => fields[name] ?? null));
}

/** A rule without what is its place: id, type and scope. */
export function contentOf({ id: _, type: __, record_ids: ___, ...content }: Rule): Fields {
  return content as unknown as Fields;
}
