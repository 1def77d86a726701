/**
 * Worlds of the rewrite phase: requests for which the variables and the path are the same at one directive. An `if` divides a
 * world in two; what it sets is known in the one and not in the other.
 */
import { captureGroups } from '../../../base/regex/regex.ts';
import { areDisjoint, bothFilters, EVERY_REQUEST, type ImportedFilter } from '../filter.ts';
import { passes } from '../text-test.ts';
import type { EarlierOutcome } from './context.ts';
import type { NginxDirective } from './parse-nginx.ts';
import { matchesAll, replacementStart } from './targets.ts';

/** Where directives act: one world of requests. */
export interface RewriteScope {
  readonly filter: ImportedFilter;
  /** Exact hosts of the server, for which `$host` is expanded. */
  readonly hosts: readonly string[];
  /** The server has hosts beside the exact ones. */
  readonly hasOtherHosts: boolean;
  /** What the paths of the location have beyond nginx's. */
  readonly differences: readonly string[];
  /** Requests that redirects end before, in order. */
  readonly earlier: EarlierOutcome[];
  /** After the phase: what all requests that go on have in common. */
  readonly bindings: Map<string, string | null>;
  /** Why a rewrite to another location cannot be carried over; `null`: it can. `start`: the text it begins with. */
  readonly reenter: (directive: NginxDirective, replacement: string) => string | null;
  /** Inside a location, where `break` ends the search. */
  readonly inLocation: boolean;
  /** Only requests over plain http: redirects to https act on them alone. */
  readonly onPlain?: boolean;
  /** The path that a `rewrite` without a flag has changed. */
  readonly rewritten?: RewrittenPath & { readonly directive: NginxDirective };
}

/** Worlds after a directive: those that go on, and those that `break` and `last` take out of the block. */
export interface Worlds {
  readonly going: readonly RewriteScope[];
  readonly stopped: readonly RewriteScope[];
}

/** Values of variables; `null`: one that depends on the request. */
export type Bindings = ReadonlyMap<string, string | null>;

/** Excludes of one world at most: a list of a rule has few more, and each rule after them repeats them. */
const MAX_EXCLUDES = 100;

/** The requests of a filter without those of another; `null`: there are none. A text: no filter is exact. */
export function withoutRequests(
  filter: ImportedFilter,
  taken: ImportedFilter,
): ImportedFilter | null | string {
  const { hostIncludes, hostExcludes, pathIncludes, pathExcludes, ipIncludes, ipExcludes } = taken;
  const limits = [
    hostIncludes === null ? null : { hostExcludes: hostIncludes },
    hostExcludes.length === 0 ? null : { hostIncludes: hostExcludes },
    pathIncludes === null ? null : { pathExcludes: pathIncludes },
    pathExcludes.length === 0 ? null : { pathIncludes: pathExcludes },
    ipIncludes === null ? null : { ipExcludes: ipIncludes },
    ipExcludes === null ? null : { ipIncludes: ipExcludes },
  ].filter((limit) => limit !== null);
  if (limits.length === 0) return null;
  if (limits.length > 1) return 'its opposite has several tests';
  const left = bothFilters(filter, { ...EVERY_REQUEST, ...limits[0] });
  if (left === null || typeof left === 'string') return left;
  if (left.pathExcludes.length + left.hostExcludes.length > MAX_EXCLUDES)
    return 'its opposite has too many tests';
  const paths = { ...EVERY_REQUEST, pathIncludes: left.pathIncludes };
  const isCovered =
    left.pathIncludes !== null && areDisjoint({ ...EVERY_REQUEST, pathExcludes: left.pathExcludes }, paths);
  return isCovered ? null : left;
}

/** Whether a filter lets requests of a host through, as far as the host decides. */
export function hasHost({ hostIncludes, hostExcludes }: ImportedFilter, host: string): boolean {
  const isIn = hostIncludes?.some((test) => passes(test, host)) ?? true;
  return isIn && !hostExcludes.some((test) => passes(test, host));
}

/** The variables that are the same in all worlds; the others depend on the request. */
export function commonBindings(worlds: readonly Bindings[]): Map<string, string | null> {
  const names = new Set(worlds.flatMap((one) => [...one.keys()]));
  return new Map(
    [...names].map((name) => {
      const values = new Set(worlds.map((one) => one.get(name)));
      const [only] = values;
      return [name, values.size === 1 && only !== undefined ? only : null];
    }),
  );
}

/** A path that `rewrite` has changed: the regex that it matched, and the replacement with captures of it. */
export interface RewrittenPath {
  readonly regex: string;
  readonly replacement: string;
}

/** The part of a regex after `^` that is literal, and whether `(.*)` follows; `null`: another form. */
function literalStart(regex: string): { readonly text: string; readonly hasRest: boolean } | null {
  if (regex === '^' || regex === '.*' || regex === '^.*') return { text: '', hasRest: false };
  const [, body, rest = ''] = /^\^((?:[\w/~@:,;=&!"' -]|\\[./_-])*)(\(\.\*\)\$?|)$/.exec(regex) ?? [];
  return body === undefined ? null : { text: body.replaceAll('\\', ''), hasRest: rest !== '' };
}

/**
 * What a regex does with a path that was rewritten: the captures it has, as text of the replacement before it. `no`: it does not
 * match; `unknown`: that depends on the request.
 */
export function matchRewritten(
  { regex: source, replacement }: RewrittenPath,
  regex: string,
): readonly string[] | 'no' | 'unknown' {
  const [path = ''] = replacement.split('?');
  if (!path.includes('$')) {
    const groups = captureGroups(regex, false, path)?.groups;
    return groups === undefined ? 'no' : groups.map((group) => group ?? '');
  }
  const pattern = literalStart(regex);
  const start = replacementStart(path);
  if (pattern === null) return matchesAll(regex) && !regex.includes('(') ? [] : 'unknown';
  if (!start.startsWith(pattern.text)) return pattern.text.startsWith(start) ? 'unknown' : 'no';
  // The rest of the path is the last capture, which runs to its end.
  const isOpen = /\(\.\*\)\$?$/.test(source) && path === `${start}$1`;
  if (pattern.hasRest && !isOpen) return 'unknown';
  return pattern.hasRest ? ['', `${start.slice(pattern.text.length)}$1`] : [];
}

/** A replacement with the captures of its own regex replaced; `null`: it has others. */
export function fillCaptures(replacement: string, groups: readonly string[]): string | null {
  let isKnown = true;
  const filled = replacement.replace(/\$(?:\{([1-9])\}|([1-9]))/g, (_, one?: string, other?: string) => {
    const group = groups[Number(one ?? other)];
    if (group === undefined) isKnown = false;
    return group ?? '';
  });
  return isKnown ? filled : null;
}
