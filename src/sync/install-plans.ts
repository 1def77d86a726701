/**
 * Puts in place what the manifest says, name by name: fetch the plan, check its digest, try it out, write it to the disk,
 * serve it, tell the control plane. Until all of that is done, and whatever of it fails, the name is served as before.
 */
import type { ManifestEntry } from '../plan/manifest.ts';
import { retryMs } from '../platform/backoff.ts';
import type { ControlPlaneClient } from './control-plane.ts';
import { diskReason, fetchPlan, PlanRefusal, troubleOf } from './fetch-plan.ts';
import type { JournaledPlan, PlanMark } from './journal.ts';
import {
  FIRST_RETRY_MS,
  LAST_PLAN_RETRY_MS,
  LAST_RETRY_MS,
  MAX_FAILING,
  PARALLEL_FETCHES,
} from './limits.ts';
import { errorMessage, type SyncLog } from './log.ts';
import { DamageFault, type PlanStore } from './plan-store.ts';
import type { Installed, PlanSink } from './plan-table.ts';
import type { PlanReport } from './reports.ts';
import { isSameClearance } from './secrets.ts';

export interface Installer {
  /** Serves everything that is kept. */
  restore(): void;
  /** Brings a name to where an entry says, unless it is there or that would be a step back. */
  offer(entry: ManifestEntry, told: InstalledReport): void;
  /** Counts what was put in place; see `Told.asOf`. */
  tick(): number;
  /** Forgets names that another key spoke for and this one does not list. */
  forgetOthers(keyId: string, listed: ReadonlySet<string>): Promise<void>;
  /** Forgets names that are not listed: this node is in other groups now. */
  forgetUnlisted(listed: ReadonlySet<string>): Promise<void>;
  /** Names that are not where the manifest wants them, those that failed for good left out. */
  pending(): number;
  /** Names whose newest plan was refused. */
  refused(): number;
  /** Some of them. */
  failing(): readonly Failing[];
  stop(): Promise<void>;
}

export interface InstalledReport {
  /** Whose word it is. */
  readonly keyId: string;
  /** `tick()` before the page was asked for; `null`: it may have been made at any time before. */
  readonly asOf: number | null;
}

export interface Failing {
  readonly domain: string;
  readonly revision: number;
  readonly reason: string;
}

export interface InstallerOptions {
  readonly control: Pick<ControlPlaneClient, 'plan'>;
  readonly planStore: PlanStore;
  readonly plans: PlanSink;
  readonly report: (report: PlanReport) => void;
  /** An entry looks like a step back, which a page that was overtaken by another does too. */
  readonly onSuspicion: () => void;
  readonly log: SyncLog;
}

interface Wanted {
  readonly entry: ManifestEntry;
  readonly keyId: string;
  readonly failures: number;
}

/** A plan that was not put in place. `final`: it will not be at the next attempt either. */
interface Refused extends Failing {
  readonly digest: string | null;
  readonly keyId: string;
  readonly final: boolean;
}

/** Milliseconds between looks at what is to be tried again. */
const RETRY_LOOK_MS = 250;

export function createInstaller(options: InstallerOptions): Installer {
  const { control, planStore, plans, report, log } = options;
  const wanted = new Map<string, Wanted>();
  const ready = new Set<string>();
  const busy = new Map<string, Promise<void>>();
  /** When to try a name again, by the clock of `performance`. */
  const later = new Map<string, number>();
  /** What each name was last refused for, until it is in place. */
  const refused = new Map<string, Refused>();
  const touched = new Map<string, number>();
  /** Plans that names are or were served by, while what takes their place is not served yet. */
  const replaced = new Map<string, Set<string>>();
  /** What is wrong with the files of plans, by digest. */
  const damages = new Map<string, DamageFault>();
  let ticks = 0;
  let stopped = false;
  /** The control plane or the disk is in trouble: nothing is begun before then. */
  let halted = { until: 0, failures: 0 };
  const retrying = setInterval(pump, RETRY_LOOK_MS).unref();

  function pump(): void {
    const now = performance.now();
    for (const [name, at] of later) {
      if (at > now) continue;
      later.delete(name);
      ready.add(name);
    }
    if (stopped || halted.until > now) return;
    for (const name of ready) {
      if (busy.size >= PARALLEL_FETCHES) return;
      if (busy.has(name)) continue;
      ready.delete(name);
      const want = wanted.get(name);
      if (want === undefined) continue;
      busy.set(
        name,
        work(want).finally(() => {
          busy.delete(name);
          if (wanted.has(name) && !later.has(name)) ready.add(name);
          pump();
        }),
      );
    }
  }

  function want(entry: ManifestEntry, keyId: string): void {
    wanted.set(entry.domain, { entry, keyId, failures: 0 });
    later.delete(entry.domain);
    ready.add(entry.domain);
    pump();
  }

  async function work(task: Wanted): Promise<void> {
    const { domain, revision } = task.entry;
    try {
      await bring(task);
      halted = { until: 0, failures: 0 };
      refused.delete(domain);
      if (wanted.get(domain) === task) wanted.delete(domain);
    } catch (error) {
      if (stopped) return;
      const trouble = troubleOf(error);
      if (trouble !== 'plan') halt();
      if (trouble === 'control') return;
      const final = error instanceof PlanRefusal && error.final;
      const reason = trouble === 'disk' ? diskReason(error) : errorMessage(error);
      if (trouble === 'disk')
        log.error({ domain, err: errorMessage(error) }, 'what is served cannot be kept');
      refuse({ domain, revision, reason, digest: task.entry.digest, keyId: task.keyId, final });
      if (trouble === 'plan') await purge(task);
      // Something newer is wanted by now.
      if (wanted.get(domain) !== task) return;
      if (final) {
        wanted.delete(domain);
        mendHeld(domain);
      } else {
        const waits = retryMs(task.failures, { first: FIRST_RETRY_MS, last: LAST_PLAN_RETRY_MS });
        wanted.set(domain, { ...task, failures: task.failures + 1 });
        later.set(domain, performance.now() + waits);
      }
    }
  }

  function halt(): void {
    // Tasks that were under way together count once.
    if (halted.until > performance.now()) return;
    const waits = retryMs(halted.failures, { first: FIRST_RETRY_MS, last: LAST_RETRY_MS });
    halted = { until: performance.now() + waits, failures: halted.failures + 1 };
  }

  function refuse(failing: Refused): void {
    const { domain, revision, reason } = failing;
    const before = refused.get(domain);
    refused.set(domain, failing);
    if (before?.revision === revision && before.reason === reason) return;
    log.warn(
      { domain, revision, reason },
      'a change is refused; the name is served as before, or not at all where that suspends it',
    );
    report({ domain, revision, outcome: 'nack', reason });
  }

  async function bring({ entry, keyId }: Wanted): Promise<void> {
    const { domain, revision, digest, tombstone } = entry;
    const before = planStore.held.get(domain);
    const purgeEpoch = epochOf(entry, before, keyId);
    const previous = digest === null ? null : previousOf(digest, before, keyId);
    const clearance = entry.clearance ?? (digest === null ? null : (before?.clearance ?? null));
    const held: JournaledPlan = { revision, digest, tombstone, previous, purgeEpoch, keyId, clearance };
    const doubted = damages.has(digest ?? '') || refused.has(domain) || replaced.has(domain);
    const served = !doubted && isServed(before, held);
    if (digest !== null && !served) {
      await fetchPlan(digest, entry, { control, planStore });
      damages.delete(digest);
    }
    const suspends = tombstone === 'refused';
    // It holds also where it cannot be kept: what must not be served is not, for as long as this node runs.
    if (suspends) await serve(domain, held);
    if (!isSame(before, held)) await planStore.commit([{ kind: 'name', name: domain, held }]);
    const old = replaced.get(domain) ?? new Set();
    if (before?.digest != null) old.add(before.digest);
    if (before?.previous != null) old.add(before.previous.digest);
    replaced.set(domain, old);
    if (!suspends) await serve(domain, held);
    replaced.delete(domain);
    touched.set(domain, ++ticks);
    if (!served) report({ domain, revision, outcome: 'ack', reason: '' });
    for (const one of old) {
      if (one === digest || one === previous?.digest) continue;
      damages.delete(one);
      await planStore.dropPlan(one).catch((error: unknown) => {
        log.warn(
          { domain, err: errorMessage(error) },
          'the file of a plan that was replaced cannot be removed',
        );
      });
    }
  }

  /** What is served on, since the newest plan is refused, is purged with it, and its clearance signed as it says. */
  async function purge({ entry, keyId }: Wanted): Promise<void> {
    const { domain } = entry;
    const before = planStore.held.get(domain);
    if (before === undefined || before.keyId !== keyId) return;
    const { clearance = before.clearance } = entry;
    const held = { ...before, purgeEpoch: epochOf(entry, before, keyId), clearance };
    if (isSame(before, held)) return;
    try {
      // In this order: one that is not kept is asked for again by the next comparison, one that is not served is not.
      await serve(domain, held);
      await planStore.commit([{ kind: 'name', name: domain, held }]);
    } catch (error) {
      log.error({ domain, err: errorMessage(error) }, 'a purge cannot be kept; it is tried again');
    }
  }

  function serve(name: string, held: JournaledPlan): void | Promise<void> {
    if (held.digest !== null) return plans.set(name, installedOf(name, held, held.digest));
    return held.tombstone === 'refused' ? plans.set(name, 'refused') : plans.delete(name);
  }

  function installedOf(name: string, held: JournaledPlan, digest: string): Installed {
    const { revision, purgeEpoch, previous, clearance } = held;
    const read = (): Uint8Array => {
      const known = damages.get(digest);
      if (known !== undefined) throw known;
      try {
        return planStore.readPlan(digest);
      } catch (error) {
        if (error instanceof DamageFault) mend(name, held, error);
        throw error;
      }
    };
    const fallback =
      previous === null ? null : { ...previous, purgeEpoch, read: () => planStore.readPlan(previous.digest) };
    return { revision, digest, purgeEpoch, clearance, read, previous: fallback };
  }

  /**
   * A plan that a later one takes the place of: what was served before under the same key, and was not damaged itself.
   * INVARIANT: never one from before a tombstone, whose domain was not to be served.
   */
  function previousOf(digest: string, before: JournaledPlan | undefined, keyId: string): PlanMark | null {
    if (before === undefined || before.keyId !== keyId || before.digest === null) return null;
    if (before.digest === digest || damages.has(before.digest)) return before.previous;
    return { revision: before.revision, digest: before.digest };
  }

  /**
   * A name whose plan is damaged is served by the plan before it until the damaged one is fetched; without one it is
   * refused, and not given to the name above it.
   */
  function mend(domain: string, { digest, previous }: JournaledPlan, damage: DamageFault): void {
    if (digest === null) return;
    damages.set(digest, damage);
    const meanwhile = previous === null ? 'the name is refused' : `revision ${previous.revision} is served`;
    log.error({ domain, err: damage.message }, `a plan is damaged; ${meanwhile} until it is fetched`);
    // What is wanted takes its place, unless that is refused.
    if (!wanted.has(domain)) mendHeld(domain);
  }

  /** Fetches the plan that a name is served by, if it is damaged. */
  function mendHeld(domain: string): void {
    const held = planStore.held.get(domain);
    if (held === undefined || held.digest === null || !damages.has(held.digest)) return;
    const { revision, digest, purgeEpoch, keyId, clearance } = held;
    const entry = { domain, revision, digest, tombstone: null, purge_epoch: purgeEpoch, position: 0 };
    want(clearance === null ? entry : { ...entry, clearance }, keyId);
  }

  async function forget(name: string, { digest, previous }: JournaledPlan): Promise<void> {
    await planStore.commit([{ kind: 'name', name, held: null }]);
    await plans.delete(name);
    if (digest !== null) await planStore.dropPlan(digest);
    if (previous !== null) await planStore.dropPlan(previous.digest);
  }

  function offer(entry: ManifestEntry, { keyId, asOf }: InstalledReport): void {
    const { domain, revision, digest, tombstone } = entry;
    if (asOf !== null && (touched.get(domain) ?? 0) > asOf) return;
    const underway = wanted.get(domain);
    if (underway !== undefined && underway.keyId === keyId && underway.entry.revision > revision) return;
    const held = planStore.held.get(domain);
    const known = held !== undefined && held.keyId === keyId ? held : undefined;
    const differs = known !== undefined && known.digest !== digest;
    if (known !== undefined && (revision < known.revision || (revision === known.revision && differs))) {
      if (asOf === null) options.onSuspicion();
      else refuse({ domain, revision, reason: backwards(known, revision), digest, keyId, final: true });
      return;
    }
    if (known !== undefined && revision === known.revision && tombstone === known.tombstone) {
      // A step back that was refused once is over.
      if (underway === undefined) refused.delete(domain);
      if (entry.purge_epoch <= known.purgeEpoch && isSigningAlike(known, entry)) return;
    }
    const failed = refused.get(domain);
    const purges =
      known !== undefined && (entry.purge_epoch > known.purgeEpoch || !isSigningAlike(known, entry));
    // What another key, or an earlier epoch, said of these numbers was about another history.
    const same = failed?.digest === digest && failed.revision === revision && failed.keyId === keyId;
    if (failed?.final === true && same && !purges) return;
    if (underway !== undefined && underway.keyId === keyId && isSameEntry(underway.entry, entry)) return;
    want(entry, keyId);
  }

  return {
    offer,
    tick: () => ticks,
    restore() {
      for (const [name, held] of planStore.held) {
        void serve(name, held);
        const { digest } = held;
        if (digest === null || planStore.hasPlan(digest)) continue;
        mend(name, held, new DamageFault(`there is no file of the plan \`${digest}\``));
      }
    },
    async forgetOthers(keyId, listed) {
      for (const [name, held] of planStore.held) {
        if (held.keyId === keyId || listed.has(name)) continue;
        await forget(name, held);
        log.warn(
          { domain: name },
          'the control plane was set up anew, or restored, and does not know this name; it is forgotten',
        );
      }
    },
    async forgetUnlisted(listed) {
      for (const name of new Set([...planStore.held.keys(), ...wanted.keys(), ...busy.keys()])) {
        if (listed.has(name)) continue;
        wanted.delete(name);
        later.delete(name);
        ready.delete(name);
        await busy.get(name);
        refused.delete(name);
        const held = planStore.held.get(name);
        if (held !== undefined) await forget(name, held);
      }
    },
    pending: () => wanted.size,
    refused: () => refused.size,
    failing: () =>
      [...refused.values()]
        .slice(0, MAX_FAILING)
        .map(({ domain, revision, reason }) => ({ domain, revision, reason })),
    async stop() {
      stopped = true;
      clearInterval(retrying);
      await Promise.all(busy.values());
    },
  };
}

/** An epoch never goes back either, or what was purged would be served again. */
function epochOf(entry: ManifestEntry, before: JournaledPlan | undefined, keyId: string): number {
  return before?.keyId === keyId ? Math.max(before.purgeEpoch, entry.purge_epoch) : entry.purge_epoch;
}

function isSame(a: JournaledPlan | undefined, b: JournaledPlan): boolean {
  return (
    a !== undefined &&
    a.revision === b.revision &&
    a.digest === b.digest &&
    a.tombstone === b.tombstone &&
    a.previous?.digest === b.previous?.digest &&
    a.purgeEpoch === b.purgeEpoch &&
    a.keyId === b.keyId &&
    isSameClearance(a.clearance, b.clearance, Date.now())
  );
}

/** Whether what is served is what is wanted but for its clearance: it was fetched, tried out and acknowledged before. */
function isServed(
  before: JournaledPlan | undefined,
  { digest, revision, purgeEpoch, keyId }: JournaledPlan,
): boolean {
  if (before === undefined || digest === null || before.digest !== digest) return false;
  return before.revision === revision && before.purgeEpoch === purgeEpoch && before.keyId === keyId;
}

/** Whether an entry says nothing new of clearance; one without says nothing. */
function isSigningAlike({ clearance }: Pick<JournaledPlan, 'clearance'>, entry: ManifestEntry): boolean {
  return entry.clearance === undefined || isSameClearance(clearance, entry.clearance, Date.now());
}

function isSameEntry(a: ManifestEntry, b: ManifestEntry): boolean {
  const same = a.revision === b.revision && a.digest === b.digest;
  if (!same || a.tombstone !== b.tombstone || a.purge_epoch !== b.purge_epoch) return false;
  return isSameClearance(a.clearance ?? null, b.clearance ?? null, Date.now());
}

function backwards(known: JournaledPlan, revision: number): string {
  if (revision === known.revision) return `this node holds another plan as revision ${revision}`;
  return `this node holds revision ${known.revision} and does not go back to ${revision}`;
}
