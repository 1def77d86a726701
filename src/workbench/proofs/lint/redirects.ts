/**
 * Finds redirects that never act, or hardly ever, never end, or have a pattern for a target. A redirect to the request's own URL counts as unmatched (semantics
 * §5), so redirecting a whole site to one of its pages, to another host or to https is fine. Reported are rules
 * whose every location is the request itself or its path, and rules that append the path to a target that they match again.
 */
import { quoteValue } from '../../../base/diagnostics/diagnostic.ts';
import type { RedirectRule } from '../../../rules/model/types.ts';
import { admitsHost, type Glob, globCovers, isLiteral, pathExcludes, pathIncludes } from './filters.ts';
import type { Finding, LintContext } from './finding.ts';

/** Checks the target of every enabled redirect. */
export function lintRedirects({ enabled }: LintContext): readonly Finding[] {
  return enabled.flatMap((rule) =>
    rule.type === 'redirect' && rule.targets === undefined
      ? [checkTarget(rule), checkLiteral(rule)].filter((one) => one !== null)
      : [],
  );
}

/** A star, a group or a placeholder in the target, all of which visitors get as they are written. Groups may be meant. */
function checkLiteral(rule: RedirectRule): Finding | null {
  const literal = rule.target_mode === 'captures' ? /\*|(?<!\$)\{[a-z_]+\}/ : /\*|\$(?:[0-9]|\{)|\{[a-z_]+\}/;
  const written = literal.exec(rule.target)?.[0];
  if (written === undefined) return null;
  return {
    rule,
    field: ['target'],
    severity: 'warning',
    code: 'literal_target',
    message: `has \`${written}\`, which is literal text: visitors are sent to this very URL`,
    found: quoteValue(rule.target),
    remedy:
      'set `path_match_type` to `regex` and `target_mode` to `captures`, and write the varying part as a group, `$1`',
  };
}

/** The target of a redirect, split. */
interface Target {
  /** `null`: the request's own host. */
  readonly host: string | null;
  /** Without query, fragment and trailing slashes. */
  readonly path: string;
  /** Whether the target has a query. */
  readonly query: boolean;
}

/** The mistake of one target; `null`: no mistake. */
function checkTarget(rule: RedirectRule): Finding | null {
  const target = readTarget(rule.target);
  const at = { rule, field: ['target'], severity: 'error', found: quoteValue(rule.target) } as const;
  const own = { ...at, code: 'self_redirect', remedy: 'write where the visitor should go' } as const;
  if (appendsToNothing(rule, target)) {
    const message = 'is the URL every matching request already has, so the rule never acts';
    return { ...own, message };
  }
  if (isOwnPath(rule, target)) {
    const message =
      'is the path that the rule matches: it acts on other spellings of it alone, such as `;x` at its end';
    return { ...own, severity: 'warning', message };
  }
  if (neverArrives(rule, target)) {
    const message = 'with the path appended is matched by the rule again, each time with a longer path';
    const remedy = `list \`${target.path}/*\` in \`path_excludes\`, or set \`preserve_path\` to false`;
    return { ...at, code: 'redirect_loop', message, remedy };
  }
  return null;
}

/** Splits a target. */
function readTarget(text: string): Target {
  const parts = /^(?:https?:\/\/([^/?#]*))?([^?#]*)(\?)?/i.exec(text);
  const host = parts?.[1]?.replace(/:[0-9]*$/, '').toLowerCase() ?? null;
  return { host, path: (parts?.[2] ?? '').replace(/\/+$/, ''), query: parts?.[3] !== undefined };
}

/**
 * Whether every location equals the request's URL, whose path is appended as it was sent. An absolute target may change the
 * scheme, so only a path is certain.
 */
function appendsToNothing(rule: RedirectRule, { host, path, query }: Target): boolean {
  return host === null && !query && rule.preserve_query && rule.preserve_path && path === '';
}

/** Whether the location is the only path that the rule matches, in its shortest spelling. */
function isOwnPath(rule: RedirectRule, { host, path, query }: Target): boolean {
  if (host !== null || query || !rule.preserve_query || rule.preserve_path) return false;
  const includes = pathIncludes(rule);
  const own = path === '' || rule.target.replace(/#.*$/, '').endsWith('/') ? `${path}/` : path;
  return (
    includes.length > 0 && includes.every(({ glob }) => glob !== null && isLiteral(glob) && glob[0] === own)
  );
}

/** Whether the rule matches its own locations, each time with a longer path. */
function neverArrives(rule: RedirectRule, { host, path }: Target): boolean {
  if (!rule.preserve_path || path === '' || (host !== null && !admitsHost(rule, host))) return false;
  const includes = pathIncludes(rule).map(({ glob }) => glob);
  const includeGlobs: readonly (Glob | null)[] = includes.length === 0 ? [['/', '']] : includes;
  return includeGlobs.some((from) => {
    const reached = from === null ? null : appended(path, from);
    if (reached === null) return false;
    const again = includeGlobs.some((glob) => glob !== null && globCovers(glob, reached));
    return (
      again &&
      !pathExcludes(rule).some(
        ({ glob, regex, listed }) => regex || listed || (glob !== null && globCovers(glob, reached)),
      )
    );
  });
}

/** The pattern of the locations when the paths of a pattern are appended to a target's path. */
function appended(path: string, [first = '', ...rest]: Glob): Glob {
  return [`${path}/${first.replace(/^\/+/, '')}`, ...rest];
}
