/**
 * Prints records as a BIND master file, which `parseZone` reads back as the same records. A record without a form in a
 * master file (ALIAS, invalid data) becomes a comment, so that an export never omits a record silently.
 */
import { absoluteName } from '../../../rules/model/record-name.ts';
import { PROXIED_MARK, type ZoneRecord } from './parse.ts';
import { printData } from './rdata.ts';

/** TTL of the records of a printed zone, in seconds: records of the model have no TTL, and CDNs commonly use 5 minutes. */
export const PRINTED_TTL_SEC = 300;

export interface PrintZoneOptions {
  /** The nameservers of a managed zone; with them the file gets the SOA and NS records a server needs to load it. */
  readonly nameservers?: readonly string[];
  /** The SOA's serial, 32 bits. Default: 1. */
  readonly serial?: number;
}

/** Prints the zone of `domain` (canonical), in the order given, ending in a newline. */
export function printZone(
  domain: string,
  records: readonly ZoneRecord[],
  options: PrintZoneOptions = {},
): string {
  const lines = [`$ORIGIN ${domain}.`, `$TTL ${PRINTED_TTL_SEC}`];
  const { nameservers = [], serial = 1 } = options;
  const [primary] = nameservers;
  if (primary !== undefined) {
    lines.push(`@ IN SOA ${primary}. hostmaster.${domain}. ${serial >>> 0} 3600 600 1209600 300`);
    for (const name of nameservers) lines.push(`@ IN NS ${name}.`);
  }
  for (const record of records) lines.push(printRecord(domain, record));
  return `${lines.join('\n')}\n`;
}

/** One line, without its end. */
function printRecord(domain: string, record: ZoneRecord): string {
  const { type } = record;
  const owner = printedName(domain, record.name);
  if (type === 'ALIAS') return comment(`ALIAS has no form in a zone file: ${owner} ${record.destination}`);
  const data = printData(type, record);
  if (owner === null || typeof data !== 'string') {
    const why = typeof data === 'string' ? 'the name is outside the domain' : data.message;
    return comment(`left out, ${why}: ${record.name} ${type} ${record.destination}`);
  }
  return `${owner} IN ${type} ${data}${record.proxied ? ` ; ${PROXIED_MARK}` : ''}`;
}

/** The name relative to the origin; `null`: it is not inside the domain. */
function printedName(domain: string, name: string): string | null {
  const absolute = absoluteName(name, domain);
  if (absolute === null) return null;
  const relative = absolute === domain ? '@' : absolute.slice(0, -domain.length - 1);
  // A name with `$` first would be read as a directive; the other characters belong to the grammar too.
  return relative.replace(/["();$\\]/g, '\\$&');
}

/** A comment of one line; control characters become spaces. */
function comment(text: string): string {
  return `; ${text.replace(/[\u0000-\u001f\u007f]/g, ' ')}`;
}
