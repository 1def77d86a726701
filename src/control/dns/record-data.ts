/** Converts an answer's data to the form of the model: printed in zone file form, then read by the zone file's reader. */
import type { DnsAnswer } from './message.ts';
import type { RecordData, ZoneType } from './zone-file/rdata.ts';
import { readData } from './zone-file/rdata.ts';
import { printServiceParams } from './zone-file/service-params.ts';
import { quoteOctets } from './zone-file/text.ts';
import { lex } from './zone-file/tokens.ts';

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
