/**
 * The scheduler of the lifecycle: checks the delegation of due domains, ends grace periods, removes lapsed claims and
 * scans the records of new domains. In: a store, a DNS client and the nameserver sets. Out: changes of status, each with
 * its audit entry and, if the edge must change, an outbox row. `state.ts` defines what an event means, `schedule.ts`
 * when a domain is due, `requests.ts` what an owner can request besides. Several processes may run it on one database:
 * a process claims a domain by moving its next check ahead before the check starts.
 */
import { createSemaphore } from '../../base/platform/semaphore.ts';
import type { DomainRow } from '../store/rows.ts';
import { SERVICE } from '../store/store.ts';
import { applyEvent } from './apply-event.ts';
import { checkDelegation } from './check-delegation.ts';
import { removeLapsed } from './claims.ts';
import type { LifecycleContext, LifecycleOptions } from './context.ts';
import { CHECK_BATCH, CHECK_CONCURRENCY, CLAIM_MS, POLL_MS, SCANS_AT_ONCE } from './limits.ts';
import { runScans } from './run-scans.ts';
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
