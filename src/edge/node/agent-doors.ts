/** The doors of an agent, opened together: SPOP, HTTP and gRPC, each with the decider for what its proxies enforce. */
import type { Registry } from 'prom-client';
import { Gauge } from 'prom-client';
import { declared } from '../../base/telemetry/metrics/declared.ts';
import type { Unenforced } from '../decide/verdict.ts';
import { createDoorDecider, type DecideForDoor, type DoorFault, type DoorOptions } from '../doors/door.ts';
import { EXT_AUTHZ_ENFORCED, openExtAuthzDoor } from '../doors/ext-authz/open.ts';
import { ENFORCED, FLAVOURS, type ProxyFlavour } from '../doors/http/answers.ts';
import { openHttpDoor } from '../doors/http/open.ts';
import type { DoorSecrets } from '../doors/http/secrets.ts';
import {
  type DoorAddress,
  type DoorPlace,
  EXT_AUTHZ,
  FORWARD_AUTH,
  type RunningDoor,
  SPOP,
} from '../doors/listener.ts';
import type { HandedConnection } from '../doors/spop/connection.ts';
import { openSpopDoor, type SpopDoor } from '../doors/spop/open.ts';
import { SPOP_ENFORCED } from '../doors/spop/variables.ts';
import type { Tickets } from '../doors/tickets.ts';
import type { InheritedSockets, OpenSocket, SocketHandle } from '../handover/sockets.ts';
import { decideBehind, type Gate, redeemBehind } from './agent-handover.ts';
import { OPERATIONS } from './options.ts';

/** The listeners of an agent, in the order of descriptors without names. */
export const AGENT_LISTENER_NAMES = [SPOP, FORWARD_AUTH, EXT_AUTHZ, OPERATIONS] as const;

/** Where an agent listens; a door that is `null` is not opened. */
export interface DoorSettings {
  /** For HAProxy. */
  readonly spop: DoorAddress | null;
  /** For nginx, Caddy, Traefik, Envoy's HTTP filter, and for the pages of HAProxy. */
  readonly http: HttpDoorSettings | null;
  /** For Envoy's gRPC filter. */
  readonly extAuthz: DoorAddress | null;
  /** Whether requests that the agent cannot decide, for a fault of its own, are forwarded unchanged. */
  readonly failOpen: boolean;
}

export interface HttpDoorSettings {
  readonly address: DoorAddress;
  /** The secrets by which a proxy shows that it speaks. */
  readonly secrets: DoorSecrets;
  /** Whether the proxies pass bodies on. */
  readonly passesBodies: boolean;
}

/** The open doors. */
export interface OpenDoors {
  /** A line for each: what it is, and its address. */
  readonly lines: readonly string[];
  /** The listening sockets. */
  readonly sockets: readonly OpenSocket[];
  /** Whether files of unix sockets are removed at the end: not while another process may listen on them. */
  setOwned(isOwned: boolean): void;
  /** Stops reading on connections of HAProxy, and waits for the decisions under way. */
  pause(): Promise<void>;
  /** Passes these connections on, as `SpopDoor.handOver`. */
  handOver: SpopDoor['handOver'];
  /** Serves a connection of HAProxy that the process before has passed on. */
  adopt(state: HandedConnection, handle: SocketHandle): void;
  /** Accepts no more connections; those that exist are served on. */
  retire(): void;
  stop(graceMs: number): Promise<void>;
}

/** What doors decide and report with. */
export interface DoorParts extends Omit<DoorOptions, 'enforced' | 'onOpened'> {
  /** Sockets that listen already, by the names of `AGENT_LISTENER_NAMES`. */
  readonly inherited: InheritedSockets;
  readonly tickets: Tickets;
  /** Decisions and pages wait until it is open. */
  readonly gate: Gate;
  readonly registry: Registry;
  /** Receives sentences for the operator. */
  readonly log: (sentence: string) => void;
  /** Whether health checks of Envoy find the agent serving. */
  readonly isServing: () => boolean;
}

interface NamedDoor {
  /** As in metrics. */
  readonly name: DoorName;
  /** As in `AGENT_LISTENER_NAMES`. */
  readonly socketName: string;
  /** The address as configured; `null`: the socket came from systemd. */
  readonly place: DoorAddress | null;
  readonly door: RunningDoor<object>;
}

type DoorName = 'SPOP' | 'HTTP' | 'ext_authz';

/** Opens the doors; where one cannot be opened, none stays open. @throws the error of listening */
export async function openDoors(settings: DoorSettings, parts: DoorParts): Promise<OpenDoors> {
  const { log, isServing, gate, inherited } = parts;
  const { spop, http, extAuthz, failOpen } = settings;
  const unfiltered = createUnfiltered(log);
  const decideFor = (name: DoorName, enforced: ReadonlySet<Unenforced>): DecideForDoor =>
    decideBehind(
      gate,
      createDoorDecider({
        ...parts,
        enforced,
        ...(failOpen ? { onOpened: (fault: DoorFault) => unfiltered.add(name, fault) } : {}),
      }),
    );
  const tickets: Tickets = { ...parts.tickets, redeem: redeemBehind(gate, parts.tickets) };
  const opened: NamedDoor[] = [];
  let spopDoor: SpopDoor | null = null;
  const placeOf = (address: DoorAddress, socketName: string): DoorPlace => {
    return { address, socket: inherited.get(socketName) ?? null };
  };
  const add = (
    names: Pick<NamedDoor, 'name' | 'socketName'>,
    address: DoorAddress,
    door: RunningDoor<object>,
  ) => {
    const isFixed = inherited.get(names.socketName)?.isFixed === true;
    opened.push({ ...names, place: isFixed ? null : address, door });
  };
  try {
    if (spop !== null) {
      spopDoor = await openSpopDoor({
        ...placeOf(spop, SPOP),
        decide: decideFor('SPOP', SPOP_ENFORCED),
        tickets,
        log,
      });
      add({ name: 'SPOP', socketName: SPOP }, spop, spopDoor);
    }
    if (http !== null) {
      const decide = Object.fromEntries(
        FLAVOURS.map((flavour) => [flavour, decideFor('HTTP', ENFORCED[flavour])]),
      ) as Record<ProxyFlavour, DecideForDoor>;
      const place = placeOf(http.address, FORWARD_AUTH);
      const door = await openHttpDoor({ ...http, ...place, decide, tickets, log });
      add({ name: 'HTTP', socketName: FORWARD_AUTH }, http.address, door);
    }
    if (extAuthz !== null) {
      const decide = decideFor('ext_authz', EXT_AUTHZ_ENFORCED);
      const door = await openExtAuthzDoor({ ...placeOf(extAuthz, EXT_AUTHZ), decide, log, isServing });
      add({ name: 'ext_authz', socketName: EXT_AUTHZ }, extAuthz, door);
    }
  } catch (error) {
    await Promise.all(opened.map(({ door }) => door.stop(0)));
    throw error;
  }
  addDoorMetrics(parts.registry, opened, unfiltered);
  return {
    lines: opened.map(({ name, door }) => `${name} at ${door.address}`),
    sockets: opened.map(({ socketName, place, door: { socket } }) => {
      return { name: socketName, place, server: socket.server, path: socket.path };
    }),
    setOwned(isOwned) {
      for (const { door } of opened) door.socket.setOwned(isOwned);
    },
    pause: async () => spopDoor?.pause(),
    handOver: async (send) => spopDoor?.handOver(send),
    adopt(state, handle) {
      if (spopDoor === null) handle.close();
      else spopDoor.adopt(state, handle);
    },
    retire() {
      for (const { door } of opened) door.retire();
    },
    async stop(graceMs) {
      await Promise.all(opened.map(({ door }) => door.stop(graceMs)));
    },
  };
}

/** Requests that were forwarded without a decision, by door and fault. */
interface Unfiltered {
  add(door: DoorName, fault: DoorFault): void;
  counts(door: DoorName): Readonly<Record<DoorFault, number>>;
}

/** Milliseconds between two log lines about one fault. */
const UNFILTERED_LOG_MS = 60_000;

const FAULT_TEXT: Readonly<Record<DoorFault, string>> = {
  no_plan: 'the plans are still being fetched',
  failed: 'the decision failed, see the fault in this log',
};

/** Counts requests that passed without a decision, and logs the first of each minute and fault. */
function createUnfiltered(log: (sentence: string) => void): Unfiltered {
  const none = (): Record<DoorFault, number> => ({ no_plan: 0, failed: 0 });
  const counts: Record<DoorName, Record<DoorFault, number>> = {
    SPOP: none(),
    HTTP: none(),
    ext_authz: none(),
  };
  const loggedAt = new Map<DoorFault, number>();
  return {
    add(door, fault) {
      counts[door][fault]++;
      const now = performance.now();
      if (now - (loggedAt.get(fault) ?? Number.NEGATIVE_INFINITY) < UNFILTERED_LOG_MS) return;
      loggedAt.set(fault, now);
      log(
        `the ${door} door forwarded a request without a decision, as --fail-open asks: ${FAULT_TEXT[fault]} (logged at most once a minute for each fault)`,
      );
    },
    counts: (door) => counts[door],
  };
}

/** Adds the counts of the doors: a series for each number, those by a reason with the reason behind a dot. */
function addDoorMetrics(registry: Registry, doors: readonly NamedDoor[], unfiltered: Unfiltered): void {
  new Gauge({
    ...declared('edgeplan_agent_door_events'),
    registers: [registry],
    collect() {
      this.reset();
      for (const { name, door } of doors) {
        const counts = { ...door.counts(), unfiltered: unfiltered.counts(name) };
        for (const [event, value] of Object.entries(counts)) {
          if (typeof value === 'number') this.set({ door: name, event }, value);
          else
            for (const [reason, count] of Object.entries(value as Readonly<Record<string, number>>))
              this.set({ door: name, event: `${event}.${reason}` }, count);
        }
      }
    },
  });
}
