/**
 * Starts an agent in a folder of its own: the decisions of a node without its listeners, behind the doors that proxies ask at.
 * In: plain options. Out: the running agent, the way to stop it, and the way to hand it over to another process; signals and
 * printing are the caller's.
 */
import { takeFolder } from '../../base/storage/sqlite.ts';
import type { HandOverParts } from '../handover/predecessor.ts';
import type { InheritedSockets, SocketHandle } from '../handover/sockets.ts';
import {
  MAX_ADDRESS_CONNECTIONS,
  MAX_CONNECTIONS,
  MAX_WEBSOCKETS,
  STALL_MS,
  WEBSOCKET_IDLE_MS,
} from '../proxy/limits.ts';
import { type DoorSettings, type OpenDoors, openDoors } from './agent-doors.ts';
import { openAgentGroup } from './agent-group.ts';
import {
  type AgentReport,
  type AgentState,
  agentState,
  createGate,
  memoryOf,
  memoryReport,
} from './agent-handover.ts';
import { type AgentServices, openAgentServices } from './agent-services.ts';
import { openAgentTickets } from './agent-tickets.ts';
import { createEnding } from './ending.ts';
import { GRACE_MS } from './listeners.ts';
import { createOperations } from './operations.ts';
import { type EdgeNodeOptions, QUIET_MS, reportReloads } from './options.ts';

/** The options that an agent has in common with a node. */
type SharedOptions = Pick<
  EdgeNodeOptions,
  | 'data'
  | 'plans'
  | 'signatures'
  | 'decisions'
  | 'shipped'
  | 'operationsPort'
  | 'operationsAddress'
  | 'collector'
  | 'log'
  | 'version'
  | 'countries'
  | 'asns'
  | 'botRanges'
  | 'nodeId'
  | 'resolvers'
  | 'allowedOrigins'
  | 'onCaughtUp'
  | 'onTokenRefused'
>;

/** Everything that `startAgent` needs. */
export interface AgentOptions extends SharedOptions {
  readonly doors: DoorSettings;
  /** Sockets that listen already, by the names of `AGENT_LISTENER_NAMES`; the others are opened. */
  readonly sockets: InheritedSockets;
  /** What an earlier process has handed over; `null`: the agent starts from its folder alone. */
  readonly handed: AgentState | null;
  /** The folder that agents on the same sockets share; `null`: the agent is alone on its own. */
  readonly group: string | null;
  /** Whether an earlier process still decides: doors are closed until `open`, and decisions wait until it has left. */
  readonly takesOver: boolean;
}

/** Sends a report to the process that has taken over, with the handle of a connection. */
export type SendAgentReport = (report: AgentReport, handle?: object) => Promise<void>;

/** An agent that answers proxies. */
export interface RunningAgent extends HandOverParts {
  /** A line for each open door. */
  doors(): readonly string[];
  /** `null` without a health and metrics listener. */
  operationsUrl(): string | null;
  /** Opens the doors, and the health and metrics listener, of an agent that takes over. @throws the error of listening */
  open(): Promise<void>;
  /** Takes what the process before reports. */
  absorb(report: AgentReport, handle: SocketHandle | undefined): void;
  /** The process before has ended: decides, whether or not it has reported. */
  alone(): void;
  /**
   * Stops listening, passes memory and connections of HAProxy on, and drains as `stop`, for at least `QUIET_MS`.
   * @param send to the process that has taken over
   */
  leave(drainMs: number, send: SendAgentReport): Promise<void>;
  /** As `RunningNode.reload`. */
  reload(): void;
  /** Reports itself not ready and answers on for `drainMs`, then ends its connections where they are quiet. */
  stop(drainMs: number): Promise<void>;
}

/** What a node has and an agent does not use: listeners, connections of clients and to origins, a cache. */
const UNUSED = {
  host: '127.0.0.1',
  port: 0,
  publicPort: null,
  tls: null,
  trusted: [],
  proxies: [],
  cacheOctets: 0,
  diskCache: false,
  perOrigin: 1,
  anyCertificate: false,
  maxConnections: MAX_CONNECTIONS,
  maxAddressConnections: MAX_ADDRESS_CONNECTIONS,
  maxWebsockets: MAX_WEBSOCKETS,
  requestIdleMs: STALL_MS,
  websocketIdleMs: WEBSOCKET_IDLE_MS,
  keepUnderscores: false,
  bodyOctets: 0,
  bufferOctets: 0,
  minRate: 0,
  workers: 1,
  handed: null,
  onWorkerEvent: () => undefined,
} as const;

type Stage = 'starting' | 'serving' | 'draining';

/**
 * Locks the folder and starts the agent; its doors are open when this resolves, unless it takes over.
 * @throws StoreFault when another process has the folder; the system's errors for addresses, files and folders; TrustFault when
 * the configured key and the stored one differ; what an edge file is refused for
 */
export async function startAgent({
  doors: wanted,
  takesOver,
  handed,
  group: groupFolder,
  ...shared
}: AgentOptions): Promise<RunningAgent> {
  const group = groupFolder === null ? null : openAgentGroup(groupFolder);
  const options: EdgeNodeOptions = { ...UNUSED, ...shared, handed: null };
  const { log } = options;
  const lock = createLock(options.data);
  const { tickets, ...sharing } = openAgentTickets(options, { group, handed, takesOver });
  const services = await openAgentServices(options, (group ?? handed)?.clearance ?? null);
  const { serving } = services;
  let stage: Stage = 'starting';
  const unready = (): string | null => (stage === 'serving' ? services.unready() : stage);
  const operations = createOperations(options, { registry: () => serving.metrics.registry, unready });
  const gate = createGate();
  let opened: OpenDoors | null = null;
  async function open(): Promise<void> {
    opened = await openDoors(wanted, {
      ...serving.node.decisions,
      inherited: options.sockets,
      tickets,
      gate,
      registry: serving.metrics.registry,
      log: (sentence) => log.warn(sentence),
      isServing: () => unready() === null,
      hasPlans: services.hasPlans,
      onFault: (error) => log.error({ err: error }, 'a fault in a decision'),
    });
    await operations.open();
  }
  async function close(): Promise<void> {
    sharing.close();
    operations.close();
    await services.close();
    lock.release();
  }
  try {
    await services.start();
    if (!takesOver) {
      gate.open();
      await open();
    }
  } catch (error) {
    await (opened as OpenDoors | null)?.stop(0);
    await close();
    throw error;
  }
  stage = 'serving';
  /** Decides from now on, and removes the files of its unix sockets at its end. */
  function begin(): void {
    gate.open();
    opened?.setOwned(true);
  }
  const end = createEnding(log, async (drained) => {
    stage = 'draining';
    // A process that ends before it has begun: the one before serves on.
    gate.open();
    await drained();
    opened?.retire();
    await opened?.stop(GRACE_MS);
    await close();
  });
  return {
    doors: () => opened?.lines ?? [],
    operationsUrl: operations.url,
    unready,
    open,
    absorb(report, handle) {
      if (report.kind === 'counted') return services.relay.absorb(report.counted);
      if (report.kind === 'visits') return serving.absorb(report.visits);
      if (report.kind === 'connection') return void (handle && opened?.adopt(report.state, handle));
      const memory = memoryOf(report);
      if (memory !== null) serving.remember(memory);
      begin();
    },
    alone() {
      begin();
      sharing.end();
    },
    reload() {
      services.decisions?.reopen();
      reportReloads(log, [services.source.check(), serving.reload()]);
    },
    stop: end,
    sockets: () => [...(opened?.sockets ?? []), ...operations.sockets()],
    async release() {
      await services.release();
      lock.release();
      return agentState({ clearance: services.clearance(), ticketKey: tickets.key });
    },
    async reclaim() {
      lock.take();
      await services.source.start();
    },
    async leave(drainMs, send) {
      sharing.begin();
      operations.unlisten();
      if (opened !== null) await leaveDoors(opened, { services, log, send });
      await end(Math.max(QUIET_MS, drainMs));
    },
  };
}

interface Leaving {
  readonly services: AgentServices;
  readonly log: EdgeNodeOptions['log'];
  readonly send: SendAgentReport;
}

/** Leaves the doors to the next process. One that has ended meanwhile leaves this one to serve its connections. */
async function leaveDoors(doors: OpenDoors, { services, log, send }: Leaving): Promise<void> {
  doors.setOwned(false);
  doors.retire();
  await doors.pause();
  try {
    // INVARIANT: with the state, so that each hit of requests that are still on their way is in one of the two.
    services.serving.relayVisits((visits) => send({ kind: 'visits', process: 0, processes: 1, visits }));
    await send(memoryReport(services.serving.state()));
    await doors.handOver((state, handle) => send({ kind: 'connection', state }, handle));
    await services.relay.to((counted) => send({ kind: 'counted', counted }));
  } catch (error) {
    log.error({ err: error }, 'the process that has taken over does not take what this one reports');
    await doors.handOver(() => Promise.reject(error));
  }
}

interface FolderLock {
  take(): void;
  /** Once, as the next lock of the folder may be another process's. */
  release(): void;
}

function createLock(data: string): FolderLock {
  let unlock: (() => void) | null = null;
  const lock: FolderLock = {
    take() {
      unlock = takeFolder(data);
    },
    release() {
      unlock?.();
      unlock = null;
    },
  };
  lock.take();
  return lock;
}
