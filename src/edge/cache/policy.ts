/**
 * Whether an answer may be kept, and for how long it is fresh: RFC 9111 §3 and §4.2 as a shared cache, RFC 9213 for what
 * an origin says to edges alone, and what a rule's mode and lifetimes change of it.
 *
 * - `standard` keeps what the origin allows. An edge lifetime replaces the origin's on statuses that may be kept without
 *   one; it never turns `no-store`, `private` or `no-cache` around, since those are about whose the answer is.
 * - `force` looks at neither `Cache-Control` nor `Expires` on those statuses, other than for a lifetime where the rule has
 *   none. Errors are kept for minutes at most.
 * - In both, an answer that sets a cookie, or that came for a request with `Authorization`, is kept only when the origin
 *   says to shared caches that it may be: a session must not go to a stranger because of a rule for pictures.
 */
import type { CacheDirective } from '../../evaluator/index.ts';
import { headerOf, type ResponseHead } from '../response.ts';
import { type Directives, parseCacheControl, parseSeconds, parseTargeted } from './directives.ts';
import type { Lifetime } from './entry.ts';
import { parseHttpDate } from './http-date.ts';
import { FORCED_SEC, HEURISTIC_SHARE, MAX_FORCED_ERROR, MAX_HEURISTIC } from './limits.ts';

export interface Received {
  readonly head: Pick<ResponseHead, 'status' | 'headers'>;
  readonly directive: CacheDirective;
  /** The request carried `Authorization`. */
  readonly authorized: boolean;
  /** When the request went out and when the head came, milliseconds since the epoch. */
  readonly sentAt: number;
  readonly now: number;
}

export interface Plan {
  readonly life: Lifetime;
  /** Lower-case names of headers that are not to be kept (`no-cache="…"`, `private="…"`). */
  readonly omit: readonly string[];
}

/** Statuses that may be kept without an explicit lifetime (RFC 9110 §15.1), without 206, which is never kept. */
const HEURISTIC: ReadonlySet<number> = new Set([200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]);
/** Statuses whose meaning for caches is implemented here (`must-understand`, RFC 9111 §5.2.2.3). */
const UNDERSTOOD: ReadonlySet<number> = new Set([
  ...HEURISTIC,
  ...[201, 202, 302, 303, 307, 400, 401, 402, 403, 406, 409, 415, 422, 429, 500, 502, 503, 504],
]);

/** The plan to keep an answer by; `null`: it is not kept. */
export function planFor(received: Received): Plan | null {
  const { head, directive } = received;
  const { status, headers } = head;
  if (status < 200 || status === 206 || status === 304) return null;
  const targeted = parseTargeted(headerOf(headers, 'cdn-cache-control'));
  const said = targeted ?? parseCacheControl(headerOf(headers, 'cache-control'));
  const forced = directive.mode === 'force' && FORCED_SEC[status] !== undefined;
  if (!forced && isForbidden(said, status)) return null;
  if (!maySharePrivate(received, said, targeted !== null)) return null;
  const span = spanOf(received, said, targeted !== null);
  if (span === null) return null;
  const age = ageOnArrival(received);
  const left = span.ownAge ? span.seconds : span.seconds - age;
  return {
    life: {
      storedAt: received.now,
      initialAge: age,
      freshUntil: received.now + Math.max(0, left) * 1_000,
      validateAlways: !forced && said.noCache === true,
      neverStale: said.mustRevalidate || said.proxyRevalidate,
      staleIfSaid: said.sharedMaxAge !== null,
      staleWhileRevalidate: said.staleWhileRevalidate ?? 0,
      staleIfError: said.staleIfError,
    },
    omit: [...namesOf(said.noCache), ...namesOf(said.private)],
  };
}

function namesOf(fields: boolean | readonly string[]): readonly string[] {
  return typeof fields === 'boolean' ? [] : fields;
}

function isForbidden(said: Directives, status: number): boolean {
  if (said.private === true) return true;
  if (said.mustUnderstand) return !UNDERSTOOD.has(status);
  return said.noStore;
}

/** Whether the origin allows sharing an answer that looks like one visitor's own (RFC 9111 §3.5; cookies: ours). */
function maySharePrivate({ head, authorized }: Received, said: Directives, targeted: boolean): boolean {
  const allowed = said.public || said.sharedMaxAge !== null;
  if (authorized && !allowed && !said.mustRevalidate) return false;
  return headerOf(head.headers, 'set-cookie') === null || allowed || targeted;
}

interface Span {
  readonly seconds: number;
  /** Counted from its arrival here, whatever its age was. */
  readonly ownAge: boolean;
}

/** How long an answer is fresh; `null`: nothing says that it may be kept. */
function spanOf(received: Received, said: Directives, targeted: boolean): Span | null {
  const { head, directive } = received;
  const { status } = head;
  const ruled = FORCED_SEC[status] !== undefined;
  if (directive.edgeTtl !== null && ruled) {
    const seconds = status >= 400 ? Math.min(directive.edgeTtl, MAX_FORCED_ERROR) : directive.edgeTtl;
    return { seconds, ownAge: true };
  }
  const explicit = said.sharedMaxAge ?? said.maxAge ?? (targeted ? null : expiresIn(received));
  if (directive.mode === 'force' && ruled && (explicit === null || explicit <= 0)) {
    return { seconds: FORCED_SEC[status]!, ownAge: true };
  }
  if (explicit !== null) return { seconds: explicit, ownAge: false };
  if (!said.public && !HEURISTIC.has(status)) return null;
  return { seconds: heuristic(received), ownAge: false };
}

/** Seconds from `Date` to `Expires`; `null` without `Expires`. One that is no date lies in the past. */
function expiresIn({ head, now }: Received): number | null {
  const expires = headerOf(head.headers, 'expires');
  if (expires === null) return null;
  const at = parseHttpDate(expires, now);
  return at === null ? 0 : Math.floor((at - dateOf(head, now)) / 1_000);
}

function heuristic({ head, now }: Received): number {
  const modified = headerOf(head.headers, 'last-modified');
  const at = modified === null ? null : parseHttpDate(modified, now);
  if (at === null) return 0;
  const since = (dateOf(head, now) - at) / 1_000;
  return Math.min(MAX_HEURISTIC, Math.max(0, Math.floor(since * HEURISTIC_SHARE)));
}

/** When the origin made an answer; where it does not say so in a way that can be read, when it came. */
function dateOf({ headers }: Received['head'], now: number): number {
  const date = headerOf(headers, 'date');
  return (date === null ? null : parseHttpDate(date, now)) ?? now;
}

/** Seconds (RFC 9111 §4.2.3): the larger of what the clocks say and what the caches before this one say. */
function ageOnArrival({ head, sentAt, now }: Received): number {
  const apparent = Math.max(0, (now - dateOf(head, now)) / 1_000);
  const said = (parseAge(headerOf(head.headers, 'age')) ?? 0) + (now - sentAt) / 1_000;
  // The resolution of `Date` is a second, so an apparent age below one says nothing.
  return Math.max(apparent < 1 ? 0 : Math.floor(apparent), said);
}

/** The first member of an `Age` value, for it is sent by the cache nearest to here; `null` where it is no number. */
function parseAge(value: string | null): number | null {
  if (value === null) return null;
  const comma = value.indexOf(',');
  return parseSeconds((comma < 0 ? value : value.slice(0, comma)).trim());
}
