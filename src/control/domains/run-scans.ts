/**
 * Runs the scans of new domains that the store lists, one after the other. The transaction that creates a domain stores
 * its scan, and the transaction that imports the records removes it, so neither a crash nor a second process loses or
 * repeats one.
 */
import type { ScanRow } from '../store/rows.ts';
import type { LifecycleContext } from './context.ts';
import { importRecords } from './import-records.ts';
import { MAX_SCAN_TRIES, SCAN_CLAIM_MS } from './limits.ts';
import { scanRecords } from './scan-records.ts';

/** Due scans that one query returns, of which the first that no other process has claimed is run. */
const MAX_CANDIDATES = 8;

/** Runs due scans until none is left. Returns how many. @throws StoreFault when the store fails */
export async function runScans(context: LifecycleContext): Promise<number> {
  let done = 0;
  while (!context.signal.aborted) {
    const scan = await claimScan(context);
    if (scan === null) break;
    await runScan(context, scan);
    done++;
  }
  return done;
}

/** Reserves a due scan for this process; `null`: none is due. */
async function claimScan({ store, clock }: LifecycleContext): Promise<ScanRow | null> {
  const now = clock();
  for (const { domain_id } of await store.latest.scans.due(now, MAX_CANDIDATES)) {
    const until = now + SCAN_CLAIM_MS;
    const claimed = await store.write((tx) => tx.scans.claim(domain_id, { now, until }));
    if (claimed !== null) return claimed;
  }
  return null;
}

/** Never throws: a failure is noted, and the scan stays due until it was started `MAX_SCAN_TRIES` times. */
async function runScan(
  context: LifecycleContext,
  { domain_id, account_id, key_id, tries }: ScanRow,
): Promise<void> {
  const { store, dns, signal, clock, note } = context;
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
    const maxRecords = (await context.maxRecords?.(domain)) ?? null;
    const imported = await store.write(async (tx) => {
      const fresh = await tx.domains.get(domain_id);
      if (fresh === null || !(await tx.scans.remove(domain_id))) return null;
      const author = { account_id, key_id };
      const { specialOrigin = () => null } = context;
      return importRecords(tx, fresh, found.records, { author, now: clock(), maxRecords, specialOrigin });
    });
    const count = imported?.records.length ?? 0;
    if (imported !== null) note({ kind: 'scanned', domain: name, imported: count, complete: found.complete });
  } catch (error) {
    note({ kind: 'failed', domain: name, error });
  }
}
