/**
 * A simulated time of renewals: domains of several kinds, two issuers on one store that pass in turn, and a script of bad
 * days. In: the script and its length. Out: records of the authority, and every interval in which a name had no certificate.
 */
import type { Issuer } from '../../src/control/certificates/issuance/issuer.ts';
import type { DomainRow } from '../../src/control/store/tables/domains.ts';
import { isNameCovered } from '../../src/rules/model/record-name.ts';
import type { TestAuthority } from './acme-authority.ts';
import type { IssuanceRig } from './issuance-rig.ts';
import { newRecord, publication, T } from './sample-rows.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;
/** How long attempts after a refusal are watched in small steps. */
const RETRY_MS = 3 * 60 * MINUTE;
const RETRY_STEP_MINUTES = 5;

/** Days in which something is wrong. */
export interface Episode {
  readonly what: string;
  /** The first day, from the beginning of the simulation, and how many; fractions too. */
  readonly from: number;
  readonly days: number;
  readonly faults?: Partial<TestAuthority['faults']>;
  /** Days by which the clock of the first issuer is ahead. */
  readonly ahead?: number;
  /** Minutes of a step meanwhile. Default: that of the simulation. */
  readonly stepMinutes?: number;
}

/** Something that happens once. */
export interface Event {
  readonly day: number;
  happen(year: Year): Promise<void>;
}

/** A domain of the simulation. */
export interface Simulated {
  readonly domain: DomainRow;
  /** Absolute names with a proxied record, with the time of the record. */
  readonly names: Map<string, number>;
  isActive: boolean;
}

export interface Year {
  readonly rig: IssuanceRig;
  readonly issuers: readonly Issuer[];
  readonly simulated: Map<string, Simulated>;
  /** When a name was covered first. */
  readonly covered: Map<string, number>;
  /** Intervals in which a name that was covered before had no certificate in force. */
  readonly gaps: string[];
  /** When a name was refused first. */
  readonly refused: Map<string, number>;
  /** Milliseconds by which the clock of the first issuer is ahead. */
  ahead: number;
  steps: number;
  /** What the certificates were read after. */
  seen: string;
}

export interface YearScript {
  readonly days: number;
  readonly stepMinutes: number;
  readonly episodes: readonly Episode[];
  readonly events: readonly Event[];
}

/** Two issuers on the store of a rig. `orders`: the allowance of each. */
export function openYear(rig: IssuanceRig, orders = 300): Year {
  const year: Year = {
    ...{
      rig,
      simulated: new Map(),
      covered: new Map(),
      gaps: [],
      refused: new Map(),
      ahead: 0,
      steps: 0,
      seen: '',
    },
    issuers: [
      rig.issuer({ clock: () => rig.now + year.ahead, orders }),
      rig.issuer({ clock: () => rig.now, orders }),
    ],
  };
  return year;
}

/** The day of the simulation, with its fraction. */
export function dayOf({ rig }: Year): number {
  return (rig.now - T) / DAY;
}

/** Adds a domain with proxied names. */
export async function addSimulated(
  { rig, simulated }: Year,
  { name, names, zone }: { readonly name: string; readonly names: readonly string[]; readonly zone: boolean },
): Promise<void> {
  const domain = await rig.addDomain(name, { names, zone });
  const absolute = names.map((one): [string, number] => [one === '@' ? name : `${one}.${name}`, rig.now]);
  simulated.set(name, { domain, names: new Map(absolute), isActive: true });
}

/** Adds a proxied record and publishes the domain. */
export async function addName({ rig, simulated }: Year, name: string, label: string): Promise<void> {
  const { domain, names } = simulated.get(name)!;
  names.set(`${label}.${name}`, rig.now);
  await rig.store.write(async (tx) => {
    await tx.records.insert([newRecord(domain.id, { name: label })]);
    await republish(tx, domain, rig.now);
  });
}

/** Suspends a domain, or ends that: then its names may have no certificate until one is issued. */
export async function setSuspended({ rig, simulated, covered }: Year, name: string, suspended: boolean) {
  const one = simulated.get(name)!;
  one.isActive = !suspended;
  for (const known of one.names.keys()) {
    covered.delete(known);
    if (!suspended) one.names.set(known, rig.now);
  }
  await rig.store.write(async (tx) => {
    await tx.domains.update(one.domain.id, { suspended, updated_at: rig.now });
    await republish(tx, one.domain, rig.now);
  });
}

/** Deletes a domain. */
export async function deleteSimulated({ rig, simulated }: Year, name: string): Promise<void> {
  const { domain } = simulated.get(name)!;
  simulated.delete(name);
  await rig.store.write(async (tx) => {
    const { revision } = (await tx.plans.current(name))!;
    await tx.domains.remove(domain.id);
    const gone = { domain_id: domain.id, digest: null, at: rig.now, revision: revision + 1 };
    await tx.plans.publish(publication(name, gone));
  });
}

type Write = Parameters<Parameters<IssuanceRig['store']['write']>[0]>[0];

async function republish(tx: Write, { id, name }: DomainRow, at: number): Promise<void> {
  const { revision } = (await tx.plans.current(name))!;
  const next = { domain_id: id, digest: 'plan', at, revision: revision + 1 };
  await tx.plans.publish(publication(name, next));
}

/** Runs the script from the rig's time to its last day. */
export async function runYear(
  year: Year,
  { days, stepMinutes, episodes, events }: YearScript,
): Promise<void> {
  const { rig } = year;
  const waiting = [...events].sort((one, other) => one.day - other.day);
  for (let day = dayOf(year); day < days; day = dayOf(year)) {
    while (waiting.length > 0 && waiting[0]!.day <= day) await waiting.shift()!.happen(year);
    const active = episodes.filter(({ from, days: length }) => day >= from && day < from + length);
    rig.ca.clearFaults();
    for (const { faults } of active) Object.assign(rig.ca.faults, faults);
    year.ahead = active.reduce((sum, { ahead = 0 }) => sum + ahead * DAY, 0);
    await pass(year);
    const steps = [stepMinutes, ...active.map((one) => one.stepMinutes ?? stepMinutes)];
    const minutes = failsAnew(year) ? RETRY_STEP_MINUTES : Math.min(...steps);
    const next = rig.now + minutes * MINUTE;
    await check(year, next);
    rig.now = next;
    year.steps += 1;
  }
  rig.ca.clearFaults();
}

/** Whether a name was refused for the first time in the last hours, when attempts follow each other fast. */
function failsAnew({ rig, refused }: Year): boolean {
  for (const { name, at } of rig.ca.records.failedValidations) if (!refused.has(name)) refused.set(name, at);
  return [...refused.values()].some((at) => rig.now - at < RETRY_MS);
}

/** Usually one issuer after the other; now and then both at once. */
async function pass({ issuers, steps }: Year): Promise<void> {
  if (steps % 5 === 0) await Promise.all(issuers.map((one) => one.pass()));
  else await issuers[steps % 2]!.pass();
}

/** Between two passes nothing changes: a name is covered until the last of its certificates ends. */
async function check(year: Year, until: number): Promise<void> {
  const { rig, simulated, covered, gaps } = year;
  // The rows are read after each change, and once a day without one.
  const seen = `${rig.outcomes.length} ${Math.floor(dayOf(year))} ${[...simulated.values()].map((one) => one.names.size).join()}`;
  if (seen !== year.seen) lives.set(year, await readLives(year));
  year.seen = seen;
  for (const [name, { isActive, names }] of simulated) {
    if (!isActive) continue;
    const inForce = lives
      .get(year)!
      .get(name)!
      .filter(({ start }) => start <= rig.now);
    for (const one of names.keys()) {
      const ends = inForce.filter((life) => isNameCovered(one, life.names)).map(({ end }) => end);
      const end = Math.max(0, ...ends);
      if (end >= until) covered.set(one, covered.get(one) ?? rig.now);
      else if (covered.has(one))
        gaps.push(`${one} from ${text(Math.max(end, rig.now))} to ${text(until)}, day ${dayOf(year)}`);
    }
  }
}

interface Life {
  readonly names: ReadonlySet<string>;
  readonly start: number;
  readonly end: number;
}

/** The certificates in force by domain, as they were read last. */
const lives = new WeakMap<Year, ReadonlyMap<string, readonly Life[]>>();

async function readLives({ rig, simulated }: Year): Promise<ReadonlyMap<string, readonly Life[]>> {
  const found = new Map<string, readonly Life[]>();
  for (const [name, { domain }] of simulated) {
    const rows = await rig.store.latest.certificates.list(domain.id);
    found.set(
      name,
      rows
        .filter(({ status }) => status === 'active')
        .map(({ names_json, not_before, not_after }) => ({
          names: new Set(JSON.parse(names_json) as string[]),
          start: not_before,
          end: not_after,
        })),
    );
  }
  return found;
}

function text(ms: number): string {
  return new Date(ms).toISOString();
}
