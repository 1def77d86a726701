/** Imports the records that a scan found into a domain, without changing any record the domain has. */
import type { SpecialJudge } from '../../base/addresses/special-addresses.ts';
import { parseRecord } from '../../rules/model/parse.ts';
import { absoluteName } from '../../rules/model/record-name.ts';
import type { ZoneRecord } from '../dns/zone-file/parse.ts';
import type { NewRecord } from '../store/customer-repositories.ts';
import type { Author, DomainRow, RecordRow } from '../store/rows.ts';
import type { WriteTransaction } from '../store/store.ts';

export interface ImportOptions {
  readonly author: Author;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Records the domain may hold in all; `null`: no limit. */
  readonly maxRecords: number | null;
  /** Judges whether an address may be an origin. */
  readonly specialOrigin: SpecialJudge;
}

export interface Imported {
  readonly records: readonly RecordRow[];
  /** Records not imported: name and type exist, the name has a CNAME, or the record limit is reached. */
  readonly skipped: number;
}

/**
 * Inserts the records whose name and type the domain does not have; records that the customer wrote during the scan take
 * precedence. Appends one audit entry and one outbox row when it inserted any.
 */
export async function importRecords(
  tx: WriteTransaction,
  domain: DomainRow,
  found: readonly ZoneRecord[],
  { author, now, maxRecords, specialOrigin }: ImportOptions,
): Promise<Imported> {
  const existing = await tx.records.list(domain.id);
  const room = maxRecords === null ? found.length : Math.max(0, maxRecords - existing.length);
  const wanted = withoutTaken(domain.name, existing, found).slice(0, room);
  const rows: NewRecord[] = [];
  for (const record of wanted) {
    // A private address cannot be an origin; unproxied, the record still works for clients that can reach it.
    const proxied = record.proxied && specialOrigin(record.destination) === null;
    const parsed = parseRecord({ id: 1, ...record, proxied }, domain.name);
    if (!parsed.ok) continue;
    const { id: _, ...fields } = parsed.record;
    rows.push({ ...fields, domain_id: domain.id, created_at: now, updated_at: now });
  }
  if (rows.length === 0) return { records: [], skipped: found.length };
  const records = await tx.records.insert(rows);
  const about = { ...author, domain_id: domain.id, domain: domain.name, at: now };
  const after_json = JSON.stringify(
    records.map(({ name, type, destination }) => ({ name, type, destination })),
  );
  await tx.audit.append({ ...about, action: 'record.import', subject: '', before_json: null, after_json });
  await tx.outbox.append({
    ...about,
    reason: records.length === 1 ? '1 record was imported' : `${records.length} records were imported`,
  });
  return { records, skipped: found.length - records.length };
}

/** The found records whose name and type are free, and that conflict with no CNAME (RFC 1034 §3.6.2). */
function withoutTaken(
  domain: string,
  existing: readonly RecordRow[],
  found: readonly ZoneRecord[],
): readonly ZoneRecord[] {
  const names = new Set<string>();
  const aliases = new Set<string>();
  const pairs = new Set<string>();
  for (const { name, type } of existing) {
    const absolute = absoluteName(name, domain) ?? name;
    names.add(absolute);
    if (type === 'CNAME') aliases.add(absolute);
    pairs.add(`${type} ${absolute}`);
  }
  return found.filter(({ name, type }) => {
    const absolute = absoluteName(name, domain) ?? name;
    if (aliases.has(absolute) || (type === 'CNAME' && names.has(absolute))) return false;
    return !pairs.has(`${type} ${absolute}`);
  });
}
