/** Reads a record as a customer wrote it into the form that is stored: validated by the model, with canonical data. */
import { type Diagnostic, quoteValue } from '../../base/diagnostics/diagnostic.ts';
import { isObject } from '../../base/text/json-object.ts';
import { type Parsed, parseRecord } from '../../rules/model/parse.ts';
import type { DnsRecord } from '../../rules/model/types.ts';
import { canonicalData } from './zone-file/rdata.ts';

/**
 * One record of `domain`, such that it can be served and exported to a zone file; its `id` is 1 if the input is new.
 * Never throws: whatever is wrong with the input is a diagnostic.
 */
export function readRecordInput(domain: string, input: unknown): Parsed<'record', DnsRecord> {
  const parsed = parseRecord(isObject(input) ? { ...input, id: 1 } : input, domain);
  if (!parsed.ok) return parsed;
  const canonical = canonicalRecord(parsed.record);
  if ('code' in canonical) return { ok: false, diagnostics: [canonical] };
  if (canonical.destination === parsed.record.destination) return { ...parsed, record: canonical };
  // An escape of the master file format can conceal a value that the model refuses.
  const again = parseRecord(canonical, domain);
  return again.ok ? { ...again, record: canonical } : again;
}

function canonicalRecord(record: DnsRecord): DnsRecord | Diagnostic {
  const { type, destination, mx_priority } = record;
  // ALIAS has no form in a zone file; the model's checks are all there are.
  if (type === 'ALIAS') return record;
  const data = canonicalData(type, { destination, mx_priority });
  if ('destination' in data) {
    return {
      ...record,
      destination: data.destination,
      mx_priority: type === 'MX' ? data.mx_priority : mx_priority,
    };
  }
  return {
    code: data.code,
    severity: 'error',
    path: ['destination'],
    message: data.message,
    found: data.found ?? quoteValue(destination),
  };
}
