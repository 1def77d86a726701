/**
 * Whether a response may be stored, and for how long it is fresh: RFC 9111 §3 and §4.2 for a shared cache,
 * RFC 9213 for directives that an origin sends to edges alone, and the settings' mode and lifetimes.
 *
 * - `standard` stores what the origin allows. An edge lifetime replaces the origin's for statuses that are
 *   cacheable without one; it never overrides `no-store`, `private` or `no-cache`, since those restrict
 *   who may get the response.
 * - `force` ignores `Cache-Control` and `Expires` for those statuses, except for a lifetime if the
 *   settings have none. Errors are stored for minutes at most.
 * - In both modes a response to a request with `Authorization` is stored only if the origin allows it for
 *   shared caches: a setting for images must not deliver one visitor's session to another.
 * - A response that sets a cookie is never stored in `standard` mode, since frameworks send `s-maxage` and
 *   `public` together with a session cookie; `force` stores it without the cookie (semantics §5 cache).
 */
import {
  type Directives,
  parseCacheControl,
  parseSeconds,
  parseTargeted,
} from '../../base/http/cache-control.ts';
import { parseHttpDate } from '../../base/http/http-date.ts';
import { headerOf, type ResponseHead } from '../../base/http/response.ts';
import type { Lifetime } from './entry.ts';
import { FORCED_SEC, HEURISTIC_SHARE, MAX_FORCED_ERROR, MAX_HEURISTIC } from './limits.ts';
import type { CacheSettings } from './request.ts';

export interface ReceivedResponse {
  readonly head: Pick<ResponseHead, 'status' | 'headers'>;
  readonly settings: CacheSettings;
  /** The request had an `Authorization` header. */
  readonly authorized: boolean;
  /** When the request was sent and when the head arrived, milliseconds since the epoch. */
  readonly sentAt: number;
  readonly now: number;
}

export interface StoragePolicy {
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
