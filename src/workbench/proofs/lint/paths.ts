/**
 * Finds path entries that match nothing, less, or something else than they appear to, and guards that depend on how the
 * origin reads a path.
 */
import { quoteValue } from '../../../base/diagnostics/diagnostic.ts';
import { REGEX_IN_WILDCARD } from '../../../rules/model/text-checks.ts';
import {
  admitsPath,
  coversHostsOf,
  type FilterEntry,
  type Glob,
  GUARD_TYPES,
  hasPaths,
  isLiteral,
  type PathRule,
  pathExcludes,
  pathIncludes,
} from './filters.ts';
import type { Finding, LintContext } from './finding.ts';

/** Checks every path entry of every enabled rule. */
export function lintPaths(context: LintContext): readonly Finding[] {
  return context.enabled
    .filter(hasPaths)
    .flatMap((rule) => [
      ...[...pathIncludes(rule), ...pathExcludes(rule)].flatMap((entry) => checkEntry(rule, entry) ?? []),
      ...nearMisses(rule, context),
    ]);
}

/** A finding without its rule and place. */
type Shape = Pick<Finding, 'code' | 'message' | 'remedy'>;

/** The mistake of one entry; `null`: no mistake. */
function checkEntry(rule: PathRule, entry: FilterEntry): Finding | null {
  if (entry.listed) return null;
  const shape = entry.regex ? checkRegex(entry.text) : checkWildcard(entry.text);
  if (shape === null) return null;
  return { ...shape, severity: 'warning', rule, field: entry.field, found: quoteValue(entry.text) };
}

/** A wildcard entry that contains a part of a URL other than the path, or syntax that is literal here. */
function checkWildcard(text: string): Shape | null {
  if (/^\*?[a-z][a-z0-9+.-]*:\/\//i.test(text)) {
    const message = 'contains a scheme and a host, and paths have neither: it never matches';
    return { code: 'scheme_in_path', message, remedy: 'write the path alone; hosts go to `host_includes`' };
  }
  if (/^\^|[^*]\$$/.test(text)) return REGEX_IN_WILDCARD;
  if (/^[^/*]+:[0-9]+(?:\/|\*|$)/.test(text)) {
    const message = 'contains a host and a port, and paths have neither: it never matches';
    return { code: 'port_in_path', message, remedy: 'write the path alone; hosts go to `host_includes`' };
  }
  if (!/^[/*]/.test(text)) {
    const message = 'matches no path: every path starts with `/`';
    return { code: 'relative_path', message, remedy: `write \`/${text.slice(0, 60)}\`` };
  }
  if (/[?#]/.test(text)) {
    const message = 'contains a `?` or `#`: the query and the fragment are not part of the path';
    return { code: 'query_in_path', message, remedy: 'end the entry before it' };
  }
  if (/\{[^{}]*,[^{}]*\}|\[[^\]]-[^\]]\]/.test(text)) {
    const message = 'contains braces or a class, and under `wildcard` everything but `*` is literal';
    return {
      code: 'literal_glob',
      message,
      remedy: 'write one entry for each, or set `path_match_type` to `regex`',
    };
  }
  return null;
}

/** A regex entry that requires a part of a URL other than the path, or is written as a wildcard. */
function checkRegex(text: string): Shape | null {
  if (/:\\?\/\\?\//.test(text)) {
    const message = 'requires a scheme, and paths have none: it never matches';
    return { code: 'scheme_in_path', message, remedy: 'write the path alone; hosts go to `host_includes`' };
  }
  if (/\\\?|\[\?\]/.test(text)) {
    const message = 'requires a `?`: the query is not part of the path';
    return { code: 'query_in_path', message, remedy: 'end the pattern before it' };
  }
  if (/^\/(?:[A-Za-z0-9_-]+\/)*\*$/.test(text)) {
    const message = 'looks like a wildcard, and under `regex` a star repeats what is before it';
    const remedy =
      text === '/*' ? 'leave `path_includes` out for every path' : `write \`^${text.slice(0, -1)}\``;
    return { code: 'wildcard_in_regex', message, remedy };
  }
  return null;
}

/** Rules for which the bare name of a folder, which is seldom a page, makes no relevant difference. */
function isLenient(rule: PathRule): boolean {
  return (
    rule.type === 'cache' ||
    rule.type === 'error_page' ||
    rule.type === 'headers' ||
    (rule.type === 'rewrite' && rule.path_target === '')
  );
}

/** `/api/*` without `/api`, if no entry or rule of the type covers or excludes the bare path. */
function nearMisses(rule: PathRule, context: LintContext): readonly Finding[] {
  if (rule.path_match_type !== 'wildcard' || isLenient(rule)) return [];
  return pathIncludes(rule).flatMap((entry) => {
    const bare = bareGlob(entry.glob);
    if (bare === null || isDeliberate(rule, bare, context)) return [];
    const name = entry.text.slice(0, -2);
    const message = `does not match \`${name}\` itself, only paths below it`;
    const severity = GUARD_TYPES.includes(rule.type) ? 'warning' : 'info';
    const remedy = `add \`${name}\`, or list it in \`path_excludes\` if this is intended`;
    const found = quoteValue(entry.text);
    return [{ code: 'bare_path_missed', severity, rule, field: entry.field, message, found, remedy }];
  });
}

/** The bare path of an entry that ends in `/*`; under a leading star, the shortest path it can represent. */
function bareGlob(glob: Glob | null): string | null {
  if (glob === null || glob.length < 2 || glob[glob.length - 1] !== '') return null;
  const body = glob.slice(0, -1);
  const last = body[body.length - 1] ?? '';
  if (!last.endsWith('/') || last.length < 2) return null;
  const bare = [...body.slice(0, -1), last.slice(0, -1)].join('');
  return bare.startsWith('/.') ? null : bare;
}

/** Whether this rule, or another rule of its type on the same hosts, already includes or excludes the bare path. */
function isDeliberate(rule: PathRule, bare: string, { paths, zone }: LintContext): boolean {
  if (pathIncludes(rule).some((entry) => entry.matches(bare))) return true;
  if (pathExcludes(rule).some((entry) => entry.matches(bare))) return true;
  return paths.candidates(rule.type, bare).some((other) => {
    if (other === rule || !hasPaths(other)) return false;
    return admitsPath(other, bare) && coversHostsOf(zone, other, rule);
  });
}

// Finds guards that depend on how the origin reads a path. Many origins answer `/login/`, `/Login`, `/login.` and
// `/login/x` like `/login`, and `/login.php/x.css` like `/login.php` (semantics §1.1, "Forwarded path"), so a guard
// on one exact path, or one that excludes a suffix, can be bypassed.

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
