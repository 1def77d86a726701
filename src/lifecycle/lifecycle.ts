/**
 * The lifecycle room watches over domains from the outside: who they are delegated to, whether their owner may speak
 * for them, what records they bring along. In: a store, a way into the DNS and the nameserver sets. Out: changes of
 * status, each with its audit entry and, where the edge must know, work for the publisher. What an event means is
 * `state.ts`; when to look is `schedule.ts`; this file asks and writes. Several processes may run it on one database:
 * a domain is claimed by moving its next check before the check starts.
 */
import { createSemaphore } from '../platform/semaphore.ts';
import type { Author, DomainRow } from '../store/rows.ts';
import { SERVICE } from '../store/store.ts';
import { type Applied, applyEvent } from './apply-event.ts';
import { checkChallenge, newChallenge } from './challenge.ts';
import { checkDelegation, type Delegation } from './check-delegation.ts';
import { removeLapsed } from './claims.ts';
import type { LifecycleContext, LifecycleOptions } from './context.ts';
import { CHECK_BATCH, CHECK_CONCURRENCY, CLAIM_MS, POLL_MS, SCANS_AT_ONCE } from './limits.ts';
import { runScans } from './run-scans.ts';
import { manualCheckWait } from './schedule.ts';
import { type LifecycleEvent, type Proof, takesChallenge } from './state.ts';

/** The answer to what a user asked for; `null`: the domain is gone. */
export type LifecycleOutcome = Applied | null;

export type ManualCheck =
  /** Asked too often; milliseconds until it may be asked again. */
  | { readonly ok: false; readonly code: 'too_soon'; readonly waitMs: number }
  /** The nameservers of an external domain say nothing about it. */
  | { readonly ok: false; readonly code: 'not_managed' }
  | { readonly ok: true; readonly delegation: Delegation; readonly domain: DomainRow };

export interface Lifecycle {
  /** Looks for due domains from now on. */
  start(): void;
  /** Ends what is under way and waits for it. */
  stop(): Promise<void>;
  /** Runs every check that is due now; answers how many. */
  runDue(): Promise<number>;
  /** The nameserver check a user asks for, at most one an hour. `null`: the domain is gone. */
  checkNow(domainId: number, author: Author): Promise<ManualCheck | null>;
  /** Looks for the TXT record of a domain that has one to publish; a value that has expired is replaced. */
  verify(domainId: number, author: Author): Promise<LifecycleOutcome>;
  /** Brings a disabled domain back: `active` when the proof still holds. */
  enable(domainId: number, author: Author): Promise<LifecycleOutcome>;
  /** Any event that needs no look at the DNS: `disable`, `ban`, `suspend`, `resume`, `mode`. */
  apply(domainId: number, event: LifecycleEvent, author: Author): Promise<LifecycleOutcome>;
  /** Lifts a ban: `active` when the proof still holds. */
  unban(domainId: number, author: Author): Promise<LifecycleOutcome>;
  /** Removes domains whose name nobody has proved for 14 days, a bounded number of them; answers how many. */
  removeLapsed(): Promise<number>;
  /**
   * Does the scans of new domains that are still to be done (`scans.put` of the store): imports the records a managed
   * domain has where it is served now. Answers how many were done. One that a crash cut short is begun again at most
   * `SCAN_CLAIM_MS` later, by whichever process looks first, and its records are imported once.
   */
  runScans(): Promise<number>;
}

/** Makes the room's door. Nothing runs by itself before `start`. */
export function createLifecycle(options: LifecycleOptions): Lifecycle {
  const stopping = new AbortController();
  const { clock = Date.now, note = () => {} } = options;
  const life: LifecycleContext = { ...options, clock, note, signal: stopping.signal };
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
      await runDue(life);
      if (!stopping.signal.aborted) await removeLapsed(life);
    } catch (error) {
      note({ kind: 'failed', domain: null, error });
    }
    // Not waited for: a scan takes half a minute.
    if (!stopping.signal.aborted) {
      track(scanGate(() => runScans(life))).catch((error: unknown) => {
        note({ kind: 'failed', domain: null, error });
      });
    }
    // Spread, so that processes started together do not ask the database together for ever.
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
    runDue: () => track(runDue(life)),
    checkNow: (domainId, author) => track(checkNow(life, domainId, author)),
    verify: (domainId, author) => track(verify(life, domainId, author)),
    enable: (domainId, author) => track(settle(life, domainId, { kind: 'enable', author })),
    unban: (domainId, author) => track(settle(life, domainId, { kind: 'unban', author })),
    apply: (domainId, event, author) => track(write(life, domainId, event, author)),
    removeLapsed: () => track(removeLapsed(life)),
    runScans: () => track(scanGate(() => runScans(life))),
  };
}

/** Applies an event to the domain as it is now. */
async function write(
  life: LifecycleContext,
  domainId: number,
  event: LifecycleEvent,
  author: Author,
): Promise<LifecycleOutcome> {
  const result = await life.store.write(async (tx) => {
    const before = await tx.domains.get(domainId);
    if (before === null) return null;
    return {
      from: before.status,
      applied: await applyEvent(tx, before, event, { author, now: life.clock() }),
    };
  });
  if (result === null) return null;
  const { from, applied } = result;
  noteChange(life, from, applied);
  return applied;
}

function noteChange(life: LifecycleContext, from: string, { domain }: Applied): void {
  if (from !== domain.status) life.note({ kind: 'changed', domain: domain.name, from, to: domain.status });
}

/** Takes what is due in batches until nothing is, a bounded number at once. */
async function runDue(life: LifecycleContext): Promise<number> {
  let checked = 0;
  while (!life.signal.aborted) {
    const claimed = await claimDue(life);
    const queue = [...claimed];
    const work = async (): Promise<void> => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        if (life.signal.aborted) return;
        await runOne(life, next);
        checked++;
      }
    };
    await Promise.all(Array.from({ length: CHECK_CONCURRENCY }, work));
    if (claimed.length < CHECK_BATCH) break;
  }
  return checked;
}

/** Moves the next check of due domains ahead, so that no other process checks them and a crash only delays them. */
async function claimDue(life: LifecycleContext): Promise<readonly DomainRow[]> {
  const now = life.clock();
  const due = await life.store.latest.domains.due(now, CHECK_BATCH);
  if (due.length === 0) return [];
  // In one order everywhere, so that two processes cannot wait for each other.
  const ids = due.map(({ id }) => id).sort((left, right) => left - right);
  return life.store.write(async (tx) => {
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

async function runOne(life: LifecycleContext, domain: DomainRow): Promise<void> {
  try {
    if (domain.dns_mode === 'managed') await check(life, domain, SERVICE);
    else await write(life, domain.id, { kind: 'due' }, SERVICE);
  } catch (error) {
    life.note({ kind: 'failed', domain: domain.name, error });
  }
}

async function check(
  life: LifecycleContext,
  domain: DomainRow,
  author: Author,
): Promise<{ readonly delegation: Delegation; readonly outcome: LifecycleOutcome }> {
  const delegation = await checkDelegation(domain.name, life.sets, life.dns, { signal: life.signal });
  // A check cut short by our own stop says nothing, not even when to look again.
  if (life.signal.aborted) return { delegation, outcome: null };
  life.note({ kind: 'checked', domain: domain.name, delegation });
  const outcome = await write(life, domain.id, { kind: 'checked', result: delegation.state }, author);
  return { delegation, outcome };
}

async function checkNow(
  life: LifecycleContext,
  domainId: number,
  author: Author,
): Promise<ManualCheck | null> {
  const now = life.clock();
  const taken = await life.store.write<ManualCheck | DomainRow | null>(async (tx) => {
    const domain = await tx.domains.get(domainId);
    if (domain === null) return null;
    if (domain.dns_mode !== 'managed') return { ok: false, code: 'not_managed' };
    const waitMs = manualCheckWait(domain.last_manual_ns_check_at, now);
    if (waitMs > 0) return { ok: false, code: 'too_soon', waitMs };
    return tx.domains.update(domainId, { last_manual_ns_check_at: now });
  });
  if (taken === null || 'ok' in taken) return taken;
  const { delegation, outcome } = await check(life, taken, author);
  return { ok: true, delegation, domain: outcome?.domain ?? taken };
}

/** Whether the name may be used, asked afresh. */
async function prove(life: LifecycleContext, domain: DomainRow): Promise<Proof> {
  if (domain.dns_mode === 'managed') {
    const { state } = await checkDelegation(domain.name, life.sets, life.dns, { signal: life.signal });
    return state === 'unreachable' ? 'unknown' : state === 'delegated' ? 'holds' : 'absent';
  }
  return proveByChallenge(life, domain);
}

async function proveByChallenge(life: LifecycleContext, domain: DomainRow): Promise<Proof> {
  const { state } = await checkChallenge(domain.name, domain.verification_token, life.dns);
  return state === 'unreachable' ? 'unknown' : state === 'verified' ? 'holds' : 'absent';
}

async function verify(life: LifecycleContext, domainId: number, author: Author): Promise<LifecycleOutcome> {
  const domain = await life.store.latest.domains.get(domainId);
  if (domain === null) return null;
  const due = takesChallenge(domain) && domain.status !== 'disabled' && domain.status !== 'banned';
  const proof = due ? await proveByChallenge(life, domain) : 'absent';
  const now = life.clock();
  const result = await life.store.write(async (tx) => {
    const fresh = await tx.domains.get(domainId);
    if (fresh === null) return null;
    // The proof is about the value that was looked for; another one has to be looked for again.
    const same = fresh.verification_token === domain.verification_token;
    const event: LifecycleEvent = { kind: 'verify', proof: same ? proof : 'unknown' };
    const applied = await applyEvent(tx, fresh, event, { author, now });
    const { transition } = applied;
    if (transition.ok || transition.code !== 'expired') return { from: fresh.status, applied };
    const renewal: LifecycleEvent = { kind: 'challenge', challenge: newChallenge(now) };
    const renewed = await applyEvent(tx, fresh, renewal, { author, now });
    return { from: fresh.status, applied: { transition, domain: renewed.domain } };
  });
  if (result === null) return null;
  noteChange(life, result.from, result.applied);
  return result.applied;
}

async function settle(
  life: LifecycleContext,
  domainId: number,
  { kind, author }: { readonly kind: 'enable' | 'unban'; readonly author: Author },
): Promise<LifecycleOutcome> {
  const domain = await life.store.latest.domains.get(domainId);
  if (domain === null) return null;
  const waits = domain.status === (kind === 'enable' ? 'disabled' : 'banned');
  const proof = waits ? await prove(life, domain) : 'unknown';
  return write(life, domainId, { kind, proof, challenge: newChallenge(life.clock()) }, author);
}
