/** What following a control plane is given, and what it tells of itself. */
import type { Clearance } from '../plan/manifest.ts';
import type { StreamTimes } from './feed.ts';
import type { Failing } from './install-plans.ts';
import { COMPARE_MS, FIRST_OCTET_MS, LAST_RETRY_MS, POLL_SEC, POLLING_MS, STALL_MS } from './limits.ts';
import type { SyncLog } from './log.ts';
import type { PlanSink } from './plan-table.ts';

export interface SyncOptions {
  /** The control plane, `http://` or `https://`. */
  readonly url: string;
  /** This node's token; called for each request, so that it may change while the node runs. */
  readonly token: () => string;
  /** The control plane's public key, SubjectPublicKeyInfo in base64; without one the first that is met is held to. */
  readonly publicKey?: string;
  /** Where everything is kept; this node's alone. */
  readonly directory: string;
  /** What it is given before `followControl` resolves must be taken at once. */
  readonly plans: PlanSink;
  /**
   * Called with what clearance cookies are signed with where the entry of a domain says nothing, as stored and whenever it
   * changes.
   */
  readonly onSecret: (clearance: Clearance) => void;
  /** Told once, when everything that the first whole comparison brought is in place. */
  readonly onCaughtUp?: (names: CaughtUp) => void;
  /** Told in a sentence that the token is refused, once until the control plane answers otherwise. */
  readonly onTokenRefused?: (sentence: string) => void;
  readonly log: SyncLog;
  /** For tests: times other than those of `limits.ts`. */
  readonly times?: Partial<SyncTimes>;
}

/** How many names are served by a plan, and how many must not be served. */
export interface CaughtUp {
  readonly served: number;
  readonly refused: number;
}

export interface SyncTimes extends StreamTimes {
  /** Milliseconds between comparisons of everything. */
  readonly compareMs: number;
  /** Milliseconds of polling before a stream is tried again. */
  readonly pollingMs: number;
  /** Seconds a poll waits. */
  readonly pollSec: number;
  /** Milliseconds of the longest wait before another attempt. */
  readonly lastRetryMs: number;
}

export interface SyncState {
  /** How the manifest is read now; `away`: not at all. */
  readonly mode: 'away' | 'stream' | 'poll';
  /** Who this node is to the control plane; `null`: never met. */
  readonly node: { readonly id: number; readonly name: string } | null;
  /** The first 16 hex digits of the SHA-256 of the key held to. */
  readonly keyId: string | null;
  readonly position: number;
  /** Names something is held for. */
  readonly names: number;
  /** Names that are not yet where the manifest wants them. */
  readonly pending: number;
  /** Names whose newest plan was refused. */
  readonly refused: number;
  /** Some of them, and why. */
  readonly failing: readonly Failing[];
  /** What is wrong with the disk, by the last write; `null`: nothing. */
  readonly disk: string | null;
  /** Answers the control plane has not heard. */
  readonly unreported: number;
  /** Whole comparisons with the manifest since the start. */
  readonly comparisons: number;
  /** Milliseconds since the control plane said anything, or since the start. */
  readonly silentMs: number;
  /** What keeps this node from following, in a sentence; `null`: nothing. */
  readonly problem: string | null;
}

export const TIMES: SyncTimes = {
  firstOctetMs: FIRST_OCTET_MS,
  stallMs: STALL_MS,
  compareMs: COMPARE_MS,
  pollingMs: POLLING_MS,
  pollSec: POLL_SEC,
  lastRetryMs: LAST_RETRY_MS,
};
