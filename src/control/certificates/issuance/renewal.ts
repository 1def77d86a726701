/**
 * When certificates are renewed: at two thirds of their life, or in the window that the CA names (RFC 9773), which it is
 * asked for.
 */
import type { Store } from '../../store/store.ts';
import { RENEW_AT, RENEW_SPREAD, WINDOW_MS, WINDOWS_AT_ONCE } from '../limits.ts';
import type { Authority, RenewalWindow } from './authority.ts';
import { CaFault } from './ca-transport.ts';

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

// Asks the CA when it wants certificates renewed (RFC 9773): earlier than planned when it revokes many, for instance.

export interface WindowOptions {
  readonly store: Store;
  readonly authority: Authority;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly log: { warn(fields: object, message: string): void };
}

/** Reads renewal windows (RFC 9773) from the CA, those that were read longest ago first. @throws CaFault where the CA is away, StoreFault */
export async function askWindows({ store, authority, clock, log }: WindowOptions): Promise<void> {
  const ask = { before: clock() - WINDOW_MS, limit: WINDOWS_AT_ONCE };
  const due = await store.latest.issuance.windows(ask);
  if (due.length === 0 || !(await authority.hasWindows())) return;
  for (const { certificate_id, domain_id, chain, due_at: planned } of due) {
    const window = await authority.window(chain).catch((error: unknown) => {
      if (!(error instanceof CaFault) || error.isTransient) throw error;
      log.warn({ certificate: certificate_id, err: error }, 'the CA names no renewal window');
      return null;
    });
    const now = clock();
    const due_at = window === null ? planned : timeInWindow(window, planned, Math.random());
    await store.write(async (tx) => {
      if ((await tx.domains.get(domain_id)) === null) return;
      const isSet = await tx.issuance.setWindow({ certificate_id, planned, due_at, window_asked_at: now });
      if (isSet && due_at !== planned)
        await tx.certificates.setRenewal({ id: certificate_id, domain_id, renew_at: due_at });
    });
  }
}
