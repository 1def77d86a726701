/**
 * Reads the host and path filters of stored rules without compiling them, enough to compare what two entries match.
 */

import { hostPieces, normalizeName } from '../../../base/addresses/host.ts';
import type { FieldPath } from '../../../base/diagnostics/diagnostic.ts';
import { pathPieces } from '../../../base/paths/path.ts';
import { captureGroups } from '../../../base/regex/regex.ts';
import type { PathFilter, Rule } from '../../../rules/model/types.ts';
import { type Glob, globCovers, globMatches } from './glob.ts';

/** Rule types that refuse or limit visitors: a path that their filter misses passes unchecked. */
export const GUARD_TYPES: readonly string[] = ['drop', 'rate_limit', 'waf', 'captcha'];

/** One list entry of a host or path filter. */
export interface FilterEntry {
  /** Within the rule: `['host_includes', 0]`. */
  readonly field: FieldPath;
  /** As the customer wrote it. */
  readonly text: string;
  /** The wildcard pattern; `null` for a regex, or for a text that can never match. */
  readonly glob: Glob | null;
  readonly regex: boolean;
  /** Whether the entry is of a path filter; otherwise it is of a host filter. */
  readonly path: boolean;
  /** Whether the entry matches a canonical host or path. */
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
  const includes = hostIncludes(rule);
  const included = includes.length === 0 || includes.some((entry) => entry.matches(host));
  return included && !hostExcludes(rule).some((entry) => entry.matches(host));
}

/** Whether the rule's path filter admits a canonical path without parameters. */
export function admitsPath(rule: PathRule, path: string): boolean {
  const includes = pathIncludes(rule);
  const included = includes.length === 0 || includes.some((entry) => entry.matches(path));
  return included && !pathExcludes(rule).some((entry) => entry.matches(path));
}

/** Whether `wide` provably matches everything that `narrow` matches. Two regexes are compared by text alone. */
export function entryCovers(wide: FilterEntry, narrow: FilterEntry): boolean {
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
  return globEntry(text, field, pathPieces(text));
}

/** An entry that is a wildcard pattern or a literal. */
function globEntry(text: string, field: FieldPath, glob: Glob | null): FilterEntry {
  const matches = (value: string): boolean => glob !== null && globMatches(glob, value);
  return { field, text, glob, regex: false, path: isPath(field), matches };
}

/** An entry that is a regex; unanchored (semantics §3). */
function regexEntry(text: string, field: FieldPath, ignoreCase: boolean): FilterEntry {
  const matches = (value: string): boolean => captureGroups(text, ignoreCase, value) !== null;
  return { field, text, glob: null, regex: true, path: isPath(field), matches };
}

/** Whether the field is a path list. */
function isPath(field: FieldPath): boolean {
  return field[0] === 'path_includes' || field[0] === 'path_excludes';
}
