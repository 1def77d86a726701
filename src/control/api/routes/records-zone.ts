/** Import and export of zones as BIND master files (RFC 1035 §5). */
import { z } from 'zod';
import { checkRecordType } from '../../accounts/entitlements.ts';
import { type ReadLine, type ReadZoneFile, ZONE_PROBLEM_KINDS, type ZoneProblem } from '../../compute/job.ts';
import { printZone } from '../../dns/zone-file/print.ts';
import { newestChange } from '../../publishing/revisions.ts';
import type { NewRecord } from '../../store/repositories/records.ts';
import type { ReadTransaction } from '../../store/store.ts';
import type { DomainRow } from '../../store/tables/domains.ts';
import { badRequest, forbidden, type Refusal } from '../operation/refusal.ts';
import { ok, operation, type Response, type Writing } from '../operation/route.ts';
import { originsOfRecord, refuseSpecial } from '../origins.ts';
import { neighboursOf, recordShape, SAME_RECORD, showRecord } from '../records/write.ts';
import { judgeRecordCount } from './records.ts';

/** The content type of zone files (RFC 4027). */
const ZONE_TYPE = 'text/dns';

/** Why a line was not imported, or what is probably wrong with it. */
const PROBLEM = z.object({
  kind: z
    .enum(ZONE_PROBLEM_KINDS)
    .describe(
      '`lost`: the record is missing; `not_needed`: it exists already, or the service makes its own; `hint`: it is imported, and probably wrong',
    ),
  line: z.int().nullable().describe('of the file, from 1'),
  error: z.string(),
});

/** The result of an import. */
const IMPORT = z
  .object({
    imported: z.int(),
    skipped: z.int().describe('records that were not added; `problems` has the reasons'),
    lost: z.int().describe('of those, records that the domain lacks'),
    records: z.array(recordShape),
    problems: z.array(PROBLEM),
  })
  .meta({ id: 'ZoneImport' });

/**
 * `POST /domains/{domain}/records/import`: a compute thread reads the file, then one transaction adds the records that fit.
 * 400 where none does, 403 beyond the record limit.
 */
export const importZone = operation<string>({
  summary: 'Add the records of a BIND zone file; `problems` lists the lines that were not added',
  body: { kind: 'text', types: [ZONE_TYPE, 'text/plain'] },
  response: IMPORT,
  async handle({ body, compute, domain, write }) {
    const zone = await compute('zone', async () => ({
      kind: 'zone',
      text: body,
      domain: domain.name,
    }));
    return write((w) => importRecords(w, zone));
  },
});

/** Adds the records of a file that fit, in one transaction with one audit entry. @throws Refusal 400, 403, 412 */
async function importRecords(w: Writing, zone: ReadZoneFile): Promise<Response> {
  const { domain, tx } = w;
  const { problems } = zone;
  if (zone.records.length === 0) throw nothingToImport(problems);
  const there = await tx.records.list(domain.id);
  if (w.conditional) w.match(there.map(showRecord));
  const read = readAll(w, zone.records, neighboursOf(domain.name, there));
  const rows = read.rows;
  const closed = await checkRecordType(rows.length)(w);
  if (closed !== null && rows.length > 0) throw forbidden(`${closed}; the file has ${rows.length} more`);
  judgeRecordCount(there.length + rows.length);
  const made = rows.length === 0 ? [] : await tx.records.insert(rows);
  const records = made.map(showRecord);
  if (made.length > 0) {
    await w.audit({ action: 'record.import', after: records });
    await w.publish(made.length === 1 ? '1 record imported' : `${made.length} records imported`);
  }
  const listed = [...problems, ...read.problems].sort((one, other) => (one.line ?? 0) - (other.line ?? 0));
  return ok({
    imported: made.length,
    skipped: zone.skipped + read.problems.length,
    lost: zone.skipped - zone.needless + read.problems.filter(({ kind }) => kind === 'lost').length,
    records,
    problems: listed,
  });
}

/** The records that conflict with no stored one, as rows, and why the others cannot be added. */
function readAll(
  { domain, now, specialOrigin }: Writing,
  lines: readonly ReadLine[],
  neighbours: ReturnType<typeof neighboursOf>,
): { readonly rows: readonly NewRecord[]; readonly problems: readonly ZoneProblem[] } {
  const rows: NewRecord[] = [];
  const problems: ZoneProblem[] = [];
  for (const read of lines) {
    const error =
      'error' in read
        ? read.error
        : (refuseSpecial(specialOrigin, originsOfRecord(read.record))?.message ??
          neighbours.judge(read.record));
    if (error !== null)
      problems.push({ kind: error === SAME_RECORD ? 'not_needed' : 'lost', line: read.line, error });
    else if ('record' in read) {
      neighbours.put(read.record);
      rows.push({ ...read.record, domain_id: domain.id, created_at: now, updated_at: now });
    }
  }
  return { rows, problems };
}

/** Lines that the message of a 400 lists, at most. */
const MAX_LISTED = 5;

/** The 400 for a file without an importable record, with the first reasons. */
function nothingToImport(problems: readonly ZoneProblem[]): Refusal {
  const lines = problems.slice(0, MAX_LISTED).map(({ line, error }) => `line ${line ?? 1}: ${error}`);
  return badRequest(['the zone file holds no record that can be taken over', ...lines].join('; '));
}

/** `GET /domains/{domain}/records/export`: with SOA and NS records where the domain is managed. */
export const exportZone = operation({
  summary: 'All records as a BIND zone file',
  response: z.string(),
  produces: ZONE_TYPE,
  handle: ({ domain, read, services }) =>
    read(async (tx) => {
      const rows = await tx.records.list(domain.id);
      const [nameservers = []] = domain.dns_mode === 'managed' ? services.lifecycle.nameserverSets : [];
      const serial = await serialOf(tx, domain);
      return {
        body: printZone(domain.name, rows, { nameservers, serial }),
        type: `${ZONE_TYPE}; charset=utf-8`,
        headers: { 'content-disposition': `attachment; filename="${domain.name}.zone"` },
      };
    }),
});

/**
 * The SOA serial: the domain's time of creation in seconds plus the number of its newest change. A time alone would give
 * two changes of one second the same serial, and the records' times would not change with a deletion.
 */
async function serialOf(
  tx: ReadTransaction,
  { id, created_at }: Pick<DomainRow, 'id' | 'created_at'>,
): Promise<number> {
  return Math.floor(created_at / 1_000) + (await newestChange(tx, id));
}
