/** Path entries that match nothing, less, or something else than they seem to. */
import { quoteValue } from '../../base/diagnostic.ts';
import { REGEX_IN_WILDCARD } from '../../model/entries.ts';
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
import type { Glob } from './glob.ts';
import { seesHostsOf } from './zone.ts';

/** Judges every path entry of every live rule. */
export function lintPaths(context: LintContext): readonly Finding[] {
  return context.live
    .filter(hasPaths)
    .flatMap((rule) => [
      ...[...pathIncludes(rule), ...pathExcludes(rule)].flatMap((entry) => judge(rule, entry) ?? []),
      ...nearMisses(rule, context),
    ]);
}

type Shape = Pick<Finding, 'code' | 'message' | 'remedy'>;

function judge(rule: PathRule, entry: FilterEntry): Finding | null {
  const shape = entry.regex ? judgeRegex(entry.text) : judgeWildcard(entry.text);
  if (shape === null) return null;
  return { ...shape, severity: 'warning', rule, field: entry.field, found: quoteValue(entry.text) };
}

function judgeWildcard(text: string): Shape | null {
  if (/^\*?[a-z][a-z0-9+.-]*:\/\//i.test(text)) {
    const message = 'holds a scheme and a host, and paths have neither: it never matches';
    return { code: 'scheme_in_path', message, remedy: 'write the path alone; hosts go to `host_includes`' };
  }
  if (/^\^|[^*]\$$/.test(text)) return REGEX_IN_WILDCARD;
  if (/^[^/*]+:[0-9]+(?:\/|\*|$)/.test(text)) {
    const message = 'holds a host and a port, and paths have neither: it never matches';
    return { code: 'port_in_path', message, remedy: 'write the path alone; hosts go to `host_includes`' };
  }
  if (!/^[/*]/.test(text)) {
    const message = 'matches no path: every path starts with `/`';
    return { code: 'relative_path', message, remedy: `write \`/${text.slice(0, 60)}\`` };
  }
  if (/[?#]/.test(text)) {
    const message = 'holds a `?` or `#`: the query and the fragment are not part of the path';
    return { code: 'query_in_path', message, remedy: 'end the entry before it' };
  }
  if (/\{[^{}]*,[^{}]*\}|\[[^\]]-[^\]]\]/.test(text)) {
    const message = 'holds braces or a class, and under `wildcard` everything but `*` is literal';
    return {
      code: 'literal_glob',
      message,
      remedy: 'write one entry for each, or set `path_match_type` to `regex`',
    };
  }
  return null;
}

function judgeRegex(text: string): Shape | null {
  if (/:\\?\/\\?\//.test(text)) {
    const message = 'asks for a scheme, and paths have none: it never matches';
    return { code: 'scheme_in_path', message, remedy: 'write the path alone; hosts go to `host_includes`' };
  }
  if (/\\\?|\[\?\]/.test(text)) {
    const message = 'asks for a `?`: the query is not part of the path';
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

/** Rules to which the bare name of a folder, seldom a page of its own, makes no difference worth a remark. */
function isLenient(rule: PathRule): boolean {
  return (
    rule.type === 'cache' ||
    rule.type === 'error_page' ||
    (rule.type === 'rewrite' && rule.path_target === '')
  );
}

/** `/api/*` without `/api`, where nothing of the type covers or excludes the bare path. */
function nearMisses(rule: PathRule, context: LintContext): readonly Finding[] {
  if (rule.path_match_type !== 'wildcard' || isLenient(rule)) return [];
  return pathIncludes(rule).flatMap((entry) => {
    const bare = bareGlob(entry.glob);
    if (bare === null || isMeant(rule, bare, context)) return [];
    const name = entry.text.slice(0, -2);
    const message = `does not match \`${name}\` itself, only paths below it`;
    const severity = GUARD_TYPES.includes(rule.type) ? 'warning' : 'info';
    const remedy = `add \`${name}\`, or list it in \`path_excludes\` to say that it is meant`;
    const found = quoteValue(entry.text);
    return [{ code: 'bare_path_missed', severity, rule, field: entry.field, message, found, remedy }];
  });
}

/** The bare path of an entry that ends in `/*`; under a leading star the shortest path it could stand for. */
function bareGlob(glob: Glob | null): string | null {
  if (glob === null || glob.length < 2 || glob[glob.length - 1] !== '') return null;
  const body = glob.slice(0, -1);
  const last = body[body.length - 1] ?? '';
  if (!last.endsWith('/') || last.length < 2) return null;
  const bare = [...body.slice(0, -1), last.slice(0, -1)].join('');
  return bare.startsWith('/.') ? null : bare;
}

function isMeant(rule: PathRule, bare: string, { paths, zone }: LintContext): boolean {
  if (pathIncludes(rule).some((entry) => entry.matches(bare))) return true;
  if (pathExcludes(rule).some((entry) => entry.matches(bare))) return true;
  return paths.candidates(rule.type, bare).some((other) => {
    if (other === rule || !hasPaths(other)) return false;
    return admitsPath(other, bare) && seesHostsOf(zone, other, rule);
  });
}
