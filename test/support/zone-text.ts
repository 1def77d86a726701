/** Records in wire form as lines of text, decoded by dns-packet: `<name> <ttl> <type> <data>`. */
import { type Answer, decode } from 'dns-packet';
import { encodeRecord, type ResourceRecord } from '../../src/control/zones/wire/records.ts';

/** Sorted lines of records. */
export function zoneLines(records: readonly ResourceRecord[]): readonly string[] {
  return records.map(zoneLine).sort();
}

function zoneLine(record: ResourceRecord): string {
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0x8000, 2);
  head.writeUInt16BE(1, 6);
  const [answer] = decode(Buffer.concat([head, encodeRecord(record)])).answers!;
  const { name, type, ttl } = answer as { name: string; type: string; ttl: number };
  return `${name} ${ttl} ${type} ${dataText(answer!)}`;
}

function dataText(answer: Answer): string {
  const { data } = answer as { readonly data: unknown };
  if (typeof data === 'string') return data;
  if (Buffer.isBuffer(data)) return data.toString('hex');
  if (Array.isArray(data)) return data.map((part: Buffer) => JSON.stringify(part.toString())).join(' ');
  return Object.entries(data as object)
    .filter(([key]) => key !== 'issuerCritical')
    .map(([, value]) => (Buffer.isBuffer(value) ? value.toString('hex') : String(value)))
    .join(' ');
}
