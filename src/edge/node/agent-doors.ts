/** The doors of an agent, opened together: SPOP, HTTP and gRPC, each with the decider for what its proxies enforce. */
import type { Registry } from 'prom-client';
import { Gauge } from 'prom-client';
import { declared } from '../../base/telemetry/metrics/declared.ts';
import type { Unenforced } from '../decide/verdict.ts';
import { createDoorDecider, type DecideForDoor, type DoorOptions } from '../doors/door.ts';
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
export interface DoorParts extends Omit<DoorOptions, 'enforced'> {
  readonly registry: Registry;
  /** Receives sentences for the operator. */
  readonly log: (sentence: string) => void;
  /** Whether health checks of Envoy find the agent serving. */
  readonly isServing: () => boolean;
}

interface NamedDoor {
  readonly name: string;
  readonly door: RunningDoor<object>;
}

/** Opens the doors; where one cannot be opened, none stays open. @throws the error of listening */
export async function openDoors(settings: DoorSettings, parts: DoorParts): Promise<OpenDoors> {
  const { log, isServing } = parts;
  const decideFor = (enforced: ReadonlySet<Unenforced>): DecideForDoor =>
    createDoorDecider({ ...parts, enforced });
  const tickets = createTickets();
  const opened: NamedDoor[] = [];
  const { spop, http, extAuthz } = settings;
  try {
    if (spop !== null) {
      const door = await openSpopDoor({ address: spop, decide: decideFor(SPOP_ENFORCED), tickets, log });
      opened.push({ name: 'SPOP', door });
    }
    if (http !== null) {
      const decide = Object.fromEntries(
        FLAVOURS.map((flavour) => [flavour, decideFor(ENFORCED[flavour])]),
      ) as Record<ProxyFlavour, DecideForDoor>;
      opened.push({ name: 'HTTP', door: await openHttpDoor({ ...http, decide, tickets, log }) });
    }
    if (extAuthz !== null) {
      const decide = decideFor(EXT_AUTHZ_ENFORCED);
      const door = await openExtAuthzDoor({ address: extAuthz, decide, log, isServing });
      opened.push({ name: 'ext_authz', door });
    }
  } catch (error) {
    await Promise.all(opened.map(({ door }) => door.stop(0)));
    throw error;
  }
  addDoorMetrics(parts.registry, opened);
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

/** Adds the counts of the doors: a series for each number, those by a reason with the reason behind a dot. */
function addDoorMetrics(registry: Registry, doors: readonly NamedDoor[]): void {
  new Gauge({
    ...declared('edgeplan_agent_door_events'),
    registers: [registry],
    collect() {
      this.reset();
      for (const { name, door } of doors) {
        for (const [event, value] of Object.entries(door.counts())) {
          if (typeof value === 'number') this.set({ door: name, event }, value);
          else
            for (const [reason, count] of Object.entries(value as Readonly<Record<string, number>>))
              this.set({ door: name, event: `${event}.${reason}` }, count);
        }
      }
    },
  });
}
