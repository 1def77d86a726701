/**
 * The catalog zone (RFC 9432, version 2): it lists every zone, so that a secondary serves a new domain without being
 * configured again. A member's label is derived from the id of its domain: a domain that is deleted and added again is
 * another member, and secondaries begin it anew.
 */
import type { WriteTransaction } from '../store/store.ts';
import type { ZoneRow } from '../store/zone-repositories.ts';
import { CATALOG_HISTORY } from './limits.ts';
import { isGreater, nextSerial } from './soa.ts';
import { encodeName } from './wire/name.ts';
import { packRecords, type ResourceRecord, TYPES } from './wire/records.ts';
import type { ZoneHead } from './zone-source.ts';

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
