/** Asks the CA when it wants certificates renewed (RFC 9773): earlier than planned when it revokes many, for instance. */
import type { Store } from '../../store/store.ts';
import type { Authority } from './authority.ts';
import { CaFault } from './ca-fault.ts';
import { WINDOW_MS, WINDOWS_AT_ONCE } from './limits.ts';
import { timeInWindow } from './renewal.ts';

export interface WindowOptions {
  readonly store: Store;
  readonly authority: Authority;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly log: { warn(fields: object, message: string): void };
}

/** Asks for the windows that were asked for longest ago. @throws CaFault where the CA is away, StoreFault */
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
