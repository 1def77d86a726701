/**
 * Reads record data into the form that is stored: that of a record as a customer wrote it, validated by the model, and
 * that of an answer, printed in zone file form and read by the zone file's reader.
 */
import { type Diagnostic, quoteValue } from '../../base/diagnostics/diagnostic.ts';
import { isObject } from '../../base/text/json-object.ts';
import type { ZoneType } from '../../base/vocabulary/record-types.ts';
import { type Parsed, parseRecord } from '../../rules/model/parse.ts';
import type { DnsRecord } from '../../rules/model/types.ts';
import type { DnsAnswer } from './message.ts';
import { canonicalData, type RecordData, readData } from './zone-file/rdata.ts';
import { printServiceParams } from './zone-file/service-params.ts';
import { lex, quoteOctets } from './zone-file/tokens.ts';

/** The record data of an answer; `null` when the model lacks the type or refuses the data. */
export function answerData(
  answer: Pick<DnsAnswer, 'type' | 'data'>,
): { readonly type: ZoneType; readonly data: RecordData } | null {
  const print = PRINTERS[answer.type as ZoneType];
  if (print === undefined || answer.data === null) return null;
  const text = print(answer.data as never);
  if (text === null) return null;
  const data = readData(answer.type as ZoneType, lex(text).entries[0]?.tokens ?? [], '');
  return 'destination' in data ? { type: answer.type as ZoneType, data } : null;
}

// The forms in which dns-packet decodes a type's data

/** RFC 8659 §4.1. */
interface Caa {
  readonly flags: number;
  readonly tag: string;
  readonly value: string;
}
/** RFC 1035 §3.3.9. */
interface Mx {
  readonly preference: number;
  readonly exchange: string;
}
/** RFC 2782. */
interface Srv {
  readonly priority: number;
  readonly weight: number;
  readonly port: number;
  readonly target: string;
}
/** RFC 6698 §2.1. */
interface Tlsa {
  readonly usage: number;
  readonly selector: number;
  readonly matchingType: number;
  readonly certificate: Buffer;
}

const same = (text: string): string => text;

/** Prints decoded data in zone file form, by type; names are absolute with or without a trailing dot. */
const PRINTERS: { readonly [T in ZoneType]: (data: never) => string | null } = {
  A: same,
  AAAA: same,
  CNAME: dotted,
  NS: dotted,
  PTR: dotted,
  MX: ({ preference, exchange }: Mx) => `${preference} ${dotted(exchange)}`,
  TXT: (strings: Buffer | readonly Buffer[]) =>
    (Array.isArray(strings) ? strings : [strings]).map(quoteOctets).join(' '),
  SRV: ({ priority, weight, port, target }: Srv) => `${priority} ${weight} ${port} ${dotted(target)}`,
  CAA: ({ flags, tag, value }: Caa) => `${flags} ${tag} ${quoteOctets(Buffer.from(value))}`,
  TLSA: ({ usage, selector, matchingType, certificate }: Tlsa) =>
    `${usage} ${selector} ${matchingType} ${certificate.toString('hex')}`,
  HTTPS: service,
  SVCB: service,
};

/** An absolute name with its trailing dot; characters of the grammar are escaped, so that they cannot split the line. */
function dotted(name: string): string {
  const plain = name.replace(/["();\\\s]/g, (mark) => `\\${String(mark.charCodeAt(0)).padStart(3, '0')}`);
  return plain.endsWith('.') ? plain : `${plain}.`;
}

/** SVCB and HTTPS data from the wire: priority, uncompressed target, parameters (RFC 9460 §2.2); `null`: malformed. */
function service(octets: Buffer): string | null {
  if (!Buffer.isBuffer(octets) || octets.length < 3) return null;
  const labels: string[] = [];
  let at = 2;
  for (let length = octets[at]!; length !== 0; length = octets[at] ?? 0) {
    if (length > 63 || at + 1 + length >= octets.length) return null;
    labels.push(octets.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const params = printServiceParams(octets.subarray(at + 1));
  if (params === null) return null;
  const target = labels.length === 0 ? '.' : dotted(labels.join('.'));
  return `${octets.readUInt16BE(0)} ${target} ${params}`.trimEnd();
}

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
