/**
 * Finds guards that depend on how the origin reads a path. Many origins answer `/login/`, `/Login`, `/login.` and
 * `/login/x` like `/login`, and `/login.php/x.css` like `/login.php` (semantics §1.1, "Forwarded path"), so a guard
 * on one exact path, or one that excludes a suffix, can be bypassed.
 */
import { quoteValue } from '../../../base/diagnostics/diagnostic.ts';
import {
  admitsPath,
  type FilterEntry,
  GUARD_TYPES,
  hasPaths,
  type PathRule,
  pathExcludes,
  pathIncludes,
} from './filters.ts';
import type { Finding, LintContext } from './finding.ts';
import { isLiteral } from './glob.ts';
import { coversHostsOf } from './zone.ts';

/** Checks the path filters of guard types. */
export function lintOriginDifferences(context: LintContext): readonly Finding[] {
  const guards = context.enabled.filter(hasPaths).filter((rule) => GUARD_TYPES.includes(rule.type));
  return guards.flatMap((rule) => [
    ...pathIncludes(rule).flatMap((entry) => exactInclude(rule, entry, context) ?? []),
    ...pathExcludes(rule).flatMap((entry) => suffixExclude(rule, entry) ?? []),
  ]);
}

/** An include that is one exact path, if no rule covers the paths below it. */
function exactInclude(rule: PathRule, entry: FilterEntry, context: LintContext): Finding | null {
  const path = entry.glob !== null && isLiteral(entry.glob) ? (entry.glob[0] ?? '') : null;
  if (path === null || path === '/' || !path.startsWith('/')) return null;
  const folder = path.endsWith('/') ? path : `${path}/`;
  if (coversBelow(rule, folder, context)) return null;
  const message = `guards one spelling: many origins answer \`${folder}\`, \`${folder}x\` and other letter cases alike`;
  const remedy = `add \`${folder}*\`, or use \`(?i)\` in a regex where the origin ignores case`;
  const at = { rule, field: entry.field, found: quoteValue(entry.text) };
  return { ...at, code: 'exact_path_guard', severity: 'warning', message, remedy };
}

/** Whether this rule, or another of its type on the same hosts, also matches the paths below. */
function coversBelow(rule: PathRule, folder: string, { paths, zone }: LintContext): boolean {
  const below = `${folder}\uffff`;
  if (admitsPath(rule, below) || pathExcludes(rule).some((entry) => entry.matches(below))) return true;
  return paths.candidates(rule.type, below).some((other) => {
    if (other === rule || !hasPaths(other)) return false;
    return admitsPath(other, below) && coversHostsOf(zone, other, rule);
  });
}

/** An exclude that lets every path with a suffix pass. */
function suffixExclude(rule: PathRule, entry: FilterEntry): Finding | null {
  const suffix = entry.regex ? regexSuffix(entry.text) : wildcardSuffix(entry);
  if (suffix === null) return null;
  const message = `lets any path that ends so pass: many origins answer \`/page/x${suffix}\` like \`/page\``;
  const remedy = 'exclude the folder the files lie in instead';
  const at = { rule, field: entry.field, found: quoteValue(entry.text) };
  return { ...at, code: 'suffix_exclude', severity: 'warning', message, remedy };
}

/** The suffix of an entry such as `*.css`. A folder before the star limits the exclude to that folder. */
function wildcardSuffix({ glob }: FilterEntry): string | null {
  if (glob === null || glob.length < 2) return null;
  const suffix = glob[glob.length - 1] ?? '';
  const first = glob[0] ?? '';
  return suffix !== '' && (first === '' || first === '/') ? suffix : null;
}

/** The suffix of a regex such as `\.css$` or `\.(css|js)$`. */
function regexSuffix(text: string): string | null {
  const parts = /^(?:\^?\/?\.\*)?\\\.(?:([a-z0-9]+)|\((?:\?:)?([a-z0-9]+)(?:\|[a-z0-9?]+)*\))\$$/i.exec(text);
  if (parts === null) return null;
  return `.${parts[1] ?? parts[2]}`;
}
