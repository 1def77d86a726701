/**
 * What a node's process hands over to the next one besides its sockets, and what it reports afterwards. In: structured clones
 * from a process that may be of another version. Out: the state, or `null` where its form is another one; the node then starts
 * as after a restart.
 */
import { isObject } from '../../base/text/json-object.ts';
import type { Clearance } from '../../engine/plan/manifest.ts';
import type { UsedProof } from '../answers/challenge/proof.ts';
import { readClearance } from '../following/secrets.ts';
import type { CountedSeconds } from '../following/traffic/counter.ts';
import type { Visits } from './visit-relay.ts';

/** The version of the form below; another one is not read. */
const FORMAT = 1;

/** What one serving process remembers of visitors. */
export interface ProcessState {
  /** Rate counters (`saveCounters`). */
  readonly counters: Uint8Array;
  /** Proofs of challenges that were handed in. */
  readonly proofs: readonly UsedProof[];
}

/** The state of a node. */
export interface HandedState {
  readonly format: number;
  /** The secrets of clearance cookies of domains without their own. */
  readonly clearance: Clearance;
  /** TLS session ticket keys, 48 octets in base64. */
  readonly ticketKeys: string;
  /** Answers to HTTP-01 challenges for the node's own certificates, by token. */
  readonly tokens: readonly (readonly [token: string, answer: string])[];
  /** By the number of the serving process. */
  readonly processes: readonly ProcessState[];
  /** The key by which addresses are assigned to workers; `null`: there is one process. */
  readonly routeSeed: number | null;
}

/** What a process that drains still counts: for the control plane, or of visitors. */
export type NodeReport =
  | { readonly kind: 'counted'; readonly counted: CountedSeconds }
  /** Of one of `processes` serving processes, by its number, since its state. */
  | {
      readonly kind: 'visits';
      readonly process: number;
      readonly processes: number;
      readonly visits: Visits;
    };

/** Sends a report. Rejects when the other process has ended. */
export type ReportSink = (report: NodeReport) => Promise<void>;

/** A state of this version. */
export function handedState(state: Omit<HandedState, 'format'>): HandedState {
  return { format: FORMAT, ...state };
}

/** Octets of TLS session ticket keys. */
export const TICKET_KEY_OCTETS = 48;

/** `null`: it is a state of another version, or none. */
export function readHandedState(value: unknown): HandedState | null {
  if (!isObject(value) || value['format'] !== FORMAT) return null;
  const state = value as unknown as HandedState;
  const isKey = Buffer.from(String(state.ticketKeys), 'base64').length === TICKET_KEY_OCTETS;
  return isKey && readClearance(state.clearance) !== null && Array.isArray(state.processes) ? state : null;
}

/**
 * What a process of a node remembers at its start: the counters of the process of the same number, as addresses are assigned to
 * as many processes as before, and the used proofs of all. `null`: nothing was handed over.
 * @param count the number of processes that serve
 */
export function memoryBefore(handed: HandedState | null, index: number, count: number): ProcessState | null {
  if (handed === null) return null;
  const { processes } = handed;
  const own = processes.length === count ? processes[index] : undefined;
  return { counters: own?.counters ?? new Uint8Array(), proofs: processes.flatMap(({ proofs }) => proofs) };
}

/**
 * What a process adds of a report: the hits of the process of the same number, and all proofs, as `memoryBefore`.
 * @param count the number of processes that serve
 */
export function visitsOf(
  { process, processes, visits }: NodeReport & { readonly kind: 'visits' },
  index: number,
  count: number,
): Visits {
  return processes === count && process === index ? visits : { hits: [], proofs: visits.proofs };
}

/** A process's memory as JSON carries it: the counters are in base64. */
export interface ProcessMemory extends Pick<ProcessState, 'proofs'> {
  readonly counters: string;
}

/** The memory for a channel of JSON. */
export function packMemory({ counters, proofs }: ProcessState): ProcessMemory {
  return { counters: Buffer.from(counters).toString('base64'), proofs };
}

/** The memory of a process; empty for `null`, of a process that did not reply. */
export function unpackMemory(memory: unknown): ProcessState {
  if (memory === null) return { counters: new Uint8Array(), proofs: [] };
  const { counters, proofs } = memory as ProcessMemory;
  return { counters: new Uint8Array(Buffer.from(counters, 'base64')), proofs };
}
