/** Options and state of sync. */
import type { LookupFunction } from 'node:net';
import type { Clearance } from '../../engine/plan/manifest.ts';
import type { CertificateSink } from './certificates/install-sets.ts';
import type { StreamTimes } from './feed.ts';
import type { ChallengeSink } from './install-challenges.ts';
import type { Failing } from './install-state.ts';
import { COMPARE_MS, FIRST_OCTET_MS, LAST_RETRY_MS, POLL_SEC, POLLING_MS, STALL_MS } from './limits.ts';
import type { SyncLog } from './log.ts';
import type { PlanSink } from './plan-table.ts';

/** What `syncWithControlPlane` needs. */
export interface SyncOptions {
  /** The control plane's address, `http://` or `https://`. */
  readonly url: string;
  /** This node's token; called for each request, so that a rotated token is used at once. */
  readonly token: () => string;
  /** The control plane's public key, SubjectPublicKeyInfo in base64; absent: trust on first use. */
  readonly publicKey?: string;
  /** Folder for plans and identity; no other process may use it. */
  readonly directory: string;
  /** Resolves the control plane's name. Default: `getaddrinfo`. */
  readonly lookup?: LookupFunction;
  /** Receives the plans. Calls before `syncWithControlPlane` resolves must take effect synchronously. */
  readonly plans: PlanSink;
  /** Receives the certificates of domains; absent: none are fetched, and stored ones are removed. */
  readonly certificates?: CertificateSink;
  /** Receives the challenges of certificate authorities by domain; absent: none are answered. */
  readonly challenges?: ChallengeSink;
  /** Called with the secret of clearance cookies for domains without their own: the stored one, then each change. */
  readonly onSecret: (clearance: Clearance) => void;
  /** Called once, when everything of the first whole comparison is installed. */
  readonly onCaughtUp?: (names: CaughtUp) => void;
  /** Called when the control plane refuses the token; again only after it accepted one. @param stored number of names with a plan */
  readonly onTokenRefused?: (sentence: string, stored: number) => void;
  readonly log: SyncLog;
  /** Times that differ from `limits.ts`, for tests. */
  readonly times?: Partial<SyncTimes>;
}

/** Number of names with a plan, and of names that must not be served. */
export interface CaughtUp {
  readonly served: number;
  readonly refused: number;
}

/** Intervals and time-outs of sync. */
export interface SyncTimes extends StreamTimes {
  /** Milliseconds between whole comparisons. */
  readonly compareMs: number;
  /** Milliseconds of polling before a stream is tried again. */
  readonly pollingMs: number;
  /** Seconds that the control plane holds an empty poll open. */
  readonly pollSec: number;
  /** Longest delay before another attempt, in milliseconds. */
  readonly lastRetryMs: number;
}

/** A snapshot of sync. */
export interface SyncState {
  /** How the manifest is read now; `away`: the control plane is not reached. */
  readonly mode: 'away' | 'stream' | 'poll';
  /** This node in the control plane's records; `null`: never introduced. */
  readonly node: { readonly id: number; readonly name: string } | null;
  /** First 16 hex digits of the SHA-256 of the trusted key; `null`: no key is trusted yet. */
  readonly keyId: string | null;
  /** The position up to which the manifest was read. */
  readonly position: number;
  /** Number of names with a plan or a tombstone. */
  readonly names: number;
  /** Number of names whose entry is not installed yet. */
  readonly pending: number;
  /** Number of domains whose certificates are not the manifest's yet; 0 for a node without TLS. */
  readonly pendingCertificates: number;
  /** Whether only a part of the first manifest may be installed: some names are not served yet. */
  readonly filling: boolean;
  /** Number of names whose newest plan was refused. */
  readonly refused: number;
  /** Up to `MAX_FAILING` refused names, with reasons. */
  readonly failing: readonly Failing[];
  /** Why the last write to the disk failed, as a phrase; `null`: it succeeded. */
  readonly disk: string | null;
  /** Number of reports that the control plane has not received. */
  readonly unreported: number;
  /** Number of whole comparisons since the start. */
  readonly comparisons: number;
  /** Milliseconds since the last octets of the control plane, or since the start. */
  readonly silentMs: number;
  /** Why the control plane is not followed, as a sentence; `null`: it is followed. */
  readonly problem: string | null;
}

/** The times of `limits.ts`. */
export const TIMES: SyncTimes = {
  firstOctetMs: FIRST_OCTET_MS,
  stallMs: STALL_MS,
  compareMs: COMPARE_MS,
  pollingMs: POLLING_MS,
  pollSec: POLL_SEC,
  lastRetryMs: LAST_RETRY_MS,
};
