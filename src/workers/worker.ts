/** The worker's side of a node of several processes: takes connections from the primary and does as it says. */
import type { Socket } from 'node:net';
import type { Registry } from 'prom-client';
import type { ReportedCounts } from '../sync/traffic-counts.ts';
import { BEAT_MS, FAREWELL_GRACE_MS } from './limits.ts';
import {
  type Beginning,
  type ChangeStep,
  describeMessage,
  faultOf,
  type SharedStateChange,
  type ToPrimary,
  type ToWorker,
} from './messages.ts';

/** A worker that serves. */
export interface JoinedWorker {
  /** Serves a connection that came to a listener. */
  readonly accept: (listener: string, socket: Socket) => void;
  readonly registry: Registry;
  /**
   * Opens what a change brings and goes on as before; what is returned makes the change, without fail. What it throws is
   * told to the primary: nobody makes the change then.
   */
  readonly prepare: (change: SharedStateChange) => () => void;
  /** Makes a change that all others have prepared, as one that it begins from. */
  readonly apply: (change: SharedStateChange) => void;
  /** Reads anew what files say. What it throws is told to the primary: all is as before then. */
  readonly reload: () => Promise<void>;
  /** Asks clients to leave; every request is still served. */
  readonly retire: () => void;
  /** Lets requests in flight end for so long, writes what waits, and closes everything. */
  readonly drain: (graceMs: number) => Promise<void>;
}

/** What a worker tells by itself. */
export interface PrimaryChannel {
  /** Resolves when it is on its way; rejects when the primary is gone. */
  counted(tallies: readonly ReportedCounts[]): Promise<void>;
  damaged(name: string): void;
}

export interface JoinOptions {
  /** Serves what the primary says; what it throws ends the process, and the primary is told. */
  readonly begin: (beginning: Beginning, link: PrimaryChannel) => Promise<JoinedWorker>;
  /** Told of what goes wrong on the way; the process ends all the same. */
  readonly onFault: (error: unknown) => void;
}

/** The exit code of a worker that cannot begin, or cannot be like the others. */
const CANNOT_SERVE = 4;

/** Follows the primary from its first word on. A primary that is gone ends the worker. */
export function joinPrimary({ begin, onFault }: JoinOptions): void {
  // The primary gets these too, and says when and how to end; a terminal sends them to all processes at once.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  let member: JoinedWorker | null = null;
  let begun: Promise<JoinedWorker> | null = null;
  let ending = false;
  /** What makes changes that wait for the others' word. */
  const prepared = new Map<number, () => void>();
  setInterval(() => tell({ kind: 'beat' }), BEAT_MS);
  const link: PrimaryChannel = {
    counted: (tallies) => send({ kind: 'counted', tallies }),
    damaged: (name) => tell({ kind: 'damaged', name }),
  };

  function end(graceMs: number): void {
    if (ending) return;
    ending = true;
    const drained = member === null ? Promise.resolve() : member.drain(graceMs);
    drained.catch(onFault).finally(() => process.exit());
  }

  async function serve(beginning: Beginning): Promise<JoinedWorker> {
    const serving = await begin(beginning, link);
    member = serving;
    tell({ kind: 'ready' });
    return serving;
  }

  process.on('message', (message: ToWorker, socket: Socket | undefined) => {
    switch (message.kind) {
      case 'begin':
        begun = serve(message.beginning);
        begun.catch(giveUp);
        return;
      case 'connection':
        // Before anything is read: what is not told is given to the worker that comes after this one.
        tell({ kind: 'took', way: message.way });
        // Without a socket: the client was gone before the connection could be handed over.
        if (socket !== undefined) serveOn(message.listener, socket);
        return;
      case 'change':
        afterwards((serving) => {
          tell({ kind: 'done', number: message.number, fault: take(serving, message) });
        });
        return;
      case 'reload':
        afterwards(async (serving) => {
          const fault = await serving.reload().then(
            () => null,
            (error: unknown) => faultOf(error).message,
          );
          tell({ kind: 'done', number: message.number, fault });
        });
        return;
      case 'metrics':
        void tellMetrics(message.ask);
        return;
      case 'retire':
        afterwards((serving) => serving.retire());
        return;
      case 'drain':
        end(message.graceMs);
        return;
      default:
        message satisfies never;
    }
  });
  process.once('disconnect', () => end(FAREWELL_GRACE_MS));
  // It may have gone while this process was loading, which nothing tells of any more.
  if (!process.connected) end(FAREWELL_GRACE_MS);

  function serveOn(listener: string, socket: Socket): void {
    if (member === null) socket.destroy();
    else member.accept(listener, socket);
  }

  /** What comes while it begins is done in its order as soon as it has. */
  function afterwards(act: (serving: JoinedWorker) => void | Promise<void>): void {
    // INVARIANT: a worker that cannot make what it prepared ends, and the one after it begins from the change.
    begun?.then(act, () => undefined).catch(giveUp);
  }

  /** Does a step of a change. @returns why it could not prepare; `null`: it has */
  function take(serving: JoinedWorker, told: ChangeStep): string | null {
    switch (told.step) {
      case 'prepare':
        try {
          prepared.set(told.id, serving.prepare(told.change));
        } catch (error) {
          return faultOf(error).message;
        }
        return null;
      case 'make': {
        const make = prepared.get(told.id) ?? (() => serving.apply(told.change));
        prepared.delete(told.id);
        make();
        return null;
      }
      case 'leave':
        prepared.delete(told.id);
        return null;
      default:
        return told satisfies never;
    }
  }

  async function tellMetrics(ask: number): Promise<void> {
    try {
      if (member !== null) tell({ kind: 'metrics', ask, metrics: await describeMessage(member.registry) });
    } catch (error) {
      onFault(error);
    }
  }
}

/** Ends a worker that cannot serve, once it has said why. */
function giveUp(error: unknown): void {
  const leave = (): never => process.exit(CANNOT_SERVE);
  send({ kind: 'failed', fault: faultOf(error) }).then(leave, leave);
}

function tell(message: ToPrimary): void {
  // Without a primary this process ends by `disconnect`.
  if (process.connected) process.send?.(message, () => undefined);
}

function send(message: ToPrimary): Promise<void> {
  return new Promise((resolve, reject) => {
    if (process.send === undefined || !process.connected) return reject(new Error('the primary is gone'));
    process.send(message, (error: Error | null) => (error === null ? resolve() : reject(error)));
  });
}
