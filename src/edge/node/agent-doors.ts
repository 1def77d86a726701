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
import type { DoorAddress, RunningDoor } from '../doors/listener.ts';
import { openSpopDoor } from '../doors/spop/open.ts';
import { SPOP_ENFORCED } from '../doors/spop/variables.ts';
import { createTickets } from '../doors/tickets.ts';

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
  /** Accepts no more connections; those that exist are served on. */
  retire(): void;
  stop(graceMs: number): Promise<void>;
}

/** What doors decide and report with. */
export interface DoorParts extends Omit<DoorOptions, 'enforced' | 'onOpened'> {
  readonly registry: Registry;
  /** Receives sentences for the operator. */
  readonly log: (sentence: string) => void;
  /** Whether health checks of Envoy find the agent serving. */
  readonly isServing: () => boolean;
}

interface NamedDoor {
  readonly name: DoorName;
  readonly door: RunningDoor<object>;
}

type DoorName = 'SPOP' | 'HTTP' | 'ext_authz';

/** Opens the doors; where one cannot be opened, none stays open. @throws the error of listening */
export async function openDoors(settings: DoorSettings, parts: DoorParts): Promise<OpenDoors> {
  const { log, isServing } = parts;
  const { spop, http, extAuthz, failOpen } = settings;
  const unfiltered = createUnfiltered(log);
  const decideFor = (name: DoorName, enforced: ReadonlySet<Unenforced>): DecideForDoor =>
    createDoorDecider({
      ...parts,
      enforced,
      ...(failOpen ? { onOpened: (fault: DoorFault) => unfiltered.add(name, fault) } : {}),
    });
  const tickets = createTickets();
  const opened: NamedDoor[] = [];
  try {
    if (spop !== null) {
      const door = await openSpopDoor({
        address: spop,
        decide: decideFor('SPOP', SPOP_ENFORCED),
        tickets,
        log,
      });
      opened.push({ name: 'SPOP', door });
    }
    if (http !== null) {
      const decide = Object.fromEntries(
        FLAVOURS.map((flavour) => [flavour, decideFor('HTTP', ENFORCED[flavour])]),
      ) as Record<ProxyFlavour, DecideForDoor>;
      opened.push({ name: 'HTTP', door: await openHttpDoor({ ...http, decide, tickets, log }) });
    }
    if (extAuthz !== null) {
      const decide = decideFor('ext_authz', EXT_AUTHZ_ENFORCED);
      const door = await openExtAuthzDoor({ address: extAuthz, decide, log, isServing });
      opened.push({ name: 'ext_authz', door });
    }
  } catch (error) {
    await Promise.all(opened.map(({ door }) => door.stop(0)));
    throw error;
  }
  addDoorMetrics(parts.registry, opened, unfiltered);
  return {
    lines: opened.map(({ name, door }) => `${name} at ${door.address}`),
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
