/**
 * Phase 6: the first redirect that leads elsewhere. One that leads to the request's own URL counts as unmatched. One whose
 * groups make no location refuses the request.
 */
import { type HostFacts, parseHost } from '../../../base/addresses/host.ts';
import { encodeUri } from '../../../base/octets/octets.ts';
import { hasDotSegment, mergeLeadingSlashes } from '../../../base/paths/path.ts';
import type { CaptureGroups } from '../../../base/regex/regex.ts';
import { MAX_LOCATION_CHARACTERS } from '../../../base/vocabulary/limits.ts';
import { REDIRECT_TARGET_MODES } from '../../../base/vocabulary/vocabulary.ts';
import { FLAG_ACTION_SHIFT, REDIRECT_FIELDS, REDIRECT_LISTED, SLOT, typeIndex } from '../../plan/layout.ts';
import type { RuleExplanation } from '../checks.ts';
import { defaultPort, type Facts } from '../facts.ts';
import { redirectOf, rowOf } from '../lists.ts';
import { textOf } from '../loaded.ts';
import { acts, type Context, end, endPhase, nextMatch, type Run, record, refOf, slotWord } from '../run.ts';
import { groupsText, sentCaptures, substitute } from './captures.ts';

const REDIRECT = typeIndex('redirect');

/** Runs the phase; true when it ended the request. */
export function redirect(context: Context, run: Run): boolean {
  for (let slot = nextMatch(context, REDIRECT); slot >= 0; slot = nextMatch(context, REDIRECT)) {
    const location = locationOf(context, slot);
    const refused = typeof location === 'number';
    const self = !refused && isOwnUrl(location, context.facts);
    record(context, run, slot, refused ? 'refuse' : self ? 'self_redirect' : 'redirect');
    if (self || !acts(context, run, slot)) continue;
    endPhase(context, REDIRECT);
    if (refused) return end(run, 'refuse', { status: location, rule: refOf(context, slot) });
    run.location = location;
    return end(run, 'redirect', { status: statusOf(context, slot), rule: refOf(context, slot) });
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

/**
 * The rule's target, with the request's path and query if the rule preserves them; or the status that refuses a request whose
 * groups make a location with a dot segment, or a longer one than `MAX_LOCATION_CHARACTERS`.
 */
function locationOf(context: Context, slot: number): string | 400 | 414 {
  const { loaded } = context;
  const { words } = loaded.plan;
  const fields = slotWord(context, slot, SLOT.fields);
  const place = words[fields + REDIRECT_FIELDS.target]!;
  const written = isListed(context, slot) ? listedTarget(context, place).to : textOf(loaded, place);
  const takesGroups = hasCaptures(context, slot);
  const target = takesGroups ? withGroups(written, sentCaptures(context, slot)) : written;
  const location = encodeUri(complete(context, slot, target));
  if (!takesGroups) return location;
  if (location.length > MAX_LOCATION_CHARACTERS) return 414;
  return hasDotSegment(splitReference(location).path) ? 400 : location;
}

/** Whether the rule has a list of targets. */
function isListed(context: Context, slot: number): boolean {
  return slotWord(context, slot, SLOT.flags) >>> FLAG_ACTION_SHIFT === REDIRECT_LISTED;
}

/** The target and status (0: that of the rule) in list `number` for the path of the request, which one of its entries has. */
function listedTarget({ loaded, facts }: Context, number: number): ReturnType<typeof redirectOf> {
  const list = loaded.lists[number]!;
  const row = rowOf(list, facts.path);
  return redirectOf(list, row >= 0 ? row : rowOf(list, facts.pathWithoutParameters ?? ''));
}

/** The status that the rule answers. */
function statusOf(context: Context, slot: number): number {
  const { words } = context.loaded.plan;
  const fields = slotWord(context, slot, SLOT.fields);
  const status = words[fields + REDIRECT_FIELDS.status]!;
  if (!isListed(context, slot)) return status;
  return listedTarget(context, words[fields + REDIRECT_FIELDS.target]!).status || status;
}

/** Whether the rule's target names groups (`REDIRECT_TARGET_MODES`). */
function hasCaptures(context: Context, slot: number): boolean {
  const mode = slotWord(context, slot, SLOT.flags) >>> FLAG_ACTION_SHIFT;
  return REDIRECT_TARGET_MODES[mode] === 'captures';
}

/**
 * A target with the groups in their places. In a query, a group is a part of one value, so its `&` and `+` are encoded. Leading
 * slashes of a path merge, so that it never reads as a host; the host of an absolute target is literal.
 */
function withGroups(target: string, captures: CaptureGroups | null): string {
  const hash = startOf(target, '#');
  const question = Math.min(startOf(target, '?'), hash);
  const inQuery =
    captures === null
      ? null
      : { ...captures, groups: captures.groups.map((text) => text && encodeValue(text)) };
  const path = substitute(target.slice(0, question), { captures, most: MAX_LOCATION_CHARACTERS });
  const query = substitute(target.slice(question, hash), {
    captures: inQuery,
    most: MAX_LOCATION_CHARACTERS,
  });
  const fragment = substitute(target.slice(hash), { captures, most: MAX_LOCATION_CHARACTERS });
  return (target.startsWith('/') ? mergeLeadingSlashes(path) : path) + query + fragment;
}

/** Where a mark begins; the length of the text if it has none. */
function startOf(text: string, mark: string): number {
  const at = text.indexOf(mark);
  return at < 0 ? text.length : at;
}

function encodeValue(text: string): string {
  return text.replaceAll('&', '%26').replaceAll('+', '%2B');
}

/** A target with the request's path and query, if the rule preserves them. */
function complete(context: Context, slot: number, target: string): string {
  const { loaded, facts } = context;
  const { words } = loaded.plan;
  const fields = slotWord(context, slot, SLOT.fields);
  const keepsPath = words[fields + REDIRECT_FIELDS.preservePath] === 1;
  const query = words[fields + REDIRECT_FIELDS.preserveQuery] === 1 ? facts.encodedQuery : null;
  if (!keepsPath && (query === null || query === '')) return target;
  const hash = target.indexOf('#');
  const beforeFragment = hash < 0 ? target : target.slice(0, hash);
  const question = beforeFragment.indexOf('?');
  let base = question < 0 ? beforeFragment : beforeFragment.slice(0, question);
  let search = question < 0 ? '' : beforeFragment.slice(question);
  if (keepsPath) base = joinPaths(base, facts.forwarded);
  if (query !== null && query !== '') search = appendQuery(search, query);
  return base + search + (hash < 0 ? '' : target.slice(hash));
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
  reason: ({ context }, slot, effect) => {
    if (effect === 'self_redirect') {
      return { code: 'self_redirect', text: 'it leads to this very URL, so it counts as unmatched' };
    }
    const location = locationOf(context, slot);
    const noted = hasCaptures(context, slot) ? groupsText(context, slot) : '';
    if (location === 400) return { code: 'dot_segment', text: `its location holds a dot segment${noted}` };
    if (location === 414) {
      const text = `its location is longer than ${MAX_LOCATION_CHARACTERS} characters`;
      return { code: 'long_location', text };
    }
    return { code: 'redirected', text: `→ ${location}${noted}` };
  },
};
