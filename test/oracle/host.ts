/** Hosts, domain names and the records of a host (semantics §1 host, §2). */
import { domainToASCII } from 'node:url';
import type { DnsRecord } from '../../src/rules/model/types.ts';
import { parseV6 } from './ip.ts';
import { hasLoneSurrogate } from './text.ts';

/** A canonical host and the port that was written beside it. */
export interface Authority {
  readonly host: string;
  /** `null`: none was written. */
  readonly port: number | null;
}

const FORBIDDEN = /[\x00-\x20\x7f%,@#/<>?\\^|[\]:]/;

/**
 * UTS 46 ToASCII, non-transitional; `null` when the name has none. The last label is made a word, for else the URL
 * parser behind `domainToASCII` takes a name that ends in a number for an IPv4 address.
 */
function toAscii(name: string): string | null {
  if (/^[\x00-\x7f]*$/.test(name)) return name.toLowerCase();
  const ascii = domainToASCII(`${name}.word`);
  return ascii === '' ? null : ascii.slice(0, -'.word'.length);
}

function normaliseName(text: string): string | null {
  if (FORBIDDEN.test(text)) return null;
  const name = toAscii(text.replace(/\.$/, ''));
  if (name === null || FORBIDDEN.test(name) || name.length > 253) return null;
  return name.split('.').every((label) => label.length >= 1 && label.length <= 63) ? name : null;
}

/** Host header or `:authority`; `null` when it is invalid. An IPv6 literal keeps its brackets: no domain owns it. */
export function parseAuthority(text: string): Authority | null {
  if (hasLoneSurrogate(text)) return null;
  const digits = /:([0-9]*)$/.exec(text)?.[1];
  const literal = /^\[(.*)\](?::[0-9]*)?$/s.exec(text)?.[1];
  const port = digits === undefined || digits === '' ? null : Number(digits);
  if (port !== null && port > 65_535) return null;
  if (text.startsWith('[')) {
    return literal === undefined || parseV6(literal) === null ? null : { host: `[${literal}]`, port };
  }
  const host = normaliseName(digits === undefined ? text : text.slice(0, -digits.length - 1));
  return host === null ? null : { host, port };
}

/** A stored host entry (exact or wildcard) brought to the form of canonical hosts: case, IDNA, trailing dot. */
export function normaliseHostEntry(entry: string): string {
  const text = entry.replace(/\.$/, '');
  return toAscii(text) ?? text;
}

/** Whether the domain owns the host. */
export function owns(domain: string, host: string): boolean {
  return host === domain || host.endsWith(`.${domain}`);
}

/** A record's full name; stored names are relative or absolute, `@` is the apex. */
function fullName(stored: string, domain: string): string {
  if (stored === '@') return domain;
  const name = normaliseHostEntry(stored);
  return stored.endsWith('.') || owns(domain, name) ? name : `${name}.${domain}`;
}

const PROXIABLE: readonly string[] = ['A', 'AAAA', 'CNAME', 'ALIAS'];

/** A record beside its full canonical name. */
export interface NamedRecord {
  readonly name: string;
  readonly record: DnsRecord;
}

/** The records of a domain with their full names, by id. */
export function nameRecords(domain: string, records: readonly DnsRecord[]): NamedRecord[] {
  const named = records.map((record) => ({ record, name: fullName(record.name, domain) }));
  return named.sort((a, b) => a.record.id - b.record.id);
}

/** The proxied records that answer for a host of this domain, by id; none when the edge does not serve it. */
export function recordsOf(host: string, domain: string, named: readonly NamedRecord[]): DnsRecord[] {
  const proxied = (name: string) =>
    named
      .filter((entry) => entry.name === name && entry.record.proxied && PROXIABLE.includes(entry.record.type))
      .map((entry) => entry.record);
  const exists = (name: string) =>
    name === domain || named.some((entry) => entry.name === name || entry.name.endsWith(`.${name}`));
  const own = proxied(host);
  if (own.length > 0 || exists(host)) return own;
  let encloser = host;
  while (!exists(encloser)) encloser = encloser.slice(encloser.indexOf('.') + 1);
  return proxied(`*.${encloser}`);
}
