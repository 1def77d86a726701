/**
 * Redirects that go nowhere or never arrive. A redirect to the request's own URL counts as unmatched (semantics §5), so
 * a whole site sent to one of its pages, to another host or up to https is fine; what is left are rules whose every
 * location is the request itself, and rules that append the path to a target they match again.
 */
import { quoteValue } from '../../base/diagnostic.ts';
import type { RedirectRule } from '../../model/types.ts';
import { admitsHost, pathExcludes, pathIncludes } from './filters.ts';
import type { Finding, LintContext } from './finding.ts';
import { type Glob, globCovers, isLiteral } from './glob.ts';

/** Judges the target of every live redirect. */
export function lintRedirects({ live }: LintContext): readonly Finding[] {
  return live.flatMap((rule) => (rule.type === 'redirect' ? (judge(rule) ?? []) : []));
}

interface Target {
  /** `null`: the request's own host. */
  readonly host: string | null;
  /** Without the query, the fragment and trailing slashes. */
  readonly path: string;
  readonly query: boolean;
}

function judge(rule: RedirectRule): Finding | null {
  const target = readTarget(rule.target);
  const at = { rule, field: ['target'], severity: 'error', found: quoteValue(rule.target) } as const;
  if (alwaysItself(rule, target)) {
    const message = 'is the URL every matching request already has, so the rule never acts';
    return { ...at, code: 'self_redirect', message, remedy: 'write where the visitor should go' };
  }
  if (neverArrives(rule, target)) {
    const message = 'with the path appended is matched by the rule again, each time with a longer path';
    const remedy = `list \`${target.path}/*\` in \`path_excludes\`, or set \`preserve_path\` to false`;
    return { ...at, code: 'redirect_loop', message, remedy };
  }
  return null;
}

function readTarget(text: string): Target {
  const parts = /^(?:https?:\/\/([^/?#]*))?([^?#]*)(\?)?/i.exec(text);
  const host = parts?.[1]?.replace(/:[0-9]*$/, '').toLowerCase() ?? null;
  return { host, path: (parts?.[2] ?? '').replace(/\/+$/, ''), query: parts?.[3] !== undefined };
}

/** An absolute target may change the scheme, so only a path can be certain to change nothing. */
function alwaysItself(rule: RedirectRule, { host, path, query }: Target): boolean {
  if (host !== null || query || !rule.preserve_query) return false;
  if (rule.preserve_path) return path === '';
  const includes = pathIncludes(rule);
  const own = path === '' || rule.target.replace(/#.*$/, '').endsWith('/') ? `${path}/` : path;
  return (
    includes.length > 0 && includes.every(({ glob }) => glob !== null && isLiteral(glob) && glob[0] === own)
  );
}

function neverArrives(rule: RedirectRule, { host, path }: Target): boolean {
  if (!rule.preserve_path || path === '' || (host !== null && !admitsHost(rule, host))) return false;
  const includes = pathIncludes(rule).map(({ glob }) => glob);
  const wanted: readonly (Glob | null)[] = includes.length === 0 ? [['/', '']] : includes;
  return wanted.some((from) => {
    const reached = from === null ? null : appended(path, from);
    if (reached === null) return false;
    const again = wanted.some((glob) => glob !== null && globCovers(glob, reached));
    return (
      again &&
      !pathExcludes(rule).some(({ glob, regex }) => regex || (glob !== null && globCovers(glob, reached)))
    );
  });
}

/** Where the paths of a pattern lead when they are appended to a target's path. */
function appended(path: string, [first = '', ...rest]: Glob): Glob {
  return [`${path}/${first.replace(/^\/+/, '')}`, ...rest];
}
