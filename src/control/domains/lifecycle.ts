/**
 * The scheduler of the lifecycle: checks the delegation of due domains, ends grace periods, removes lapsed claims and
 * scans the records of new domains. In: a store, a DNS client and the nameserver sets. Out: changes of status, each with
 * its audit entry and, if the edge must change, an outbox row. `state.ts` defines what an event means, `schedule.ts`
 * when a domain is due, `requests.ts` what an owner can request besides. Several processes may run it on one database:
 * a process claims a domain by moving its next check ahead before the check starts.
 */
import type { SpecialJudge } from '../../base/addresses/special-addresses.ts';
import { createSemaphore } from '../../base/platform/tasks.ts';
import { parseRecord } from '../../rules/model/parse.ts';
import { absoluteName } from '../../rules/model/record-name.ts';
import type { ZoneRecord } from '../dns/zone-file/parse.ts';
import type { NewRecord } from '../store/repositories/records.ts';
import type { WriteTransaction } from '../store/store.ts';
import { type Author, SERVICE } from '../store/tables/accounts.ts';
import type { DomainRow, ScanRow } from '../store/tables/domains.ts';
import type { RecordRow } from '../store/tables/rules.ts';
import { applyEvent } from './apply-event.ts';
import { checkDelegation } from './check-delegation.ts';
import { removeLapsed } from './claims.ts';
import type { LifecycleContext, LifecycleOptions } from './context.ts';
import {
  CHECK_BATCH,
  CHECK_CONCURRENCY,
  CLAIM_MS,
  MAX_SCAN_TRIES,
  POLL_MS,
  SCAN_CLAIM_MS,
  SCANS_AT_ONCE,
} from './limits.ts';
import { scanRecords } from './scan-records.ts';
import type { LifecycleEvent } from './state.ts';

export interface Lifecycle {
  /** Starts polling for due domains. */
  start(): void;
  /** Stops polling, aborts the checks in progress and resolves when they have ended. */
  stop(): Promise<void>;
  /** Runs every check that is due now. Returns how many. Throws `StoreFault`. */
  runDue(): Promise<number>;
  /** Removes domains whose name was unproved for 14 days, `LAPSED_AT_ONCE` at most. Returns how many. */
  removeLapsed(): Promise<number>;
  /**
   * Runs the scans of new domains that the store lists (`scans.put`): each imports the records that a managed domain has
   * at its current DNS host. Returns how many ran. A scan that a crash interrupted starts again at most `SCAN_CLAIM_MS`
   * later, in any process, and its records are imported once.
   */
  runScans(): Promise<number>;
}

/** Creates the scheduler. Nothing runs before `start` or a call. */
export function createLifecycle(options: LifecycleOptions): Lifecycle {
  const stopping = new AbortController();
  const { clock = Date.now, note = () => {} } = options;
  const context: LifecycleContext = { ...options, clock, note, signal: stopping.signal };
  const pollMs = options.pollMs ?? POLL_MS;
  const running = new Set<Promise<unknown>>();
  const scanGate = createSemaphore(SCANS_AT_ONCE);
  let timer: NodeJS.Timeout | null = null;

  function track<T>(work: Promise<T>): Promise<T> {
    const settled: Promise<unknown> = work.then(
      () => running.delete(settled),
      () => running.delete(settled),
    );
    running.add(settled);
    return work;
  }
  const poll = async (): Promise<void> => {
    try {
      await runDue(context);
      if (!stopping.signal.aborted) await removeLapsed(context);
    } catch (error) {
      note({ kind: 'failed', domain: null, error });
    }
    // Not awaited: a scan takes up to 30 s, and checks must not wait for it.
    if (!stopping.signal.aborted) {
      track(scanGate.run(() => runScans(context))).catch((error: unknown) => {
        note({ kind: 'failed', domain: null, error });
      });
    }
    // Jitter, so that processes started together do not poll the database at the same moments.
    if (!stopping.signal.aborted)
      timer = setTimeout(() => track(poll()), pollMs * (0.75 + Math.random() / 2));
  };

  return {
    start: () => {
      timer ??= setTimeout(() => track(poll()), 0);
    },
    async stop() {
      stopping.abort();
      if (timer !== null) clearTimeout(timer);
      while (running.size > 0) await Promise.all(running);
    },
    runDue: () => track(runDue(context)),
    removeLapsed: () => track(removeLapsed(context)),
    runScans: () => track(scanGate.run(() => runScans(context))),
  };
}

/** Applies an event of the scheduler to the domain as it is now; a domain that was removed meanwhile is skipped. */
async function applyToDomain(
  { store, clock, note }: LifecycleContext,
  { id, name }: DomainRow,
  event: LifecycleEvent,
): Promise<void> {
  const change = await store.write(async (tx) => {
    const before = await tx.domains.get(id);
    if (before === null) return null;
    const { domain } = await applyEvent(tx, before, event, { author: SERVICE, now: clock() });
    return { from: before.status, to: domain.status };
  });
  if (change !== null && change.from !== change.to) note({ kind: 'changed', domain: name, ...change });
}

/** Checks due domains in batches until none is due, `CHECK_CONCURRENCY` at once. */
async function runDue(context: LifecycleContext): Promise<number> {
  let checked = 0;
  while (!context.signal.aborted) {
    const claimed = await claimDue(context);
    const queue = [...claimed];
    const work = async (): Promise<void> => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        if (context.signal.aborted) return;
        await checkDue(context, next);
        checked++;
      }
    };
    await Promise.all(Array.from({ length: CHECK_CONCURRENCY }, work));
    if (claimed.length < CHECK_BATCH) break;
  }
  return checked;
}

/** Moves the next check of due domains ahead: no other process checks them, and a crash only delays their check. */
async function claimDue(context: LifecycleContext): Promise<readonly DomainRow[]> {
  const now = context.clock();
  const due = await context.store.latest.domains.due(now, CHECK_BATCH);
  if (due.length === 0) return [];
  // INVARIANT: rows are locked by rising id everywhere, so that two processes cannot deadlock.
  const ids = due.map(({ id }) => id).sort((left, right) => left - right);
  return context.store.write(async (tx) => {
    const claimed: DomainRow[] = [];
    for (const id of ids) {
      const domain = await tx.domains.get(id);
      if (domain === null || domain.next_check_at === null || domain.next_check_at > now) continue;
      await tx.domains.update(id, { next_check_at: now + CLAIM_MS });
      claimed.push(domain);
    }
    return claimed;
  });
}

/** Never throws: a failure is reported through `note`, and the claim lets the check run again. */
async function checkDue(context: LifecycleContext, domain: DomainRow): Promise<void> {
  try {
    if (domain.dns_mode === 'managed') await checkNameservers(context, domain);
    else await applyToDomain(context, domain, { kind: 'due' });
  } catch (error) {
    context.note({ kind: 'failed', domain: domain.name, error });
  }
}

async function checkNameservers(context: LifecycleContext, domain: DomainRow): Promise<void> {
  const { sets, dns, signal } = context;
  const delegation = await checkDelegation(domain.name, sets, dns, { signal });
  // A check that `stop` aborted has no result, not even a time for the next check.
  if (signal.aborted) return;
  context.note({ kind: 'checked', domain: domain.name, delegation });
  await applyToDomain(context, domain, { kind: 'checked', result: delegation.state });
}

// Runs the scans of new domains that the store lists, one after the other. The transaction that creates a domain stores
// its scan, and the transaction that imports the records removes it, so neither a crash nor a second process loses or
// repeats one.

/** Due scans that one query returns, of which the first that no other process has claimed is run. */
const MAX_CANDIDATES = 8;

/** Runs due scans until none is left. Returns how many. @throws StoreFault when the store fails */
async function runScans(context: LifecycleContext): Promise<number> {
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

// Imports the records that a scan found into a domain, without changing any record the domain has.

export interface ImportOptions {
  readonly author: Author;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Records the domain may hold in all; `null`: no limit. */
  readonly maxRecords: number | null;
  /** Judges whether an address may be an origin. */
  readonly specialOrigin: SpecialJudge;
}

export interface Imported {
  readonly records: readonly RecordRow[];
  /** Records not imported: name and type exist, the name has a CNAME, or the record limit is reached. */
  readonly skipped: number;
}

/**
 * Inserts the records whose name and type the domain does not have; records that the customer wrote during the scan take
 * precedence. Appends one audit entry and one outbox row when it inserted any.
 */
async function importRecords(
  tx: WriteTransaction,
  domain: DomainRow,
  found: readonly ZoneRecord[],
  { author, now, maxRecords, specialOrigin }: ImportOptions,
): Promise<Imported> {
  const existing = await tx.records.list(domain.id);
  const room = maxRecords === null ? found.length : Math.max(0, maxRecords - existing.length);
  const wanted = withoutTaken(domain.name, existing, found).slice(0, room);
  const rows: NewRecord[] = [];
  for (const record of wanted) {
    // A private address cannot be an origin; unproxied, the record still works for clients that can reach it.
    const proxied = record.proxied && specialOrigin(record.destination) === null;
    const parsed = parseRecord({ id: 1, ...record, proxied }, domain.name);
    if (!parsed.ok) continue;
    const { id: _, ...fields } = parsed.record;
    rows.push({ ...fields, domain_id: domain.id, created_at: now, updated_at: now });
  }
  if (rows.length === 0) return { records: [], skipped: found.length };
  const records = await tx.records.insert(rows);
  const about = { ...author, domain_id: domain.id, domain: domain.name, at: now };
  const after_json = JSON.stringify(
    records.map(({ name, type, destination }) => ({ name, type, destination })),
  );
  await tx.audit.append({ ...about, action: 'record.import', subject: '', before_json: null, after_json });
  await tx.outbox.append({
    ...about,
    reason: records.length === 1 ? '1 record was imported' : `${records.length} records were imported`,
  });
  return { records, skipped: found.length - records.length };
}

/** The found records whose name and type are free, and that conflict with no CNAME (RFC 1034 §3.6.2). */
function withoutTaken(
  domain: string,
  existing: readonly RecordRow[],
  found: readonly ZoneRecord[],
): readonly ZoneRecord[] {
  const names = new Set<string>();
  const aliases = new Set<string>();
  const pairs = new Set<string>();
  for (const { name, type } of existing) {
    const absolute = absoluteName(name, domain) ?? name;
    names.add(absolute);
    if (type === 'CNAME') aliases.add(absolute);
    pairs.add(`${type} ${absolute}`);
  }
  return found.filter(({ name, type }) => {
    const absolute = absoluteName(name, domain) ?? name;
    if (aliases.has(absolute) || (type === 'CNAME' && names.has(absolute))) return false;
    return !pairs.has(`${type} ${absolute}`);
  });
}
