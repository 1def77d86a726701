/**
 * The health and metrics listener of a node, of one process or several. In: the state to show. Out: a listener at the address of
 * the options or on an inherited socket, which may be opened late: another process answers the probes until then.
 */
import type { OpenSocket } from '../handover/sockets.ts';
import { type NodeHealthOptions, type RunningHealthListener, startHealthListener } from '../proxy/health.ts';
import { placeOf } from './listeners.ts';
import { type EdgeNodeOptions, OPERATIONS } from './options.ts';

/** The listener, open or not. */
export interface NodeOperations {
  /** Listens, where that is configured and not done. @throws Error as `listen` does */
  open(): Promise<void>;
  /** `http://address:port`; `null`: it does not listen. */
  url(): string | null;
  /** The port, also before it listens on an inherited socket; `null`: unknown, or none is configured. */
  port(): number | null;
  sockets(): readonly OpenSocket[];
  /** Accepts no more connections. */
  unlisten(): void;
  close(): void;
}

/** A listener that is not open yet. */
export function createOperations(options: EdgeNodeOptions, shown: NodeHealthOptions): NodeOperations {
  const { operationsPort: port, operationsAddress: host } = options;
  const socket = options.sockets.get(OPERATIONS) ?? null;
  let listener: RunningHealthListener | null = null;
  return {
    async open() {
      if (port === null || listener !== null) return;
      listener = await startHealthListener({ ...shown, host, port, socket });
    },
    url: () => listener?.url ?? null,
    port: () => (listener === null ? (socket?.port ?? null) : Number(new URL(listener.url).port)),
    sockets() {
      if (listener === null || port === null) return [];
      return [{ name: OPERATIONS, place: placeOf(options, OPERATIONS, port), server: listener.server }];
    },
    unlisten: () => listener?.unlisten(),
    close: () => listener?.close(),
  };
}

/** Whether the listener is open from the start; else a process before this one answers its probes. */
export function isOpenAtStart({ sockets, handed }: Pick<EdgeNodeOptions, 'sockets' | 'handed'>): boolean {
  return handed === null || !sockets.has(OPERATIONS);
}
