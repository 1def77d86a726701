/** The state of the plan installer: which entries are wanted, running, due for a retry, or refused. */
import { pause, retryMs } from '../../base/platform/tasks.ts';
import type { PlanPart } from '../../engine/evaluator/index.ts';
import type { ManifestEntry } from '../../engine/plan/manifest.ts';
import type { PurgeAnswer } from '../../engine/plan/purges.ts';
import { type ControlPlaneClient, ControlPlaneFault } from './control-plane.ts';
import {
  FIRST_RETRY_MS,
  FLUSH_ON_STOP_MS,
  LAST_RETRY_MS,
  MAX_REASON,
  REPORT_MS,
  REPORTS_AT_ONCE,
} from './limits.ts';
import { errorMessage, type SyncLog } from './log.ts';
import type { OpenedLists } from './opened-lists.ts';
import type { DamageFault, PlanStore } from './plan-store.ts';
import type { PlanSink } from './plan-table.ts';
import type { PushedOctets } from './pushed-octets.ts';

/** The page that an entry came with. */
export interface EntrySource {
  /** The history that its revisions belong to, as `JournaledPlan.keyId`. */
  readonly keyId: string;
  /** `tick()` before the page was requested; `null`: the page may be of any earlier time. */
  readonly asOf: number | null;
}

/** A change that was refused, for the state of sync. */
export interface Failing {
  readonly domain: string;
  readonly revision: number;
  readonly reason: string;
}

export interface InstallerOptions {
  readonly control: Pick<ControlPlaneClient, 'plan' | 'list'>;
  /**
   * Requests the purges of a domain above a position, and checks their signature.
   * @throws TrustFault, ControlPlaneFault
   */
  readonly requestPurges: (domain: string, since: number) => Promise<PurgeAnswer>;
  readonly planStore: PlanStore;
  /** Plans and lists that came before they were named. */
  readonly pushed: PushedOctets;
  readonly plans: PlanSink;
  readonly report: (report: PlanReport) => void;
  /** Called when an entry looks like a step back: a page that a later one overtook looks the same. */
  readonly onSuspicion: () => void;
  readonly log: SyncLog;
}

/** An entry to install. */
export interface Task {
  readonly entry: ManifestEntry;
  readonly keyId: string;
  /** Attempts that failed. */
  readonly failures: number;
}

/** A change that was not installed. */
export interface Refused extends Failing {
  readonly digest: string | null;
  readonly keyId: string;
  /** The same change would be refused again. */
  readonly final: boolean;
}

/** The state of the installer: plain data, changed by `install-plans.ts` and `install-one.ts`. */
export interface InstallState extends InstallerOptions {
  /** The newest entry per name that is not installed yet. */
  readonly wanted: Map<string, Task>;
  /** Names of `wanted` that can be started now. */
  readonly ready: Set<string>;
  /** Running attempts, by name. */
  readonly busy: Map<string, Promise<void>>;
  /** When to try a name again, in milliseconds of `performance.now()`. */
  readonly retryAt: Map<string, number>;
  /** The last refusal of each name, until an entry is installed. */
  readonly refused: Map<string, Refused>;
  /** The tick of each name's last installation. */
  readonly touched: Map<string, number>;
  /** Digests of plans that serve or served a name while its next plan is not served yet. */
  readonly replaced: Map<string, Set<string>>;
  /** What is wrong with files of plans or of their lists, by the digest of the plan. */
  readonly damages: Map<string, DamageFault>;
  /** The lists that plans name. */
  readonly lists: OpenedLists;
  /** Lists that are being fetched, by digest: names that install at the same time share one fetch. */
  readonly listFetches: Map<string, Promise<PlanPart>>;
  /** Schedules an entry for its name, in place of an older one. */
  readonly want: (entry: ManifestEntry, keyId: string) => void;
  ticks: number;
  stopped: boolean;
  /** The control plane or the disk is in trouble: no attempt starts before `until`. */
  halted: { readonly until: number; readonly failures: number };
}

// Reports the outcome of plans (ack or nack) to the control plane, in batches that are repeated until they are accepted.
// Of each name only the last outcome is sent.

/** The outcome of one revision on this node. */
interface PlanReport {
  readonly domain: string;
  readonly revision: number;
  readonly outcome: 'ack' | 'nack';
  /** Why it was refused, as a sentence; empty for an ack. */
  readonly reason: string;
}

/** The queue of reports. */
export interface Reports {
  /** Queues a report in place of an older one of its name; truncates its reason to `MAX_REASON`. */
  add(report: PlanReport): void;
  /** Number of names whose report is not accepted yet. */
  queued(): number;
  /** Sends the queue within `FLUSH_ON_STOP_MS`, if the control plane is reached, and ends. */
  stop(): Promise<void>;
}

export function createReports(control: Pick<ControlPlaneClient, 'report'>, log: SyncLog): Reports {
  const waiting = new Map<string, PlanReport>();
  const ending = new AbortController();
  let sending: Promise<void> | null = null;

  async function send(): Promise<void> {
    let failures = 0;
    let atOnce = REPORTS_AT_ONCE;
    await pause(REPORT_MS, ending.signal);
    while (waiting.size > 0) {
      const batch = [...waiting.values()].slice(0, atOnce);
      try {
        await control.report({ reports: batch });
        failures = 0;
        atOnce = Math.min(2 * atOnce, REPORTS_AT_ONCE);
      } catch (error) {
        if (ending.signal.aborted) return;
        if (!(error instanceof ControlPlaneFault && error.code === 'answer')) {
          await pause(retryMs(failures++, { first: FIRST_RETRY_MS, last: LAST_RETRY_MS }), ending.signal);
          continue;
        }
        // One bad report fails its whole batch: halving finds it, and the others are accepted.
        if (batch.length > 1) {
          atOnce = batch.length >> 1;
          continue;
        }
        // A single report is dropped: it would be refused again, and nothing depends on it.
        log.error(
          { err: errorMessage(error), domain: batch[0]!.domain, revision: batch[0]!.revision },
          'the control plane refuses this report; it is dropped',
        );
      }
      for (const report of batch) if (waiting.get(report.domain) === report) waiting.delete(report.domain);
    }
  }

  return {
    add(report) {
      const reason = report.reason.toWellFormed().replaceAll('\0', ' ').slice(0, MAX_REASON).toWellFormed();
      // At the end of the queue, so that a batch that is being sent and refused does not include it.
      waiting.delete(report.domain);
      waiting.set(report.domain, { ...report, reason });
      if (ending.signal.aborted) return;
      sending ??= send().finally(() => {
        sending = null;
      });
    },
    queued: () => waiting.size,
    async stop() {
      ending.abort();
      const sent = new AbortController();
      const all = sending?.then(() => sent.abort()) ?? null;
      if (all !== null) await Promise.race([all, pause(FLUSH_ON_STOP_MS, sent.signal)]);
    },
  };
}
