/** The domains whose last publication failed, with their back-off. Plain data and its transitions. */
import { backoffMs } from '../../base/platform/backoff.ts';
import type { PendingDomain } from '../store/rows.ts';

/** Milliseconds before the second attempt; doubled for each further one, up to `LAST_BACK_OFF`. */
const FIRST_BACK_OFF = 1_000;
export const LAST_BACK_OFF = 60_000;

export interface Failure {
  readonly domain: string;
  /** Failed attempts in a row. */
  readonly attempts: number;
  /** Of the last attempt's error. */
  readonly message: string;
  /** Time of the next attempt by the steady clock, in milliseconds: a wall clock may be set back for hours. */
  readonly notBefore: number;
}

/** By domain id. */
export type Failures = Map<number, Failure>;

/** Stores a failed attempt at `now` (steady clock) and returns the milliseconds until the next one. */
export function addFailure(
  failures: Failures,
  { domain_id, domain }: Pick<PendingDomain, 'domain_id' | 'domain'>,
  { error, now }: { readonly error: unknown; readonly now: number },
): { readonly failure: Failure; readonly backOff: number } {
  const attempts = (failures.get(domain_id)?.attempts ?? 0) + 1;
  const message = error instanceof Error ? error.message : String(error);
  const backOff = backoffMs(attempts - 1, { first: FIRST_BACK_OFF, last: LAST_BACK_OFF });
  const failure = { domain, attempts, message, notBefore: now + backOff };
  failures.set(domain_id, failure);
  return { failure, backOff };
}

/** Whether a domain is still in its back-off at `now` (steady clock). */
export function isBackingOff(failures: Failures, domainId: number, now: number): boolean {
  const failure = failures.get(domainId);
  return failure !== undefined && failure.notBefore > now;
}
