/**
 * The messages between the primary and its workers over Node's IPC channel, JSON-safe, and the events of worker
 * processes. The socket of a connection is sent with its message.
 */
import type { Registry } from 'prom-client';
import type { CacheReport } from '../../engine/plan/cache-report.ts';
import type { Clearance, HttpChallenge } from '../../engine/plan/manifest.ts';
import type { PlanMark, PurgeMark } from '../following/journal.ts';
import type { FeedPair } from '../listeners/tls/certificate-pairs.ts';

/** A plan for workers. */
export interface PlanMessage {
  readonly revision: number;
  readonly digest: string;
  readonly purgeEpoch: number;
  /** The list of purges, whose file is in the plan store's folder; `null`: there was none. */
  readonly purges: PurgeMark | null;
  /** As `Installed.clearance`. */
  readonly clearance: Clearance | null;
  /** The sealed plan in base64; `null`: workers read it from the plan store's folder. */
  readonly octets: string | null;
  /** The plan that serves the name while this one cannot be read; its file is in the plan store's folder. */
  readonly previous: PlanMark | null;
}

/** A change of the shared state, which all workers make together. */
export type SharedStateChange =
  | { readonly kind: 'plan'; readonly name: string; readonly plan: PlanMessage | 'refused' | null }
  | { readonly kind: 'clearance'; readonly clearance: Clearance }
  /** All certificates of the feed for a domain, checked, with their keys; `null`: it has none. */
  | { readonly kind: 'certificates'; readonly domain: string; readonly pairs: readonly FeedPair[] | null }
  /** All HTTP-01 challenges of the feed for a domain (RFC 8555 §8.3); empty: none. */
  | {
      readonly kind: 'challenges';
      readonly domain: string;
      readonly challenges: readonly HttpChallenge[];
    }
  /** The answer to an HTTP-01 challenge for the node's own certificates; `null`: the challenge is over. */
  | { readonly kind: 'token'; readonly token: string; readonly answer: string | null };

/**
 * A step of a two-phase change. Every worker prepares it and serves as before; when all succeed they commit it, otherwise
 * they abort it. `commit` repeats the change for a worker that started in between.
 */
export type ChangeStep =
  | { readonly step: 'prepare' | 'commit'; readonly id: number; readonly change: SharedStateChange }
  | { readonly step: 'abort'; readonly id: number };

/** What a worker starts with. */
export interface WorkerStart {
  readonly index: number;
  readonly count: number;
  /** Settings of the caller of `startPrimary`, JSON-safe. */
  readonly settings: unknown;
  /** The whole shared state, as changes from nothing. */
  readonly changes: readonly SharedStateChange[];
  /** What the worker of this number remembered in the primary before this one, JSON-safe; `null`: nothing. */
  readonly before: unknown;
  /** Another process has the node's folder: the worker serves without its part of it. */
  readonly isReleased: boolean;
}

/** From the primary. `number` identifies a request; its reply repeats it. */
export type ToWorker =
  | { readonly kind: 'start'; readonly start: WorkerStart }
  /** A connection; the worker replies `accepted` as soon as it has the socket. */
  | { readonly kind: 'connection'; readonly listener: string; readonly number: number }
  | ({ readonly kind: 'change'; readonly number: number } & ChangeStep)
  /** Read changed files: certificates, countries, ranges of bots. */
  | { readonly kind: 'reload'; readonly number: number }
  | { readonly kind: 'metrics'; readonly number: number }
  /** Stop to use the node's folder; the worker replies `memory`. */
  | { readonly kind: 'release'; readonly number: number }
  /** What another process has counted of visitors, JSON-safe: add it. */
  | { readonly kind: 'absorb'; readonly visits: unknown }
  /** Use the folder again. */
  | { readonly kind: 'reclaim' }
  /** Ask clients to close their connections; every request is still served. */
  | { readonly kind: 'retire' }
  | { readonly kind: 'drain'; readonly graceMs: number };

/** A metric as prom-client serialises it; only the fields that are read here. */
export interface MetricMessage {
  readonly name: string;
  readonly type: string;
}

/** Why a worker cannot start. */
export interface StartFault {
  readonly message: string;
  /** The system's code, such as `ENOENT`; `null`: none. */
  readonly code: string | null;
}

/** Anything thrown, as it is sent to the primary. */
export function faultOf(error: unknown): StartFault {
  if (!(error instanceof Error)) return { message: String(error), code: null };
  const { message, code } = error as NodeJS.ErrnoException;
  return { message, code: typeof code === 'string' ? code : null };
}

/** From a worker. */
export type ToPrimary =
  /** A heartbeat, every `BEAT_MS`, before `ready`, and before the reply to a change. */
  | { readonly kind: 'beat'; readonly isProbing: boolean }
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly fault: StartFault }
  | { readonly kind: 'accepted'; readonly number: number }
  /** Reply to `change` and `reload`: `fault` is why nothing changed; `null`: it is done. */
  | { readonly kind: 'done'; readonly number: number; readonly fault: string | null }
  /** The plan of a name cannot be read. */
  | { readonly kind: 'damaged'; readonly name: string }
  /** What was counted since the last message, see `CountedSeconds`. */
  | { readonly kind: 'counted'; readonly seconds: readonly SecondMessage[]; readonly droppedTops: number }
  /** What the worker's cache has stored. */
  | { readonly kind: 'cached'; readonly report: CacheReport }
  | { readonly kind: 'metrics'; readonly number: number; readonly metrics: readonly MetricMessage[] }
  /** What the worker remembers of visitors, JSON-safe. */
  | { readonly kind: 'memory'; readonly number: number; readonly memory: unknown }
  /** What it has counted of visitors since that, JSON-safe. */
  | { readonly kind: 'visits'; readonly visits: unknown };

/** A `CountedSecond`, sealed in base64. */
export interface SecondMessage {
  readonly minute: number;
  readonly sealed: string;
}

/** A registry's metrics as they are sent. */
export async function describeMessage(registry: Registry): Promise<readonly MetricMessage[]> {
  return (await registry.getMetricsAsJSON()) as unknown as readonly MetricMessage[];
}

/**
 * What happened to a worker, for the log:
 * - `ready`: it accepts connections
 * - `silent`: no heartbeat for so many `checks`; it is killed
 * - `late`: not ready after so many `checks`; it is killed
 * - `ended`: its process ended, `how`; the next one starts after `againInMs` milliseconds
 * - `refused`: so many connections waited too long for it and were closed
 */
export type WorkerEvent =
  | { readonly kind: 'ready'; readonly index: number; readonly pid: number }
  | { readonly kind: 'silent'; readonly index: number; readonly pid: number; readonly checks: number }
  | { readonly kind: 'late'; readonly index: number; readonly pid: number; readonly checks: number }
  | { readonly kind: 'ended'; readonly index: number; readonly how: string; readonly againInMs: number }
  | { readonly kind: 'refused'; readonly index: number; readonly connections: number };

/** A worker ended during the start of the node. */
export class WorkerFault extends Error {
  /** The system's code, such as `ENOENT`; absent: none. */
  readonly code?: string;

  constructor(message: string, code: string | null) {
    super(message);
    this.name = 'WorkerFault';
    if (code !== null) this.code = code;
  }
}
