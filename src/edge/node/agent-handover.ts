/**
 * What an agent hands over to the next process, and when the next one begins. In: structured clones from a process that may be of
 * another version. Out: its state and reports, or `null` where their form is another one; and a gate, behind which decisions wait
 * while the process before still decides. So each request is counted by one of them, and a rate limit is exact.
 */
import { isObject } from '../../base/text/json-object.ts';
import type { Clearance } from '../../engine/plan/manifest.ts';
import type { DecideForDoor } from '../doors/door.ts';
import type { HandedConnection } from '../doors/spop/connection.ts';
import type { Tickets } from '../doors/tickets.ts';
import { readClearance } from '../following/secrets.ts';
import type { NodeReport, ProcessState } from './handed-state.ts';

/** The version of the forms below; another one is not read. */
const FORMAT = 1;

/** The state with which the next process starts. */
export interface AgentState {
  readonly format: number;
  /** The secrets of clearance cookies of domains without their own. */
  readonly clearance: Clearance;
  /** The key of tickets. */
  readonly ticketKey: Uint8Array;
}

/** A state of this version. */
export function agentState(state: Omit<AgentState, 'format'>): AgentState {
  return { format: FORMAT, ...state };
}

/** `null`: it is a state of another version, or none. */
export function readAgentState(value: unknown): AgentState | null {
  if (!isObject(value) || value['format'] !== FORMAT) return null;
  const state = value as unknown as AgentState;
  return readClearance(state.clearance) !== null && ArrayBuffer.isView(state.ticketKey) ? state : null;
}

/** From a process that leaves, in this order. */
export type AgentReport =
  /** It decides no more, but for requests that are on their way over HTTP and gRPC. */
  | { readonly kind: 'memory'; readonly format: number; readonly memory: ProcessState }
  /** With the handle of a connection of HAProxy. */
  | { readonly kind: 'connection'; readonly state: HandedConnection }
  | NodeReport;

/** The report with which the next process begins to decide. */
export function memoryReport(memory: ProcessState): AgentReport {
  return { kind: 'memory', format: FORMAT, memory };
}

/** `null`: the report is of another version. */
export function memoryOf({ format, memory }: AgentReport & { readonly kind: 'memory' }): ProcessState | null {
  return format === FORMAT ? memory : null;
}

/** Decisions and pages wait in front of it until it is open. */
export interface Gate {
  readonly isOpen: () => boolean;
  readonly opened: Promise<void>;
  open(): void;
}

/** A closed gate. */
export function createGate(): Gate {
  let isOpen = false;
  let settle: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    settle = resolve;
  });
  return {
    isOpen: () => isOpen,
    opened,
    open() {
      isOpen = true;
      settle();
    },
  };
}

/** The decider behind the gate. PERF: behind an open one it is the decider itself. */
export function decideBehind({ isOpen, opened }: Gate, decide: DecideForDoor): DecideForDoor {
  if (isOpen()) return decide;
  return (request) => (isOpen() ? decide(request) : opened.then(() => decide(request)));
}

/** The pages of tickets behind the gate. */
export function redeemBehind(
  { isOpen, opened }: Gate,
  { redeem }: Pick<Tickets, 'redeem'>,
): Tickets['redeem'] {
  return (ticket) => (isOpen() ? redeem(ticket) : opened.then(() => redeem(ticket)));
}
