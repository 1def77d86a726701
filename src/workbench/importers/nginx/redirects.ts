/**
 * The redirects that directives of the rewrite phase give. In: a value, a status and the world of requests. Out: redirect rules,
 * one for each host where the value names `$host`.
 */
import { addRule, type DraftEntry, markDifference, markMissing } from '../draft.ts';
import {
  areDisjoint,
  bothFilters,
  EVERY_REQUEST,
  foreignFilter,
  type ImportedFilter,
  placeFields,
} from '../filter.ts';
import { differ, type EarlierOutcome, type NginxImport } from './context.ts';
import { isUpgrade, redirectTarget, UPGRADE_OF_PATTERNS, type ValueContext } from './targets.ts';
import type { RewriteScope } from './worlds.ts';

/** States that an earlier redirect wins in nginx, where the edge refuses first. */
export function noteEarlier(
  entry: DraftEntry,
  filter: ImportedFilter,
  earlier: readonly EarlierOutcome[],
): void {
  for (const { filter: other, place } of earlier) {
    if (areDisjoint(filter, other)) continue;
    markDifference(entry, `requests that ${place} redirects are refused first; nginx redirects them`);
    return;
  }
}

/** One redirect of the source. */
interface RedirectSource {
  readonly status: number;
  readonly value: string;
  readonly capture: ValueContext['capture'];
  readonly appendsQuery: boolean;
}

/** Stands for a host of a wildcard or a regex. */
const ANY_HOST = 'any.invalid';

/** Adds the redirects of a value: one, or one for each host where it names `$host`. */
export function emitRedirects(
  state: NginxImport,
  entry: DraftEntry,
  source: RedirectSource,
  scope: RewriteScope,
): void {
  const foreign = foreignFilter(scope.filter, 'redirect');
  if (foreign !== null) {
    markMissing(entry, foreign);
    return;
  }
  if (scope.onPlain === true) {
    emitUpgrade(state, entry, scope, null, source);
    return;
  }
  // One rule serves every host when the target is the same for all.
  const common = targetFor(null, source, scope);
  if (typeof common !== 'string') {
    emitRedirect(state, entry, { ...common, ...source }, scope);
    return;
  }
  if (scope.hosts.length === 0) {
    const target = targetFor(ANY_HOST, source, scope);
    const upgrades = typeof target !== 'string' && isUpgrade(target, ANY_HOST);
    markMissing(entry, upgrades ? UPGRADE_OF_PATTERNS : common);
    return;
  }
  for (const host of scope.hosts) {
    const target = targetFor(host, source, scope);
    if (typeof target === 'string') {
      markMissing(entry, target);
      return;
    }
    const own = bothFilters(scope.filter, hostFilter(host));
    if (own === null || typeof own === 'string') continue;
    emitRedirect(state, entry, { ...target, ...source }, { ...scope, filter: own });
  }
  if (!scope.hasOtherHosts) return;
  const upgrades = scope.hosts.some((host) => {
    const target = targetFor(host, source, scope);
    return typeof target !== 'string' && isUpgrade(target, host);
  });
  if (upgrades) markMissing(entry, UPGRADE_OF_PATTERNS);
  else markDifference(entry, 'hosts of wildcards and regexes are not among its hosts');
}

/**
 * Redirects plain http to https on the same host: the edge skips it on https. `why`: what nginx does instead; `null`: the
 * redirect `source`.
 */
export function emitUpgrade(
  state: NginxImport,
  entry: DraftEntry,
  scope: RewriteScope,
  why: string | null,
  source: RedirectSource | null = null,
): void {
  const status = source?.status ?? 301;
  if (scope.hasOtherHosts) markMissing(entry, UPGRADE_OF_PATTERNS);
  for (const host of scope.hosts) {
    const own = bothFilters(scope.filter, hostFilter(host));
    if (own === null) continue;
    const foreign = typeof own === 'string' ? own : foreignFilter(own, 'redirect');
    if (foreign !== null || typeof own === 'string') {
      markMissing(entry, foreign ?? String(own));
      continue;
    }
    const target = { target: `https://${host}`, preserve_path: true, preserve_query: true };
    if (!addRule(state.draft, entry, 'redirect', { ...placeFields(own), ...target, status_code: status }))
      continue;
    differ(entry, scope.differences);
    if (why !== null) markDifference(entry, `${why}; the edge redirects it to https`);
    const meant = source === null ? null : targetFor(host, source, scope);
    if (meant !== null && (typeof meant === 'string' || !isUpgrade(meant, host)))
      markDifference(
        entry,
        `\`${host}\`: plain http goes to https of the same host, nginx redirects it to \`${source!.value}\``,
      );
    scope.earlier.push({ filter: own, place: entry.place });
  }
}

function targetFor(host: string | null, source: RedirectSource, { bindings }: RewriteScope) {
  return redirectTarget(source.value, { host, bindings, capture: source.capture }, source.appendsQuery);
}

/** The filter of one host. */
export function hostFilter(host: string): ImportedFilter {
  return { ...EVERY_REQUEST, hostIncludes: [{ kind: 'pieces', pieces: [host] }] };
}

function emitRedirect(
  state: NginxImport,
  entry: DraftEntry,
  redirect: RedirectSource & Exclude<ReturnType<typeof targetFor>, string>,
  scope: RewriteScope,
): void {
  const { target, preserve_path, preserve_query, differences, status } = redirect;
  const fields = { ...placeFields(scope.filter), target, status_code: status, preserve_path, preserve_query };
  if (!addRule(state.draft, entry, 'redirect', fields)) return;
  differ(entry, [...differences, ...scope.differences]);
  scope.earlier.push({ filter: scope.filter, place: entry.place });
}
