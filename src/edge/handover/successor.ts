/**
 * The side of a process that takes over from the one that started it. In: sockets and state of the predecessor. Out: messages
 * about its own progress. A predecessor that ends early leaves a usual start: the system has closed its sockets and released
 * its lock.
 */
import { SUCCESSOR, type ToPredecessor, type ToSuccessor } from './messages.ts';
import type { HandedSocket, SocketHandle } from './sockets.ts';

/** What a predecessor hands over. */
export interface Handed {
  readonly sockets: readonly HandedSocket[];
  readonly state: unknown;
  /** As `ToSuccessor`. */
  readonly unready: string | null;
}

/** Receives a report; a connection has a handle. */
export type ReportReceiver = (report: unknown, handle: SocketHandle | undefined) => void;

/** The predecessor, as the successor sees it. */
export interface Predecessor {
  /**
   * Reports that everything is loaded; resolves when the predecessor has released what only one process may have, and sent its
   * sockets. `null`: it has ended, and there is nothing to take over.
   */
  take(): Promise<Handed | null>;
  /**
   * Waits until `unready` returns `null`, or the reason for which the predecessor was not ready either. A predecessor that is
   * gone ends the wait: nobody goes back then.
   * @param unready as the state of `/readyz`
   */
  ready(unready: () => string | null): Promise<void>;
  /** Reports that this process serves: the predecessor leaves. */
  serving(): Promise<void>;
  /** Called with what the predecessor reports from now on, and with what has arrived before. */
  onReport(receive: ReportReceiver): void;
  /** Resolves when the predecessor has ended, or has closed the channel. */
  readonly gone: Promise<void>;
  /** Called when the predecessor serves on and this process has to end. */
  onAbort(end: () => void): void;
}

/** Milliseconds between two looks at the own readiness. */
const LOOK_MS = 20;
/** Most reports that wait for `onReport`; a predecessor sends some twenty a second and process. */
const MAX_REPORTS = 10_000;

/** Whether a process takes over from the one that started it. */
function isSuccessor(): boolean {
  return process.env[SUCCESSOR] === '1' && process.connected === true;
}

/** The predecessor; `null`: this process was started as any other. */
export function joinPredecessor(): Predecessor | null {
  if (!isSuccessor()) return null;
  const reports: (readonly [report: unknown, handle: SocketHandle | undefined])[] = [];
  let receive: ReportReceiver | null = null;
  let aborted = false;
  let end: () => void = () => undefined;
  const gathering = gatherSockets();
  process.on('message', (message: ToSuccessor, handle: SocketHandle | undefined) => {
    switch (message.kind) {
      case 'state':
      case 'socket':
        gathering.add(message, handle);
        return;
      case 'report':
        if (receive !== null) receive(message.report, handle);
        else if (reports.length < MAX_REPORTS) reports.push([message.report, handle]);
        else handle?.close();
        return;
      case 'abort':
        aborted = true;
        end();
        return;
      default:
        message satisfies never;
    }
  });
  const gone = new Promise<void>((resolve) => {
    process.once('disconnect', resolve);
  });
  void gone.then(gathering.end);
  let predecessorUnready: string | null = null;
  return {
    async take() {
      await send({ kind: 'loaded' });
      const handed = await gathering.done;
      predecessorUnready = handed?.unready ?? null;
      return handed;
    },
    async ready(unready) {
      for (let reason = unready(); reason !== null && reason !== predecessorUnready; reason = unready()) {
        if (!process.connected) return;
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      }
    },
    serving: () => send({ kind: 'serving' }),
    onReport(next) {
      receive = next;
      for (const report of reports.splice(0)) next(...report);
    },
    gone,
    onAbort(next) {
      end = next;
      if (aborted) next();
    },
  };
}

/** Collects the state and the sockets that it announces. */
function gatherSockets() {
  let announced: (ToSuccessor & { readonly kind: 'state' }) | null = null;
  const arrived = new Map<string, SocketHandle>();
  let resolve: (handed: Handed | null) => void = () => undefined;
  const done = new Promise<Handed | null>((settle) => {
    resolve = settle;
  });

  function handedOf({ state, sockets, unready }: NonNullable<typeof announced>): Handed {
    const complete = sockets.flatMap((notice): HandedSocket[] => {
      const handle = arrived.get(notice.name);
      return handle === undefined ? [] : [{ ...notice, handle }];
    });
    return { state, sockets: complete, unready };
  }

  return {
    done,
    add(
      message: ToSuccessor & { readonly kind: 'state' | 'socket' },
      handle: SocketHandle | undefined,
    ): void {
      if (message.kind === 'state') announced = message;
      else if (handle !== undefined) arrived.set(message.name, handle);
      if (announced !== null && arrived.size === announced.sockets.length) resolve(handedOf(announced));
    },
    /** The predecessor is gone: what has arrived is used, and the rest is opened. */
    end: () => resolve(announced === null ? null : handedOf(announced)),
  };
}

/** Sends a message; one that a lost predecessor does not get is of no use to it. */
function send(message: ToPredecessor): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined || !process.connected) resolve();
    else process.send(message, () => resolve());
  });
}

/** Reports why this process cannot take over, so that its predecessor can say so, and lets it exit. */
export async function reportStartFault(reason: string): Promise<void> {
  if (!isSuccessor()) return;
  await send({ kind: 'failed', reason });
  if (process.connected) process.disconnect();
}
