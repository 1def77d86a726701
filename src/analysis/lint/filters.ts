/** The filters of stored rules, read without a plan: enough to ask what a host or path entry covers. */
import type { FieldPath } from '../../base/diagnostic.ts';
import { hostPieces, normalizeName } from '../../base/host.ts';
import { pathPieces } from '../../base/path.ts';
import { captureGroups } from '../../base/regex.ts';
import type { PathFilter, Rule } from '../../model/types.ts';
import { type Glob, globCovers, globMatches } from './glob.ts';

/** Rule types that refuse or limit visitors: a path that their filter misses passes unchecked. */
export const GUARD_TYPES: readonly string[] = ['drop', 'rate_limit', 'waf', 'captcha'];

/** One list entry of a host or path filter. */
export interface FilterEntry {
  readonly field: FieldPath;
  readonly text: string;
  /** `null`: a regex, or a text that could never match. */
  readonly glob: Glob | null;
  readonly regex: boolean;
  /** Of a path filter; otherwise of a host filter. */
  readonly path: boolean;
  readonly matches: (value: string) => boolean;
}

export type PathRule = Rule & PathFilter;

/** Whether the rule is of a type that has a path filter. */
export function hasPaths(rule: Rule): rule is PathRule {
  return 'path_includes' in rule;
}

/** `host_includes` and the legacy pattern, which is one more of them. */
export function hostIncludes(rule: Rule): readonly FilterEntry[] {
  const listed = rule.host_includes.map((text, index) => hostEntry(rule, text, ['host_includes', index]));
  return rule.host_pattern === ''
    ? listed
    : [...listed, hostEntry(rule, rule.host_pattern, ['host_pattern'])];
}

export function hostExcludes(rule: Rule): readonly FilterEntry[] {
  return rule.host_excludes.map((text, index) => hostEntry(rule, text, ['host_excludes', index]));
}

export function pathIncludes(rule: PathRule): readonly FilterEntry[] {
  return rule.path_includes.map((text, index) => pathEntry(rule, text, ['path_includes', index]));
}

export function pathExcludes(rule: PathRule): readonly FilterEntry[] {
  return rule.path_excludes.map((text, index) => pathEntry(rule, text, ['path_excludes', index]));
}

/** Whether the rule's host filter lets a canonical host through. */
export function admitsHost(rule: Rule, host: string): boolean {
  const includes = hostIncludes(rule);
  const included = includes.length === 0 || includes.some((entry) => entry.matches(host));
  return included && !hostExcludes(rule).some((entry) => entry.matches(host));
}

/** Whether the rule's path filter lets a canonical path without parameters through. */
export function admitsPath(rule: PathRule, path: string): boolean {
  const includes = pathIncludes(rule);
  const included = includes.length === 0 || includes.some((entry) => entry.matches(path));
  return included && !pathExcludes(rule).some((entry) => entry.matches(path));
}

/** Whether one entry surely matches whatever another of its kind matches; of regexes only the same text is sure. */
export function entryCovers(wide: FilterEntry, narrow: FilterEntry): boolean {
  if (wide.regex || narrow.regex) return wide.regex === narrow.regex && wide.text === narrow.text;
  const { glob } = wide;
  if (glob === null || narrow.glob === null) return false;
  const globs = narrow.path ? rooted(narrow.glob) : [narrow.glob];
  return globs.every((one) => globCovers(glob, one));
}

/** The same pattern over paths, all of which start with a slash: a leading star stands behind one, or is empty. */
function rooted(glob: Glob): readonly Glob[] {
  const [first, ...rest] = glob;
  if (first !== '' || rest.length === 0) return [glob];
  return rest[0]?.startsWith('/') === true ? [['/', ...rest], rest] : [['/', ...rest]];
}

function hostEntry(rule: Rule, text: string, field: FieldPath): FilterEntry {
  if (rule.host_match_type === 'regex') return regexEntry(text, field, true);
  return globEntry(text, field, rule.host_match_type === 'exact' ? exactHost(text) : hostPieces(text));
}

function exactHost(text: string): Glob | null {
  const name = normalizeName(text);
  return name === null ? null : [name];
}

function pathEntry(rule: PathRule, text: string, field: FieldPath): FilterEntry {
  if (rule.path_match_type === 'regex') return regexEntry(text, field, false);
  return globEntry(text, field, pathPieces(text));
}

function globEntry(text: string, field: FieldPath, glob: Glob | null): FilterEntry {
  const matches = (value: string): boolean => glob !== null && globMatches(glob, value);
  return { field, text, glob, regex: false, path: isPath(field), matches };
}

function regexEntry(text: string, field: FieldPath, ignoreCase: boolean): FilterEntry {
  const matches = (value: string): boolean => captureGroups(text, ignoreCase, value) !== null;
  return { field, text, glob: null, regex: true, path: isPath(field), matches };
}

function isPath(field: FieldPath): boolean {
  return field[0] === 'path_includes' || field[0] === 'path_excludes';
}
