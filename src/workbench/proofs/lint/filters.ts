/**
 * Reads the filters and scopes of stored rules without compiling them, enough to compare what two entries match and
 * which served hosts a rule admits.
 */
import { hostPieces, normalizeName } from '../../../base/addresses/host.ts';
import type { FieldPath } from '../../../base/diagnostics/diagnostic.ts';
import { pathPieces } from '../../../base/paths/path.ts';
import { captureGroups } from '../../../base/regex/regex.ts';
import { namesList } from '../../../rules/model/list-name.ts';
import type { DnsRecord, PathFilter, Rule, RuleSet } from '../../../rules/model/types.ts';

/** Rule types that refuse or limit visitors: a path that their filter misses passes unchecked. */
export const GUARD_TYPES: readonly string[] = ['drop', 'rate_limit', 'waf', 'captcha'];

/** One list entry of a host or path filter. */
export interface FilterEntry {
  /** Within the rule: `['host_includes', 0]`. */
  readonly field: FieldPath;
  /** As the customer wrote it. */
  readonly text: string;
  /** The wildcard pattern; `null` for a regex, a list, or a text that can never match. */
  readonly glob: Glob | null;
  readonly regex: boolean;
  /** It names a list, of which only proofs know the entries: it may match anything. */
  readonly listed: boolean;
  /** Whether the entry is of a path filter; otherwise it is of a host filter. */
  readonly path: boolean;
  /** Whether the entry matches a canonical host or path; of a list, whether it may. */
  readonly matches: (value: string) => boolean;
}

/** A rule of a type with a path filter. */
export type PathRule = Rule & PathFilter;

/** Whether the rule is of a type that has a path filter. */
export function hasPaths(rule: Rule): rule is PathRule {
  return 'path_includes' in rule;
}

/** The entries of `host_includes`, and the deprecated `host_pattern` as one more. */
export function hostIncludes(rule: Rule): readonly FilterEntry[] {
  const listed = rule.host_includes.map((text, index) => hostEntry(rule, text, ['host_includes', index]));
  return rule.host_pattern === ''
    ? listed
    : [...listed, hostEntry(rule, rule.host_pattern, ['host_pattern'])];
}

/** The entries of `host_excludes`. */
export function hostExcludes(rule: Rule): readonly FilterEntry[] {
  return rule.host_excludes.map((text, index) => hostEntry(rule, text, ['host_excludes', index]));
}

/** The entries of `path_includes`. */
export function pathIncludes(rule: PathRule): readonly FilterEntry[] {
  return rule.path_includes.map((text, index) => pathEntry(rule, text, ['path_includes', index]));
}

/** The entries of `path_excludes`. */
export function pathExcludes(rule: PathRule): readonly FilterEntry[] {
  return rule.path_excludes.map((text, index) => pathEntry(rule, text, ['path_excludes', index]));
}

/** Whether the rule's host filter admits a canonical host. */
export function admitsHost(rule: Rule, host: string): boolean {
  return mayPass({ includes: hostIncludes(rule), excludes: hostExcludes(rule) }, host);
}

/** Whether the rule's path filter admits a canonical path without parameters. */
export function admitsPath(rule: PathRule, path: string): boolean {
  return mayPass({ includes: pathIncludes(rule), excludes: pathExcludes(rule) }, path);
}

/** Whether a value passes the entries of a filter, as far as lists do not decide. */
function mayPass(
  {
    includes,
    excludes,
  }: { readonly includes: readonly FilterEntry[]; readonly excludes: readonly FilterEntry[] },
  value: string,
): boolean {
  const included = includes.length === 0 || includes.some((entry) => entry.matches(value));
  return included && !excludes.some((entry) => !entry.listed && entry.matches(value));
}

/** Whether `wide` provably matches everything that `narrow` matches. Two regexes, or lists, are compared by text alone. */
export function entryCovers(wide: FilterEntry, narrow: FilterEntry): boolean {
  if (wide.listed || narrow.listed) return wide.listed === narrow.listed && wide.text === narrow.text;
  if (wide.regex || narrow.regex) return wide.regex === narrow.regex && wide.text === narrow.text;
  const { glob } = wide;
  if (glob === null || narrow.glob === null) return false;
  const globs = narrow.path ? rooted(narrow.glob) : [narrow.glob];
  return globs.every((pattern) => globCovers(glob, pattern));
}

/**
 * The pattern restricted to texts that start with a slash, as all paths do: a leading star follows a slash, or is
 * empty.
 */
function rooted(glob: Glob): readonly Glob[] {
  const [first, ...rest] = glob;
  if (first !== '' || rest.length === 0) return [glob];
  return rest[0]?.startsWith('/') === true ? [['/', ...rest], rest] : [['/', ...rest]];
}

/** A host entry by the rule's match type. */
function hostEntry(rule: Rule, text: string, field: FieldPath): FilterEntry {
  if (rule.host_match_type === 'regex') return regexEntry(text, field, true);
  if (namesList(text) && field[0] !== 'host_pattern') return listEntry(text, field);
  return globEntry(text, field, rule.host_match_type === 'exact' ? exactHost(text) : hostPieces(text));
}

/** The canonical name of an exact entry; `null` when it is malformed. */
function exactHost(text: string): Glob | null {
  const name = normalizeName(text);
  return name === null ? null : [name];
}

/** A path entry by the rule's match type. */
function pathEntry(rule: PathRule, text: string, field: FieldPath): FilterEntry {
  if (rule.path_match_type === 'regex') return regexEntry(text, field, false);
  if (namesList(text)) return listEntry(text, field);
  return globEntry(text, field, pathPieces(text));
}

/** An entry that is a wildcard pattern or a literal. */
function globEntry(text: string, field: FieldPath, glob: Glob | null): FilterEntry {
  const matches = (value: string): boolean => glob !== null && globMatches(glob, value);
  return { field, text, glob, regex: false, listed: false, path: isPath(field), matches };
}

/** An entry that names a list. */
function listEntry(text: string, field: FieldPath): FilterEntry {
  return { field, text, glob: null, regex: false, listed: true, path: isPath(field), matches: () => true };
}

/** An entry that is a regex; unanchored (semantics §3). */
function regexEntry(text: string, field: FieldPath, ignoreCase: boolean): FilterEntry {
  const matches = (value: string): boolean => captureGroups(text, ignoreCase, value) !== null;
  return { field, text, glob: null, regex: true, listed: false, path: isPath(field), matches };
}

/** Whether the field is a path list. */
function isPath(field: FieldPath): boolean {
  return field[0] === 'path_includes' || field[0] === 'path_excludes';
}

// Wildcard patterns as lists of the literals between their stars: matching, covering and overlap.

/** The literals between the stars: `['/api/', '']` is `/api/*`; a single piece has no star. */
export type Glob = readonly string[];

/**
 * A character that no canonical host or path contains (a noncharacter); it represents the text that a star matches.
 */
const ANYTHING = '\uffff';

/** Whether the pattern matches the whole text. Takes time linear in the text for each piece. */
export function globMatches(glob: Glob, text: string): boolean {
  const first = glob[0] ?? '';
  if (glob.length === 1) return text === first;
  if (!text.startsWith(first)) return false;
  const last = glob[glob.length - 1] ?? '';
  let at = first.length;
  for (const piece of glob.slice(1, -1)) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return text.length - at >= last.length && text.endsWith(last);
}

/**
 * Whether `wide` matches everything that `narrow` matches. Exact: each star of `narrow` is replaced by a character
 * that only a star of `wide` can match, and that star then matches any other text as well.
 */
export function globCovers(wide: Glob, narrow: Glob): boolean {
  return globMatches(wide, narrow.join(ANYTHING));
}

/** Whether some text matches both. Searches pairs of positions in the two patterns; each pair is visited once. */
export function globsOverlap(left: Glob, right: Glob): boolean {
  const a = left.join(ANYTHING);
  const b = right.join(ANYTHING);
  const visited = new Set<number>();
  const queue: (readonly [number, number])[] = [[0, 0]];
  for (let pair = queue.pop(); pair !== undefined; pair = queue.pop()) {
    const [i, j] = pair;
    const key = i * (b.length + 1) + j;
    if (visited.has(key)) continue;
    visited.add(key);
    if (i === a.length && j === b.length) return true;
    if (a[i] === ANYTHING) {
      queue.push([i + 1, j]);
      if (j < b.length) queue.push([i, j + 1]);
    }
    if (b[j] === ANYTHING) {
      queue.push([i, j + 1]);
      if (i < a.length) queue.push([i + 1, j]);
    }
    if (i < a.length && j < b.length && a[i] === b[j]) queue.push([i + 1, j + 1]);
  }
  return false;
}

/** Whether the pattern has no star. */
export function isLiteral(glob: Glob): boolean {
  return glob.length === 1;
}

// The hosts that a domain serves, and which of them a rule's scope and host filter admit.

/** A proxied record as the hosts it serves: one host, or for `*.b` every host below `b` without a nearer record. */
export interface Served {
  readonly record: DnsRecord;
  /** Absolute and lower case; for a wildcard, the name after `*.`. */
  readonly name: string;
  readonly wildcard: boolean;
}

/** The hosts of a domain. */
export interface Zone {
  readonly domain: string;
  readonly served: readonly Served[];
}

/** Collects the proxied records of a rule set. */
export function readZone({ domain, records }: RuleSet): Zone {
  const served = records
    .filter((record) => record.proxied)
    .flatMap((record) => readServed(record, domain.name));
  return { domain: domain.name, served };
}

/** The served host of one record; none for a malformed name. */
function readServed(record: DnsRecord, domain: string): readonly Served[] {
  const written = record.name === '' ? '@' : record.name;
  const wildcard = written === '*' || written.startsWith('*.');
  const rest = wildcard ? written.slice(2) : written;
  const name = rest === '@' || rest === '' ? domain : absolute(rest, domain);
  return name === null ? [] : [{ record, name, wildcard }];
}

/** The absolute form of a record name; record names are stored relative or absolute (semantics §2). */
function absolute(name: string, domain: string): string | null {
  const canonical = normalizeName(name);
  if (canonical === null) return null;
  return canonical === domain || canonical.endsWith(`.${domain}`) ? canonical : `${canonical}.${domain}`;
}

/** Whether a record of the zone serves this host. */
export function serves(zone: Zone, host: string): boolean {
  return zone.served.some(({ name, wildcard }) => (wildcard ? host.endsWith(`.${name}`) : host === name));
}

/** The served hosts in a rule's record scope; all of them for a zone-wide rule. */
export function inScope(zone: Zone, rule: Rule): readonly Served[] {
  if (rule.record_ids.length === 0) return zone.served;
  return zone.served.filter(({ record }) => rule.record_ids.includes(record.id));
}

/**
 * Whether the rule's host filter may admit a request to this name. The hosts of a wildcard name cannot be
 * enumerated, so a regex or a list counts as admitting one.
 */
export function mayAdmit(rule: Rule, { name, wildcard }: Served): boolean {
  if (!wildcard) return admitsHost(rule, name);
  const below = ['', `.${name}`];
  const excluded = hostExcludes(rule).some(({ glob }) => glob !== null && globCovers(glob, below));
  if (excluded) return false;
  const includes = hostIncludes(rule);
  if (includes.length === 0) return true;
  return includes.some(
    ({ glob, regex, listed }) => regex || listed || (glob !== null && globsOverlap(glob, below)),
  );
}

/** Whether `wide` applies to every host that `narrow` applies to, as far as the filters prove it. */
export function coversHostsOf(zone: Zone, wide: Rule, narrow: Rule): boolean {
  const same = HOST_FIELDS.every((field) => JSON.stringify(wide[field]) === JSON.stringify(narrow[field]));
  if (same) return true;
  const scoped = inScope(zone, wide);
  return inScope(zone, narrow)
    .filter((served) => mayAdmit(narrow, served))
    .every((served) => scoped.includes(served) && admitsAll(wide, served));
}

/** The fields that decide which hosts a rule applies to. */
const HOST_FIELDS = [
  'record_ids',
  'host_match_type',
  'host_pattern',
  'host_includes',
  'host_excludes',
] as const satisfies readonly (keyof Rule)[];

/** Whether the rule's host filter provably admits every host of a served name. */
function admitsAll(rule: Rule, { name, wildcard }: Served): boolean {
  if (!wildcard) return admitsHost(rule, name);
  if (hostExcludes(rule).length > 0) return false;
  const includes = hostIncludes(rule);
  const below = ['', `.${name}`];
  return includes.length === 0 || includes.some(({ glob }) => glob !== null && globCovers(glob, below));
}

/** Whether a wildcard entry can match a host of the domain. */
export function overlapsDomain(zone: Zone, glob: readonly string[]): boolean {
  return globMatches(glob, zone.domain) || globsOverlap(glob, ['', `.${zone.domain}`]);
}
