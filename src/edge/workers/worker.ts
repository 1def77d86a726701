/** The worker's side of a node of several processes: receives the primary's messages and drives what serves. */
import type { Socket } from 'node:net';
import type { Registry } from 'prom-client';
import type { CacheReport } from '../../engine/plan/cache-report.ts';
import type { PurgeList } from '../../engine/plan/purges.ts';
import { readPurgeFile } from '../following/fetch-plan.ts';
import { createOpenedLists, type Lists } from '../following/opened-lists.ts';
import { DamageFault, readListFile, readPlanFile } from '../following/plan-store.ts';
import type { Installed, PlanTable } from '../following/plan-table.ts';
import type { CountedSeconds } from '../following/traffic/counter.ts';
import {
  type ChangeStep,
  describeMessage,
  faultOf,
  type PlanMessage,
  type SharedStateChange,
  type ToPrimary,
  type ToWorker,
  type WorkerStart,
} from './messages.ts';

/** Milliseconds between a worker's heartbeats: two per check. */
const BEAT_MS = 500;
/** Milliseconds between heartbeats while first probes are under way: `/readyz` is late by no more. */
const PROBING_BEAT_MS = 20;
/** Maximum time, in milliseconds, for running requests when the primary is gone: nothing restarts the worker. */
const ORPHAN_GRACE_MS = 10_000;

/** What serves in a worker process. */
export interface JoinedWorker {
  /** Serves a connection of a listener. */
  readonly accept: (listener: string, socket: Socket) => void;
  readonly registry: Registry;
  /** Whether the first probes of origin pools are due or under way. */
  readonly isProbing: () => boolean;
  /**
   * Prepares a change and serves as before; the returned function makes the change and must not fail. What it throws is
   * reported to the primary, and no worker makes the change.
   */
  readonly prepare: (change: SharedStateChange) => () => void;
  /** Makes a change that the other workers have prepared, as at the start. */
  readonly apply: (change: SharedStateChange) => void;
  /** Reads changed files. A rejection is reported to the primary; everything is as before then. */
  readonly reload: () => Promise<void>;
  /** Stops to use the node's folder. @returns what it remembers of visitors, JSON-safe */
  readonly release: () => Promise<unknown>;
  /** Adds what another process has counted of visitors. */
  readonly absorb: (visits: unknown) => void;
  /** Uses the folder again. */
  readonly reclaim: () => void;
  /** Asks clients to close their connections; every request is still served. */
  readonly retire: () => void;
  /** Lets running requests end within `graceMs`, writes what is buffered, and closes everything. */
  readonly drain: (graceMs: number) => Promise<void>;
}

/** Messages that a worker sends without being asked. */
export interface PrimaryChannel {
  /** Sends traffic counts; resolves when they are in the channel, rejects when the primary is gone. */
  counted(counted: CountedSeconds): Promise<void>;
  /** Sends a report of the cache; resolves and rejects as `counted`. */
  cached(report: CacheReport): Promise<void>;
  /** Sends what is counted of visitors, JSON-safe; resolves and rejects as `counted`. */
  visited(visits: unknown): Promise<void>;
  /** Reports that the plan of a name is damaged. */
  damaged(name: string): void;
}

export interface JoinOptions {
  /** Starts what serves; a rejection is reported to the primary and ends the process. */
  readonly begin: (start: WorkerStart, primary: PrimaryChannel) => Promise<JoinedWorker>;
  /** Called with errors that only the log can report. */
  readonly onFault: (error: unknown) => void;
}

/** Exit code of a worker that cannot start, or cannot make a change that the others made. */
const CANNOT_SERVE = 4;

interface MemberState extends JoinOptions {
  /** `null` until it serves. */
  member: JoinedWorker | null;
  /** `null` until the primary's `start`. */
  starting: Promise<JoinedWorker> | null;
  isEnding: boolean;
  nextBeat: NodeJS.Timeout | undefined;
  /** Prepared changes, by the id of the change. */
  readonly prepared: Map<number, () => void>;
}

/** Handles the primary's messages until `drain`, or until the primary is gone; then the process exits. */
export function joinPrimary(options: JoinOptions): void {
  // A terminal sends these to all processes; the primary gets them too, and decides when and how to end.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'] as const)
    process.on(signal, () => undefined);
  const state: MemberState = {
    ...options,
    member: null,
    starting: null,
    isEnding: false,
    nextBeat: undefined,
    prepared: new Map(),
  };
  beat(state);
  process.on('message', (message: ToWorker, socket: Socket | undefined) =>
    handleMessage(state, message, socket),
  );
  process.once('disconnect', () => end(state, ORPHAN_GRACE_MS));
  // The primary may have ended while this process was loading, without an event.
  if (!process.connected) end(state, ORPHAN_GRACE_MS);
}

function handleMessage(state: MemberState, message: ToWorker, socket: Socket | undefined): void {
  switch (message.kind) {
    case 'start':
      state.starting = start(state, message.start);
      state.starting.catch(fail);
      return;
    case 'connection':
      // Before anything is read: a connection that is not accepted goes to the worker's next process.
      post({ kind: 'accepted', number: message.number });
      // No socket: the client closed the connection before it arrived here.
      if (socket !== undefined) accept(state, message.listener, socket);
      return;
    case 'change':
      whenStarted(state, (member) => {
        const fault = change(state, member, message);
        beat(state);
        post({ kind: 'done', number: message.number, fault });
      });
      return;
    case 'reload':
      whenStarted(state, async (member) => {
        const fault = await member.reload().then(
          () => null,
          (error: unknown) => faultOf(error).message,
        );
        post({ kind: 'done', number: message.number, fault });
      });
      return;
    case 'metrics':
      void sendMetrics(state, message.number);
      return;
    case 'release':
      whenStarted(state, async (member) => {
        post({ kind: 'memory', number: message.number, memory: await member.release() });
      });
      return;
    case 'absorb':
      whenStarted(state, (member) => member.absorb(message.visits));
      return;
    case 'reclaim':
      whenStarted(state, (member) => member.reclaim());
      return;
    case 'retire':
      whenStarted(state, (member) => member.retire());
      return;
    case 'drain':
      end(state, message.graceMs);
      return;
    default:
      message satisfies never;
  }
}

async function start(state: MemberState, message: WorkerStart): Promise<JoinedWorker> {
  const member = await state.begin(message, {
    counted: ({ seconds, droppedTops }) =>
      send({
        kind: 'counted',
        seconds: seconds.map(({ minute, sealed }) => ({ minute, sealed: toBase64(sealed) })),
        droppedTops,
      }),
    cached: (report) => send({ kind: 'cached', report }),
    visited: (visits) => send({ kind: 'visits', visits }),
    damaged: (name) => post({ kind: 'damaged', name }),
  });
  state.member = member;
  beat(state);
  post({ kind: 'ready' });
  return member;
}

/** Sends a heartbeat; soon another one while first probes are under way, so that the primary learns of their end. */
function beat(state: MemberState): void {
  const isProbing = state.member?.isProbing() ?? false;
  post({ kind: 'beat', isProbing });
  clearTimeout(state.nextBeat);
  state.nextBeat = setTimeout(() => beat(state), isProbing ? PROBING_BEAT_MS : BEAT_MS);
}

function toBase64({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString('base64');
}

function accept({ member }: MemberState, listener: string, socket: Socket): void {
  if (member === null) socket.destroy();
  else member.accept(listener, socket);
}

/** Runs `act` once the worker serves; messages that arrive during the start are handled in their order then. */
function whenStarted({ starting }: MemberState, act: (member: JoinedWorker) => void | Promise<void>): void {
  // INVARIANT: a worker that cannot commit a prepared change exits, and its next process starts with the change.
  starting?.then(act, () => undefined).catch(fail);
}

/** Does a step of a change. @returns why it could not be prepared; `null`: it is done */
function change({ prepared }: MemberState, member: JoinedWorker, step: ChangeStep): string | null {
  switch (step.step) {
    case 'prepare':
      try {
        prepared.set(step.id, member.prepare(step.change));
      } catch (error) {
        return faultOf(error).message;
      }
      return null;
    case 'commit': {
      const commit = prepared.get(step.id) ?? (() => member.apply(step.change));
      prepared.delete(step.id);
      commit();
      return null;
    }
    case 'abort':
      prepared.delete(step.id);
      return null;
    default:
      return step satisfies never;
  }
}

async function sendMetrics({ member, onFault }: MemberState, number: number): Promise<void> {
  if (member === null) return;
  try {
    post({ kind: 'metrics', number, metrics: await describeMessage(member.registry) });
  } catch (error) {
    onFault(error);
  }
}

function end(state: MemberState, graceMs: number): void {
  if (state.isEnding) return;
  state.isEnding = true;
  const drained = state.member === null ? Promise.resolve() : state.member.drain(graceMs);
  drained.catch(state.onFault).finally(() => process.exit());
}

/** Reports the fault to the primary and exits. */
function fail(error: unknown): void {
  const exit = (): never => process.exit(CANNOT_SERVE);
  send({ kind: 'failed', fault: faultOf(error) }).then(exit, exit);
}

/** Sends a message; lost when the primary is gone, which ends this process by `disconnect`. */
function post(message: ToPrimary): void {
  if (process.connected) process.send?.(message, () => undefined);
}

/** Sends a message; rejects when the primary is gone. */
function send(message: ToPrimary): Promise<void> {
  return new Promise((resolve, reject) => {
    if (process.send === undefined || !process.connected) return reject(new Error('the primary is gone'));
    process.send(message, (error: Error | null) => (error === null ? resolve() : reject(error)));
  });
}

// Installs the primary's plans in a worker: reads them and their lists from the plan store's folder, or takes the octets of the
// message.

type PlanChange = Extract<SharedStateChange, { readonly kind: 'plan' }>;

/** The worker's plans. */
export interface PlanTaker {
  /** Installs a plan without opening it: one that cannot be read refuses its name from the first request on. */
  apply(change: PlanChange): void;
  /**
   * Opens a plan without serving it; the returned function installs it.
   * @throws DamageFault, PlanFault or the system's error, without paths
   */
  prepare(change: PlanChange): () => void;
}

export interface PlanTakerOptions {
  readonly plans: PlanTable;
  /** The folder of the primary's plan store. */
  readonly directory: string;
  /** Called with a name whose installed plan is damaged. */
  readonly onDamaged: (name: string) => void;
}

export function createPlanTaker({ plans, directory, onDamaged }: PlanTakerOptions): PlanTaker {
  const lists = createOpenedLists((digest) => readListFile(directory, digest));

  function readOf({ digest, octets }: PlanMessage): () => Uint8Array {
    if (octets === null) return () => readPlanFile(directory, digest);
    // A copy in memory of its own: views of a plan need an 8-octet boundary.
    const bytes = new Uint8Array(Buffer.from(octets, 'base64'));
    return () => bytes;
  }

  function apply({ name, plan }: PlanChange): void {
    if (plan === null) plans.delete(name);
    else plans.set(name, plan === 'refused' ? plan : installed(plan, () => onDamaged(name)));
  }

  function installed(plan: PlanMessage, reportDamage: () => void): Installed {
    const { revision, digest, clearance, previous } = plan;
    const purged = purgedOf(plan);
    const readOctets = readOf(plan);
    let damage: DamageFault | null = null;
    function intact<T>(read: () => T): T {
      // Not read again at each request: the primary sends the plan again, which replaces this entry.
      if (damage !== null) throw damage;
      try {
        return read();
      } catch (error) {
        // A lack of descriptors or memory is temporary, and the primary would find the file intact.
        if (error instanceof DamageFault) {
          damage = error;
          reportDamage();
        }
        throw error;
      }
    }
    const own: Lists = { ...lists, get: (digest) => intact(() => lists.get(digest)) };
    const read = (): Uint8Array => intact(readOctets);
    const fallback =
      previous === null
        ? null
        : { ...previous, ...purged, lists, read: () => readPlanFile(directory, previous.digest) };
    return { revision, digest, ...purged, clearance, read, lists: own, previous: fallback };
  }

  function purgedOf({ purgeEpoch, purges }: PlanMessage): Pick<Installed, 'purgeEpoch' | 'purges'> {
    if (purges === null) return { purgeEpoch, purges };
    const read = (): PurgeList => readPurgeFile(purges, () => readPlanFile(directory, purges.digest));
    return { purgeEpoch, purges: { ...purges, read } };
  }

  return {
    apply,
    prepare(change) {
      const { name, plan } = change;
      if (plan === null || plan === 'refused') return () => apply(change);
      let isInstalled = false;
      // Before that, the fault of `prepare` reports the damage.
      const entry = installed(plan, () => isInstalled && onDamaged(name));
      let install: () => void;
      try {
        install = plans.prepare(name, entry);
      } catch (error) {
        throw withoutPath(error);
      }
      return () => {
        isInstalled = true;
        install();
      };
    },
  };
}

/** Removes the path from the system's message, since customers read why a plan is refused. */
function withoutPath(error: unknown): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall === undefined) return error;
  return new Error(`${code}: the plan cannot be read`, { cause: error });
}
