/**
 * A zone file as records that can be stored, and why its other lines cannot. The domain's stored records are not compared
 * here: the write that imports the records does that.
 */
import { type Diagnostic, describeDiagnostic } from '../../base/diagnostics/diagnostic.ts';
import { describeMistakes } from '../../rules/model/describe-mistakes.ts';
import { readRecordInput } from '../dns/read-record.ts';
import { parseZone } from '../dns/zone-file/parse.ts';
import type { ReadLine, ReadZoneFile, ZoneJob, ZoneProblem } from './job.ts';

/** Reads the whole file; lines are numbered from 1. */
export function readZoneFile({ text, domain }: ZoneJob): ReadZoneFile {
  const zone = parseZone(text, domain);
  const problems = zone.diagnostics
    .filter(({ severity, code }) => severity !== 'info' || code === 'missing_dot')
    .map((diagnostic) => ({
      kind: kindOf(diagnostic),
      line: diagnostic.at?.line ?? null,
      error: describeDiagnostic(diagnostic),
    }));
  const records = zone.records.map(({ line, ...fields }): ReadLine => {
    const read = readRecordInput(domain, fields);
    if (!read.ok) return { line, error: describeMistakes(read.diagnostics) };
    const { id: _, ...record } = read.record;
    return { line, record };
  });
  return { records, problems, skipped: zone.skipped, needless: zone.needless };
}

/** Codes of lines without which nothing is lost. */
const NEEDLESS: readonly string[] = ['apex_ns_skipped', 'duplicate_record'];

function kindOf({ code }: Diagnostic): ZoneProblem['kind'] {
  if (code === 'missing_dot') return 'hint';
  return NEEDLESS.includes(code) ? 'not_needed' : 'lost';
}
