/**
 * Builds cache entries. In: a response of the origin, and for a 304 the stored entry. Out: an entry whose headers, lifetime and
 * validators are those to store (RFC 9111 §3, §4.3.4).
 */
import {
  type Directives,
  parseCacheControl,
  parseHttpDate,
  parseSeconds,
  parseTargeted,
} from '../../base/http/cache-control.ts';
import { type HeaderList, headerOf, type ResponseHead } from '../../base/http/response.ts';
import { type CacheEntry, isShared, isValidatable, type Lifetime } from './entry.ts';
import { FORCED_SEC, HEURISTIC_SHARE, MAX_FORCED_ERROR, MAX_HEURISTIC } from './limits.ts';
import type { CacheSettings } from './request.ts';
import { hasTags, tagsOf, varyNames } from './response-keys.ts';
import {
  freshenedHeaders,
  storedHeaders,
  validatorsOf,
  visitorHeaders,
  withLength,
} from './stored-response.ts';

/** An entry whose body is not complete yet. */
export interface EntryDraft {
  readonly entry: Omit<CacheEntry, 'body' | 'length'>;
  readonly names: readonly string[];
  /** The headers that only the visitor gets whose request fetched the response. */
  readonly visitorHeaders: HeaderList;
  /** Octets of the body by Content-Length; `null`: unknown. */
  readonly announced: number | null;
  /** Whether another cache stored the response before: it came with `Age`. */
  readonly aged: boolean;
}

/** A response of the origin, with what its storage depends on. Times in milliseconds since the epoch. */
export interface OriginAnswer {
  readonly head: Pick<ResponseHead, 'status' | 'headers'>;
  readonly settings: CacheSettings;
  readonly authorized: boolean;
  readonly epoch: number;
  /** The domain's newest purge of single responses when the fetch began. */
  readonly purgesThrough: number;
  readonly sentAt: number;
  readonly now: number;
}

/** A draft of a response that may be stored and can be reused; `null`: the response is not stored. */
export function draftOf(answered: OriginAnswer): EntryDraft | null {
  const { head, now } = answered;
  const policy = storagePolicy(answered);
  const names = varyNames(head.headers);
  if (policy === null || names === null) return null;
  const headers = storedHeaders({ headers: head.headers, omit: policy.omit, now });
  const draft = {
    entry: entryOf(answered, policy, headers),
    names,
    visitorHeaders: visitorHeaders({ headers: head.headers, omit: policy.omit }),
    announced: announcedLength(head),
    aged: headerOf(head.headers, 'age') !== null,
  };
  // Without a lifetime and without a validator an entry could never be used.
  const useful =
    isShared(draft.entry) || isValidatable(draft.entry) || policy.lifetime.staleWhileRevalidate > 0;
  return useful || (policy.lifetime.staleIfError ?? 0) > 0 ? draft : null;
}

function entryOf(
  answered: OriginAnswer,
  { lifetime }: StoragePolicy,
  headers: readonly string[],
): EntryDraft['entry'] {
  const { settings, epoch, purgesThrough, head } = answered;
  return {
    status: head.status,
    headers,
    lifetime,
    validators: validatorsOf(headers),
    terms: { epoch, purgesThrough, mode: settings.mode, edgeTtl: settings.edgeTtl },
    tags: tagsOf(head.headers),
    judged: { position: purgesThrough },
    prepared: { browserTtl: null, headers },
  };
}

/** The head of an entry whose body is complete. */
export function finished({ entry }: EntryDraft, length: number): Omit<CacheEntry, 'body'> {
  const headers = entry.status === 204 ? entry.headers : withLength(entry.headers, length);
  return { ...entry, headers, length, prepared: { browserTtl: null, headers } };
}

/** An entry after a 304. */
interface FreshenedEntry {
  readonly entry: CacheEntry;
  /** Whether the entry may still be stored. */
  readonly keep: boolean;
  /** The headers of the 304 that only the visitor gets whose request fetched it. */
  readonly visitorHeaders: HeaderList;
}

/** The entry after a 304 (RFC 9111 §4.3.4). Its cookies are not stored, so they do not end the storage. */
export function freshened(stored: CacheEntry, answered: OriginAnswer): FreshenedEntry {
  const { head, now } = answered;
  const merged = freshenedHeaders(stored.headers, { headers: head.headers, omit: [], now });
  const age = headerOf(head.headers, 'age');
  const seen = { status: stored.status, headers: age === null ? merged : [...merged, 'Age', age] };
  const tags = hasTags(head.headers) ? tagsOf(head.headers) : stored.tags;
  const policy = storagePolicy({ ...answered, head: seen });
  if (policy === null) {
    const entry = { ...stored, tags, headers: merged, prepared: { browserTtl: null, headers: merged } };
    return { entry, keep: false, visitorHeaders: visitorHeaders({ headers: head.headers, omit: [] }) };
  }
  const headers = storedHeaders({ headers: merged, omit: policy.omit, now });
  const made = entryOf({ ...answered, head: seen }, policy, headers);
  const entry = { ...made, tags, body: stored.body, length: stored.length };
  return { entry, keep: true, visitorHeaders: visitorHeaders({ headers: head.headers, omit: policy.omit }) };
}

/** Whether a 304 refers to another response than the stored one: its strong tag differs. */
export function isOther({ validators }: CacheEntry, headers: readonly string[]): boolean {
  const tag = headerOf(headers, 'etag');
  return tag !== null && validators.etag !== null && opaque(tag) !== opaque(validators.etag);
}

function opaque(tag: string): string {
  return tag.startsWith('W/') ? tag.slice(2) : tag;
}

function announcedLength({ status, headers }: OriginAnswer['head']): number | null {
  if (status === 204) return 0;
  const length = headerOf(headers, 'content-length');
  // An invalid length was rejected when the response head was read.
  return length === null || !Number.isSafeInteger(Number(length)) ? null : Number(length);
}

// Whether a response may be stored, and for how long it is fresh: RFC 9111 §3 and §4.2 for a shared cache,
// RFC 9213 for directives that an origin sends to edges alone, and the settings' mode and lifetimes.
//
// - `standard` stores what the origin allows. An edge lifetime replaces the origin's for statuses that are
// cacheable without one; it never overrides `no-store`, `private` or `no-cache`, since those restrict
// who may get the response.
// - `force` ignores `Cache-Control` and `Expires` for those statuses, except for a lifetime if the
// settings have none. Errors are stored for minutes at most.
// - In both modes a response to a request with `Authorization` is stored only if the origin allows it for
// shared caches: a setting for images must not deliver one visitor's session to another.
// - A response that sets a cookie is never stored in `standard` mode, since frameworks send `s-maxage` and
// `public` together with a session cookie; `force` stores it without the cookie (semantics §5 cache).

export interface ReceivedResponse {
  readonly head: Pick<ResponseHead, 'status' | 'headers'>;
  readonly settings: CacheSettings;
  /** The request had an `Authorization` header. */
  readonly authorized: boolean;
  /** When the request was sent and when the head arrived, milliseconds since the epoch. */
  readonly sentAt: number;
  readonly now: number;
}

interface StoragePolicy {
  readonly lifetime: Lifetime;
  /** Lower-case names of headers that must not be stored (`no-cache="…"`, `private="…"`). */
  readonly omit: readonly string[];
}

/**
 * Statuses that may be stored without an explicit lifetime (RFC 9110 §15.1), except 206, which is never
 * stored.
 */
const HEURISTIC: ReadonlySet<number> = new Set([200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]);
/** Statuses whose caching rules are implemented here (`must-understand`, RFC 9111 §5.2.2.3). */
const UNDERSTOOD: ReadonlySet<number> = new Set([
  ...HEURISTIC,
  ...[201, 202, 302, 303, 307, 400, 401, 402, 403, 406, 409, 415, 422, 429, 500, 502, 503, 504],
]);

/** How to store a response; `null`: it is not stored. */
export function storagePolicy(received: ReceivedResponse): StoragePolicy | null {
  const { head, settings } = received;
  const { status, headers } = head;
  if (status < 200 || status === 206 || status === 304) return null;
  const targeted = parseTargeted(headerOf(headers, 'cdn-cache-control'));
  const directives = targeted ?? parseCacheControl(headerOf(headers, 'cache-control'));
  const forced = settings.mode === 'force' && FORCED_SEC[status] !== undefined;
  if (!forced && isForbidden(directives, status)) return null;
  if (settings.mode !== 'force' && headerOf(headers, 'set-cookie') !== null) return null;
  if (received.authorized && !mayShareAuthorized(directives)) return null;
  const span = spanOf(received, directives, targeted !== null);
  if (span === null) return null;
  const age = ageOnArrival(received);
  const left = span.ownAge ? span.seconds : span.seconds - age;
  return {
    lifetime: {
      storedAt: received.now,
      initialAge: age,
      freshUntil: received.now + Math.max(0, left) * 1_000,
      validateAlways: !forced && directives.noCache === true,
      neverStale: directives.mustRevalidate || directives.proxyRevalidate,
      staleIfSaid: directives.sharedMaxAge !== null,
      staleWhileRevalidate: directives.staleWhileRevalidate ?? 0,
      staleIfError: directives.staleIfError,
    },
    omit: [...namesOf(directives.noCache), ...namesOf(directives.private)],
  };
}

function namesOf(fields: boolean | readonly string[]): readonly string[] {
  return typeof fields === 'boolean' ? [] : fields;
}

function isForbidden(directives: Directives, status: number): boolean {
  if (directives.private === true) return true;
  if (directives.mustUnderstand) return !UNDERSTOOD.has(status);
  return directives.noStore;
}

/** Whether the origin allows sharing the response to a request with `Authorization` (RFC 9111 §3.5). */
function mayShareAuthorized({ public: isPublic, sharedMaxAge, mustRevalidate }: Directives): boolean {
  return isPublic || sharedMaxAge !== null || mustRevalidate;
}

interface Span {
  readonly seconds: number;
  /** The lifetime starts at the arrival here, whatever the response's age. */
  readonly ownAge: boolean;
}

/** How long a response is fresh; `null`: nothing allows storing it. */
function spanOf(received: ReceivedResponse, directives: Directives, targeted: boolean): Span | null {
  const { head, settings } = received;
  const { status } = head;
  const isForcible = FORCED_SEC[status] !== undefined;
  if (settings.edgeTtl !== null && isForcible) {
    const seconds = status >= 400 ? Math.min(settings.edgeTtl, MAX_FORCED_ERROR) : settings.edgeTtl;
    return { seconds, ownAge: true };
  }
  const explicit = directives.sharedMaxAge ?? directives.maxAge ?? (targeted ? null : expiresIn(received));
  if (settings.mode === 'force' && isForcible && (explicit === null || explicit <= 0)) {
    return { seconds: FORCED_SEC[status]!, ownAge: true };
  }
  if (explicit !== null) return { seconds: explicit, ownAge: false };
  if (!directives.public && !HEURISTIC.has(status)) return null;
  return { seconds: heuristic(received), ownAge: false };
}

/** Seconds from `Date` to `Expires`; `null` without `Expires`. An invalid date counts as in the past. */
function expiresIn({ head, now }: ReceivedResponse): number | null {
  const expires = headerOf(head.headers, 'expires');
  if (expires === null) return null;
  const at = parseHttpDate(expires, now);
  return at === null ? 0 : Math.floor((at - dateOf(head, now)) / 1_000);
}

function heuristic({ head, now }: ReceivedResponse): number {
  const modified = headerOf(head.headers, 'last-modified');
  const at = modified === null ? null : parseHttpDate(modified, now);
  if (at === null) return 0;
  const since = (dateOf(head, now) - at) / 1_000;
  return Math.min(MAX_HEURISTIC, Math.max(0, Math.floor(since * HEURISTIC_SHARE)));
}

/** The value of `Date`; the time of arrival if it is missing or invalid. */
function dateOf({ headers }: ReceivedResponse['head'], now: number): number {
  const date = headerOf(headers, 'date');
  return (date === null ? null : parseHttpDate(date, now)) ?? now;
}

/** Age in seconds at arrival (RFC 9111 §4.2.3): the larger of the apparent age and the `Age` header. */
function ageOnArrival({ head, sentAt, now }: ReceivedResponse): number {
  const apparent = Math.max(0, (now - dateOf(head, now)) / 1_000);
  const directives = (parseAge(headerOf(head.headers, 'age')) ?? 0) + (now - sentAt) / 1_000;
  // `Date` has a resolution of one second, so an apparent age below that is noise.
  return Math.max(apparent < 1 ? 0 : Math.floor(apparent), directives);
}

/** The first member of an `Age` value, sent by the nearest cache; `null` if it is not a number. */
function parseAge(value: string | null): number | null {
  if (value === null) return null;
  const comma = value.indexOf(',');
  return parseSeconds((comma < 0 ? value : value.slice(0, comma)).trim());
}
