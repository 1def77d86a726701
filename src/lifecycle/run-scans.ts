/**
 * Scans of new domains, one after the other as the store has them: a domain's creation leaves one behind in its own
 * transaction, and the import takes it away in its own, so that neither a crash nor a second process loses or doubles it.
 */
import type { ScanRow } from '../store/rows.ts';
import type { LifecycleContext } from './context.ts';
import { importRecords } from './import-records.ts';
import { MAX_SCAN_TRIES, SCAN_CLAIM_MS } from './limits.ts';
import { scanRecords } from './scan-records.ts';

/** Scans looked at to find one that nobody else has taken meanwhile. */
const LOOK_AT = 8;

/** Does what may be begun until nothing is left; answers how many. Throws `StoreFault` where the store cannot be asked. */
export async function runScans(life: LifecycleContext): Promise<number> {
  let done = 0;
  while (!life.signal.aborted) {
    const scan = await claimScan(life);
    if (scan === null) break;
    await runScan(life, scan);
    done++;
  }
  return done;
}

async function claimScan({ store, clock }: LifecycleContext): Promise<ScanRow | null> {
  const now = clock();
  for (const { domain_id } of await store.latest.scans.due(now, LOOK_AT)) {
    const until = now + SCAN_CLAIM_MS;
    const claimed = await store.write((tx) => tx.scans.claim(domain_id, { now, until }));
    if (claimed !== null) return claimed;
  }
  return null;
}

/** Never throws: what went wrong is noted, and the scan stays to be begun again until it has been often enough. */
async function runScan(
  life: LifecycleContext,
  { domain_id, account_id, key_id, tries }: ScanRow,
): Promise<void> {
  const { store, dns, signal, clock, note } = life;
  let name: string | null = null;
  try {
    const domain = await store.latest.domains.get(domain_id);
    if (domain === null || domain.dns_mode !== 'managed' || tries > MAX_SCAN_TRIES) {
      await store.write((tx) => tx.scans.remove(domain_id));
      return;
    }
    name = domain.name;
    const found = await scanRecords(name, dns, { signal });
    if (signal.aborted) {
      await store.write((tx) => tx.scans.release(domain_id, clock()));
      return;
    }
    if (found.fault !== null) note({ kind: 'failed', domain: name, error: found.fault });
    const maxRecords = (await life.maxRecords?.(domain)) ?? null;
    const imported = await store.write(async (tx) => {
      const fresh = await tx.domains.get(domain_id);
      if (fresh === null || !(await tx.scans.remove(domain_id))) return null;
      const author = { account_id, key_id };
      const { specialOrigin = () => null } = life;
      return importRecords(tx, fresh, found.records, { author, now: clock(), maxRecords, specialOrigin });
    });
    const count = imported?.records.length ?? 0;
    if (imported !== null) note({ kind: 'scanned', domain: name, imported: count, complete: found.complete });
  } catch (error) {
    note({ kind: 'failed', domain: name, error });
  }
}
