/** When a domain's delegation is checked next. Times are milliseconds since the epoch. */
import type { DomainRow } from '../store/tables/domains.ts';
import {
  CHECK_FIRST_FOR_MS,
  CHECK_FIRST_MS,
  CHECK_LATE_MS,
  CHECK_SOON_FOR_MS,
  CHECK_SOON_MS,
  CHECK_SPREAD,
  MANUAL_CHECK_MS,
} from './limits.ts';

export interface ScheduleOptions {
  /** The check failed: the next one comes within the hour, whatever the interval. */
  readonly failed?: boolean;
}

/**
 * The next check of a managed domain after one at `now`; `null`: none. Pending: every 5 minutes in the first hour,
 * hourly in the first week, then daily. Moved: hourly, so that a restored delegation is soon found. Active: daily.
 */
export function nextCheckAt(
  domain: Pick<DomainRow, 'status' | 'pending_since'>,
  now: number,
  options: ScheduleOptions = {},
): number | null {
  const interval = checkInterval(domain, now);
  if (interval === null) return null;
  return now + (options.failed === true ? Math.min(interval, CHECK_SOON_MS) : interval);
}

function checkInterval(
  { status, pending_since }: Pick<DomainRow, 'status' | 'pending_since'>,
  now: number,
): number | null {
  if (status === 'active') return CHECK_LATE_MS;
  if (status === 'moved') return CHECK_SOON_MS;
  if (status !== 'pending') return null;
  const age = now - (pending_since ?? now);
  if (age < CHECK_FIRST_FOR_MS) return CHECK_FIRST_MS;
  return age < CHECK_SOON_FOR_MS ? CHECK_SOON_MS : CHECK_LATE_MS;
}

/**
 * Moves a check up to a tenth of its interval earlier, by a hash of domain and time: domains that were added together
 * drift apart with every check, so ten thousand daily checks spread over hours.
 */
export function spreadCheck(
  domainId: number,
  { at, now }: { readonly at: number; readonly now: number },
): number {
  return at - Math.floor(Math.max(0, at - now) * CHECK_SPREAD * jitter(domainId, now));
}

/** A pseudo-random number from 0 to below 1 (the finalizer of MurmurHash3), the same for one domain and second. */
function jitter(domainId: number, now: number): number {
  let bits = Math.imul(domainId, 0x9e3779b1) ^ Math.floor(now / 1_000);
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32;
}

/** Milliseconds until the owner may request another check; 0: now. */
export function manualCheckWait(last: DomainRow['last_manual_ns_check_at'], now: number): number {
  return last === null ? 0 : Math.max(0, last + MANUAL_CHECK_MS - now);
}
