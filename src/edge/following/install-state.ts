/** The state of the plan installer: which entries are wanted, running, due for a retry, or refused. */
import type { ManifestEntry } from '../../engine/plan/manifest.ts';
import type { PurgeAnswer } from '../../engine/plan/purges.ts';
import type { ControlPlaneClient } from './control-plane.ts';
import type { SyncLog } from './log.ts';
import type { DamageFault, PlanStore } from './plan-store.ts';
import type { PlanSink } from './plan-table.ts';
import type { PlanReport } from './reports.ts';

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
  readonly control: Pick<ControlPlaneClient, 'plan'>;
  /**
   * Requests the purges of a domain above a position, and checks their signature.
   * @throws TrustFault, ControlPlaneFault
   */
  readonly requestPurges: (domain: string, since: number) => Promise<PurgeAnswer>;
  readonly planStore: PlanStore;
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
  /** What is wrong with plan files, by digest. */
  readonly damages: Map<string, DamageFault>;
  /** Schedules an entry for its name, in place of an older one. */
  readonly want: (entry: ManifestEntry, keyId: string) => void;
  ticks: number;
  stopped: boolean;
  /** The control plane or the disk is in trouble: no attempt starts before `until`. */
  halted: { readonly until: number; readonly failures: number };
}
