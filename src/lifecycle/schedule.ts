/** When a domain's nameservers are looked at next. Times are milliseconds since the epoch. */
import type { DomainRow } from '../store/rows.ts';
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
  /** Nobody could answer: look again within the hour, whatever the rhythm. */
  readonly failed?: boolean;
}

/**
 * The next check of a managed domain after one at `now`; `null`: none. Pending: every 5 minutes in the first hour,
 * hourly in the first week, then daily. Moved: hourly, so that coming back is noticed. Active: daily.
 */
export function nextCheckAt(
  domain: Pick<DomainRow, 'status' | 'pending_since'>,
  now: number,
  options: ScheduleOptions = {},
): number | null {
  const distance = checkDistance(domain, now);
  if (distance === null) return null;
  return now + (options.failed === true ? Math.min(distance, CHECK_SOON_MS) : distance);
}

function checkDistance(
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
 * A check's time made up to a tenth of its distance sooner, by the domain and the moment: domains that were added
 * together part with every check, so that ten thousand daily ones spread over hours.
 */
export function spreadCheck(
  domainId: number,
  { at, now }: { readonly at: number; readonly now: number },
): number {
  return at - Math.floor(Math.max(0, at - now) * CHECK_SPREAD * lot(domainId, now));
}

/** From 0 to below 1, as if drawn by lot (the finalizer of MurmurHash3), the same for the same domain and moment. */
function lot(domainId: number, now: number): number {
  let bits = Math.imul(domainId, 0x9e3779b1) ^ Math.floor(now / 1_000);
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32;
}

/** Milliseconds until a user may ask for a check again; 0: now. */
export function manualCheckWait(last: DomainRow['last_manual_ns_check_at'], now: number): number {
  return last === null ? 0 : Math.max(0, last + MANUAL_CHECK_MS - now);
}
