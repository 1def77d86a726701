/**
 * What the server of zones answers from: versions of zones with their SOA, the changes between them, the catalog of all
 * zones, and these as the store has them.
 */
import { MAX_HOST_OCTETS } from '../../base/vocabulary/limits.ts';
import type { ReadTransaction, Store, WriteTransaction } from '../store/store.ts';
import type { ZoneHeadRow, ZoneRow, ZoneStepRow } from '../store/tables/zones.ts';
import { CATALOG_HISTORY } from './limits.ts';
import { encodeName, packRecords, type ResourceRecord, TYPES } from './wire/records.ts';

/** One version of a zone. */
export interface ZoneHead {
  /** Canonical, without a trailing dot. */
  readonly name: string;
  /** The serial of its SOA, 32 bits (RFC 1982). */
  readonly serial: number;
  /** MNAME of its SOA: the first nameserver. */
  readonly primary: string;
}

/** The step from one version to a later one; contents as `wire/records.ts` describes them, without SOA records. */
export interface ZoneStep {
  readonly from: number;
  readonly to: number;
  readonly removed: Uint8Array;
  readonly added: Uint8Array;
}

/** Reads zones. Each method reads one snapshot. @throws StoreFault */
export interface ZoneSource {
  /** `null`: this server has no such zone. */
  head(name: string): Promise<ZoneHead | null>;
  /** The whole content without its SOA. */
  whole(name: string): Promise<{ readonly head: ZoneHead; readonly content: Uint8Array } | null>;
  /**
   * The steps from `serial` to the current version, in order, with no step missing; empty: it is the current one.
   * `steps` is `null` if the history does not reach back so far.
   */
  since(
    name: string,
    serial: number,
  ): Promise<{ readonly head: ZoneHead; readonly steps: readonly ZoneStep[] | null } | null>;
}

/** Timers of every SOA, in seconds (RFC 1035 §3.3.13; RFC 2308 §4 for the negative TTL), as a printed zone has them. */
export const SOA_TIMERS = { refresh: 3_600, retry: 600, expire: 1_209_600, negative: 300 } as const;

/** The SOA record of a version. */
export function soaRecord({ name, serial, primary }: ZoneHead): ResourceRecord {
  const mailbox = `hostmaster.${name}`;
  const servers = [encodeName(primary), encodeName(mailbox.length <= MAX_HOST_OCTETS ? mailbox : name)];
  const numbers = Buffer.alloc(20);
  const { refresh, retry, expire, negative } = SOA_TIMERS;
  for (const [at, value] of [serial, refresh, retry, expire, negative].entries())
    numbers.writeUInt32BE(value, at * 4);
  return { name, type: TYPES.SOA, ttl: negative, rdata: Buffer.concat([...servers, numbers]) };
}

/** Whether serial `left` is greater than `right` (RFC 1982 §3.2). */
export function isGreater(left: number, right: number): boolean {
  const ahead = (left - right) >>> 0;
  return ahead !== 0 && ahead < 0x8000_0000;
}

/**
 * The serial of the next version: the time in seconds, or one above the last serial where that is not greater. A zone that
 * is deleted and added again, or restored from a backup, so gets a serial above those that secondaries have seen.
 * `now` in milliseconds since the epoch; `last` is `null` for a new zone.
 */
export function nextSerial(last: number | null, now: number): number {
  const time = Math.floor(now / 1_000) >>> 0;
  return last === null || isGreater(time, last) ? time : (last + 1) >>> 0;
}

// Zones as the store has them, and the catalog of all of them, for the server that answers transfers.

/** Answers transfers from the store. */
export function createStoreSource(store: Store, catalog: string): ZoneSource {
  return {
    head: (name) => readHead(store.latest, name, catalog),
    whole: (name) =>
      store.read(async (tx) => {
        if (name === catalog) {
          const head = await readHead(tx, name, catalog);
          return head && { head, content: catalogContent(catalog, await tx.zones.members()) };
        }
        const zone = await tx.zones.get(name);
        return zone && { head: headOf(zone), content: zone.content };
      }),
    since: (name, serial) =>
      store.read(async (tx) => {
        const head = await readHead(tx, name, catalog);
        if (head === null) return null;
        if (head.serial === serial) return { head, steps: [] };
        const steps = (await tx.zones.steps(name, serial)).map(stepOf);
        return { head, steps: steps.at(-1)?.to === head.serial ? steps : null };
      }),
  };
}

async function readHead(tx: ReadTransaction, name: string, catalog: string): Promise<ZoneHead | null> {
  if (name === catalog) {
    const row = await tx.zones.catalog(name);
    return row && { name, serial: row.serial, primary: CATALOG_SERVER };
  }
  const row = await tx.zones.head(name);
  return row && headOf(row);
}

/** The version of a row. */
export function headOf({ name, serial, primary_name }: ZoneHeadRow): ZoneHead {
  return { name, serial, primary: primary_name };
}

function stepOf({ from_serial, to_serial, removed, added }: ZoneStepRow): ZoneStep {
  return { from: from_serial, to: to_serial, removed, added };
}

// The catalog zone (RFC 9432, version 2): it lists every zone, so that a secondary serves a new domain without being
// configured again. A member's label is derived from the id of its domain: a domain that is deleted and added again is
// another member, and secondaries begin it anew.

/** NS of a catalog and MNAME of its SOA (RFC 9432 §4.1): a catalog is not delegated. */
export const CATALOG_SERVER = 'invalid';
/** Seconds. */
const TTL_SEC = 3_600;

/** A zone in the catalog. */
export type CatalogMember = Pick<ZoneRow, 'name' | 'domain_id'>;

/** A change of the catalog's members. */
export interface CatalogChange {
  readonly removed: readonly CatalogMember[];
  readonly added: readonly CatalogMember[];
  /** The last serial of the zone that is removed. */
  readonly removedSerial?: number;
}

/** The content of the catalog without its SOA. */
export function catalogContent(catalog: string, members: readonly CatalogMember[]): Uint8Array {
  const version = Buffer.from('\u00012', 'latin1');
  return packRecords([
    { name: catalog, type: TYPES.NS, ttl: TTL_SEC, rdata: encodeName(CATALOG_SERVER) },
    { name: `version.${catalog}`, type: TYPES.TXT, ttl: TTL_SEC, rdata: version },
    ...members.map((member) => memberRecord(catalog, member)),
  ]);
}

function memberRecord(catalog: string, { name, domain_id }: CatalogMember): ResourceRecord {
  return {
    name: `d${domain_id}.zones.${catalog}`,
    type: TYPES.PTR,
    ttl: TTL_SEC,
    rdata: encodeName(name),
  };
}

/** Writes the catalog's first version, if it has none. */
export async function beginCatalog(tx: WriteTransaction, name: string, now: number): Promise<void> {
  if ((await tx.zones.catalog(name)) !== null) return;
  const first = { name, serial: nextSerial(null, now), removed_serial: 0, updated_at: now };
  await tx.zones.putCatalog(first, null, CATALOG_HISTORY);
}

/**
 * Writes the catalog's next version and answers it. Do it last in a transaction: other zones that are added or removed wait
 * from here to the commit.
 */
export async function advanceCatalog(
  tx: WriteTransaction,
  { catalog: name, now }: { readonly catalog: string; readonly now: number },
  { removed, added, removedSerial = 0 }: CatalogChange,
): Promise<ZoneHead> {
  const last = await tx.zones.catalog(name);
  const serial = nextSerial(last?.serial ?? null, now);
  const step =
    last === null
      ? null
      : {
          from_serial: last.serial,
          to_serial: serial,
          removed: packRecords(removed.map((member) => memberRecord(name, member))),
          added: packRecords(added.map((member) => memberRecord(name, member))),
        };
  const before = last?.removed_serial ?? 0;
  const removed_serial = isGreater(removedSerial, before) ? removedSerial : before;
  await tx.zones.putCatalog({ name, serial, removed_serial, updated_at: now }, step, CATALOG_HISTORY);
  return { name, serial, primary: CATALOG_SERVER };
}
