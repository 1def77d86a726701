/** A zone file as records that could be stored, and why the other lines could not; what else is stored has no say yet. */
import { describeDiagnostic } from '../../base/diagnostic.ts';
import { parseZone } from '../../dns/zone-file/parse.ts';
import { readRecord } from '../records/write.ts';
import { Refusal } from '../refusal.ts';
import type { ReadLine, ReadZoneFile, ZoneJob } from './job.ts';

export function readZoneFile({ text, domain }: ZoneJob): ReadZoneFile {
  const zone = parseZone(text, domain);
  const problems = zone.diagnostics
    .filter(({ severity }) => severity !== 'info')
    .map((diagnostic) => ({ line: diagnostic.at?.line ?? null, error: describeDiagnostic(diagnostic) }));
  const records = zone.records.map(({ line, ...fields }): ReadLine => {
    try {
      const { id: _, ...record } = readRecord(domain, fields);
      return { line, record };
    } catch (error) {
      if (error instanceof Refusal) return { line, error: error.message };
      throw error;
    }
  });
  return { records, problems, skipped: zone.skipped };
}
