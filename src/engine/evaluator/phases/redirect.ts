/** Phase 6: the first redirect that leads elsewhere. One that leads to the request's own URL counts as unmatched. */
import { type HostFacts, parseHost } from '../../../base/addresses/host.ts';
import { encodeUri } from '../../../base/octets/octets.ts';
import { REDIRECT_FIELDS, SLOT, typeIndex } from '../../plan/layout.ts';
import type { RuleExplanation } from '../checks.ts';
import { defaultPort, type Facts } from '../facts.ts';
import { textOf } from '../loaded.ts';
import { acts, type Context, end, endPhase, nextMatch, type Run, record, refOf, slotWord } from '../run.ts';

const REDIRECT = typeIndex('redirect');

/** Runs the phase; true when it ended the request. */
export function redirect(context: Context, run: Run): boolean {
  for (let slot = nextMatch(context, REDIRECT); slot >= 0; slot = nextMatch(context, REDIRECT)) {
    const location = locationOf(context, slot);
    const self = isOwnUrl(location, context.facts);
    record(context, run, slot, self ? 'self_redirect' : 'redirect');
    if (self || !acts(context, run, slot)) continue;
    endPhase(context, REDIRECT);
    const { words } = context.loaded.plan;
    const fields = slotWord(context, slot, SLOT.fields);
    run.location = location;
    return end(run, 'redirect', {
      status: words[fields + REDIRECT_FIELDS.status]!,
      rule: refOf(context, slot),
    });
  }
  return false;
}

/** A URL reference in parts; scheme and authority are empty for a path. */
export interface UrlReference {
  readonly scheme: string;
  readonly authority: string;
  readonly path: string;
  readonly query: string | null;
  /** With its `#`. */
  readonly fragment: string;
}

/** Splits the target or the location of a redirect: `/path…`, or an absolute URL. */
export function splitReference(text: string): UrlReference {
  const hash = text.indexOf('#');
  const fragment = hash < 0 ? '' : text.slice(hash);
  let rest = hash < 0 ? text : text.slice(0, hash);
  const question = rest.indexOf('?');
  const query = question < 0 ? null : rest.slice(question + 1);
  rest = question < 0 ? rest : rest.slice(0, question);
  if (rest.startsWith('/')) return { scheme: '', authority: '', path: rest, query, fragment };
  const start = rest.indexOf('://') + 3;
  const slash = rest.indexOf('/', start);
  const authority = slash < 0 ? rest.slice(start) : rest.slice(start, slash);
  const path = slash < 0 ? '' : rest.slice(slash);
  return { scheme: rest.slice(0, start - 3).toLowerCase(), authority, path, query, fragment };
}

/** The rule's target, with the request's path and query if the rule preserves them. */
function locationOf(context: Context, slot: number): string {
  const { loaded, facts } = context;
  const { words } = loaded.plan;
  const fields = slotWord(context, slot, SLOT.fields);
  const target = textOf(loaded, words[fields + REDIRECT_FIELDS.target]!);
  const keepsPath = words[fields + REDIRECT_FIELDS.preservePath] === 1;
  const query = words[fields + REDIRECT_FIELDS.preserveQuery] === 1 ? facts.encodedQuery : null;
  if (!keepsPath && (query === null || query === '')) return encodeUri(target);
  const hash = target.indexOf('#');
  const beforeFragment = hash < 0 ? target : target.slice(0, hash);
  const question = beforeFragment.indexOf('?');
  let base = question < 0 ? beforeFragment : beforeFragment.slice(0, question);
  let search = question < 0 ? '' : beforeFragment.slice(question);
  if (keepsPath) base = joinPaths(base, facts.forwarded);
  if (query !== null && query !== '') search = appendQuery(search, query);
  return encodeUri(base + search + (hash < 0 ? '' : target.slice(hash)));
}

/** One slash between the two; none of the appended path's leading slashes survives, so it never reads as a host. */
function joinPaths(base: string, appended: string): string {
  let end = base.length;
  while (end > 0 && base.charCodeAt(end - 1) === 47) end--;
  let start = 0;
  while (appended.charCodeAt(start) === 47) start++;
  return `${base.slice(0, end)}/${appended.slice(start)}`;
}

function appendQuery(search: string, query: string): string {
  if (search === '') return `?${query}`;
  return search.endsWith('?') || search.endsWith('&') ? search + query : `${search}&${query}`;
}

/** Whether a location is the request's own URL: scheme, canonical host, port, path and query (semantics §5). */
function isOwnUrl(location: string, facts: Facts): boolean {
  const own = splitReference(location);
  if ((own.query ?? '') !== (facts.encodedQuery ?? '')) return false;
  if ((own.path === '' ? '/' : own.path) !== facts.forwarded) return false;
  if (own.authority === '') return true;
  const host: HostFacts = { host: '', port: -1, literal: false };
  if ((own.scheme === 'https') !== facts.https || !parseHost(own.authority, host)) return false;
  const port = host.port === -1 ? defaultPort(facts.https) : host.port;
  return host.host === facts.host && port === facts.listenerPort;
}

/** What a trace says of redirect rules. */
export const redirectExplanation: RuleExplanation = {
  reason: ({ context }, slot, effect) =>
    effect === 'redirect'
      ? { code: 'redirected', text: `→ ${locationOf(context, slot)}` }
      : { code: 'self_redirect', text: 'it leads to this very URL, so it counts as unmatched' },
};
