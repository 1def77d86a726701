/** What a primary and its workers say to each other. A connection's socket travels beside its message. */
import type { Registry } from 'prom-client';
import type { Clearance } from '../plan/manifest.ts';
import type { PlanMark } from '../sync/journal.ts';
import type { ReportedCounts } from '../sync/traffic-counts.ts';

/** A plan as it travels. */
export interface PlanMessage {
  readonly revision: number;
  readonly digest: string;
  readonly purgeEpoch: number;
  /** As `Installed.clearance`. */
  readonly clearance: Clearance | null;
  /** The sealed plan in base64; `null`: it is read from the folder of plans. */
  readonly octets: string | null;
  /** The plan that serves the name while this one cannot be read, from the folder of plans. */
  readonly previous: PlanMark | null;
}

/** What all workers hold alike, and change together. */
export type SharedStateChange =
  | { readonly kind: 'plan'; readonly name: string; readonly plan: PlanMessage | 'refused' | null }
  | { readonly kind: 'clearance'; readonly clearance: Clearance }
  /** The answer to a certificate authority; `null`: it is over. */
  | { readonly kind: 'token'; readonly token: string; readonly answer: string | null };

/**
 * How a change comes about: every worker prepares it and serves as before; where all could they are told to make it, else
 * to leave it. The change is told again with `make`, for a worker that began in between.
 */
export type ChangeStep =
  | { readonly step: 'prepare' | 'make'; readonly id: number; readonly change: SharedStateChange }
  | { readonly step: 'leave'; readonly id: number };

/** What a worker begins from. */
export interface Beginning {
  readonly index: number;
  readonly count: number;
  /** The caller's own, as JSON. */
  readonly settings: unknown;
  readonly changes: readonly SharedStateChange[];
}

export type ToWorker =
  | { readonly kind: 'begin'; readonly beginning: Beginning }
  /** `way` is told back as soon as the worker has the socket. */
  | { readonly kind: 'connection'; readonly listener: string; readonly way: number }
  | ({ readonly kind: 'change'; readonly number: number } & ChangeStep)
  /** Reads anew what files say: certificates, countries, ranges of bots. */
  | { readonly kind: 'reload'; readonly number: number }
  | { readonly kind: 'metrics'; readonly ask: number }
  /** Asks clients to leave while every request is still served. */
  | { readonly kind: 'retire' }
  | { readonly kind: 'drain'; readonly graceMs: number };

/** A metric as prom-client gives it; only what is looked at here. */
export interface MetricMessage {
  readonly name: string;
  readonly type: string;
}

/** Why a worker cannot begin. */
export interface BeginFault {
  readonly message: string;
  /** The system's word, `ENOENT`; `null`: it has none. */
  readonly code: string | null;
}

export function faultOf(error: unknown): BeginFault {
  if (!(error instanceof Error)) return { message: String(error), code: null };
  const { message, code } = error as NodeJS.ErrnoException;
  return { message, code: typeof code === 'string' ? code : null };
}

export type ToPrimary =
  | { readonly kind: 'beat' }
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly fault: BeginFault }
  | { readonly kind: 'took'; readonly way: number }
  /** Answers a step of a change, and `reload`: `fault` says why things are as before; `null`: it is done. */
  | { readonly kind: 'done'; readonly number: number; readonly fault: string | null }
  /** The plan of a name cannot be read. */
  | { readonly kind: 'damaged'; readonly name: string }
  /** What was counted since the last time. */
  | { readonly kind: 'counted'; readonly tallies: readonly ReportedCounts[] }
  | { readonly kind: 'metrics'; readonly ask: number; readonly metrics: readonly MetricMessage[] };

/** A registry's metrics as they travel. */
export async function describeMessage(registry: Registry): Promise<readonly MetricMessage[]> {
  return (await registry.getMetricsAsJSON()) as unknown as readonly MetricMessage[];
}
