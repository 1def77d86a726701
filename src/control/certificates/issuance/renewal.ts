/** When certificates are renewed: at two thirds of their life, or in the window that the CA names (RFC 9773). Pure. */
import type { RenewalWindow } from './authority.ts';
import { RENEW_AT, RENEW_SPREAD } from './limits.ts';

/** The times of a certificate, milliseconds since the epoch. */
export interface Life {
  readonly not_before: number;
  readonly not_after: number;
}

/** The time of the renewal without a window. `random`: 0 to 1, so that certificates of one day have different times. */
export function renewalTime({ not_before, not_after }: Life, random: number): number {
  const life = not_after - not_before;
  return Math.round(not_before + life * (RENEW_AT - RENEW_SPREAD * random));
}

/** The time in a window: the one planned before where it lies in it, else a random one (RFC 9773 §4.2). */
export function timeInWindow({ start, end }: RenewalWindow, planned: number, random: number): number {
  return planned >= start && planned <= end ? planned : Math.round(start + (end - start) * random);
}
