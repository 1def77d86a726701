/**
 * Guards that lean on how the origin reads a path. Many origins answer `/login/`, `/Login`, `/login.` and
 * `/login/x` like `/login`, and `/login.php/x.css` like `/login.php` (semantics §1.1, "Forwarded path"), so a guard on
 * one exact path, or one that leaves out a suffix, can be walked around.
 */
import { quoteValue } from '../../base/diagnostic.ts';
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
import { seesHostsOf } from './zone.ts';

/** Judges the path filters of the types that keep something out. */
export function lintOriginDifferences(context: LintContext): readonly Finding[] {
  const guards = context.live.filter(hasPaths).filter((rule) => GUARD_TYPES.includes(rule.type));
  return guards.flatMap((rule) => [
    ...pathIncludes(rule).flatMap((entry) => exactInclude(rule, entry, context) ?? []),
    ...pathExcludes(rule).flatMap((entry) => suffixExclude(rule, entry) ?? []),
  ]);
}

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

/** Whether this rule, or another of its type on the same hosts, also sees what lies below the path. */
function coversBelow(rule: PathRule, folder: string, { paths, zone }: LintContext): boolean {
  const below = `${folder}\uffff`;
  if (admitsPath(rule, below) || pathExcludes(rule).some((entry) => entry.matches(below))) return true;
  return paths.candidates(rule.type, below).some((other) => {
    if (other === rule || !hasPaths(other)) return false;
    return admitsPath(other, below) && seesHostsOf(zone, other, rule);
  });
}

function suffixExclude(rule: PathRule, entry: FilterEntry): Finding | null {
  const suffix = entry.regex ? regexSuffix(entry.text) : wildcardSuffix(entry);
  if (suffix === null) return null;
  const message = `lets any path that ends so pass: many origins answer \`/page/x${suffix}\` like \`/page\``;
  const remedy = 'exclude the folder the files lie in instead';
  const at = { rule, field: entry.field, found: quoteValue(entry.text) };
  return { ...at, code: 'suffix_exclude', severity: 'warning', message, remedy };
}

/** The suffix of an entry such as `*.css`. A folder before the star keeps the exclude to that folder. */
function wildcardSuffix({ glob }: FilterEntry): string | null {
  if (glob === null || glob.length < 2) return null;
  const suffix = glob[glob.length - 1] ?? '';
  const first = glob[0] ?? '';
  return suffix !== '' && (first === '' || first === '/') ? suffix : null;
}

function regexSuffix(text: string): string | null {
  const named = /^(?:\^?\/?\.\*)?\\\.(?:([a-z0-9]+)|\((?:\?:)?([a-z0-9]+)(?:\|[a-z0-9?]+)*\))\$$/i.exec(text);
  if (named === null) return null;
  return `.${named[1] ?? named[2]}`;
}
