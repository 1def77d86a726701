/** Reads and prints the parameters of SVCB and HTTPS records, as text and from the wire (RFC 9460 §2.1, §2.2, §7, §14.3.2). */
import { formatIp, parseIpv4, parseIpv6 } from '../../../base/addresses/ip.ts';
import type { Problem } from '../../../rules/model/report.ts';
import { readOctets, type Token } from './tokens.ts';

/** The keys by number, from 0 (RFC 9460 §14.3.2; `dohpath` is RFC 9461). */
const KEYS = [
  'mandatory',
  'alpn',
  'no-default-alpn',
  'port',
  'ipv4hint',
  'ech',
  'ipv6hint',
  'dohpath',
] as const;
type KnownKey = (typeof KEYS)[number];

/** Returns the expected form of a value, or `null` when it is valid. The value still has its escapes. */
const JUDGES: Readonly<Record<KnownKey, (value: string | null) => string | null>> = {
  mandatory: (value) =>
    filled(value) && value.split(',').every((key) => keyNumber(key) > 0) ? null : 'keys',
  alpn: (value) => (filled(value) && readOctets(value) !== null ? null : 'protocol ids'),
  'no-default-alpn': (value) => (value === null || value === '' ? null : 'no value'),
  port: (value) => (/^[0-9]{1,5}$/.test(value ?? '') && Number(value) <= 65_535 ? null : 'a port'),
  ipv4hint: (value) => (filled(value) && value.split(',').every(isIpv4) ? null : 'IPv4 addresses'),
  ech: (value) => (/^[A-Za-z0-9+/]+={0,2}$/.test(value ?? '') ? null : 'base64'),
  ipv6hint: (value) => (filled(value) && value.split(',').every(isIpv6) ? null : 'IPv6 addresses'),
  dohpath: (value) => (filled(value) && readOctets(value) !== null ? null : 'a URI template'),
};

function filled(value: string | null): value is string {
  return value !== null && value !== '';
}

function isIpv4(text: string): boolean {
  return parseIpv4(text) >= 0;
}

function isIpv6(text: string): boolean {
  return parseIpv6(text, new Uint32Array(4));
}

/** The number of a key's name, also of the form `key65000`; -1: invalid. */
export function keyNumber(name: string): number {
  const known = (KEYS as readonly string[]).indexOf(name);
  if (known >= 0) return known;
  const digits = /^key(0|[1-9][0-9]{0,4})$/.exec(name)?.[1];
  const number = digits === undefined ? -1 : Number(digits);
  return number <= 65_534 ? number : -1;
}

/** The name of a key: `key` and its number if it has none (RFC 9460 §2.1). */
function keyName(number: number): string {
  return KEYS[number] ?? `key${number}`;
}

/** Reads `key=value` tokens; the result is in the order of the key numbers, with values quoted if they must be. */
export function readServiceParams(tokens: readonly Token[]): string | Problem {
  const params = new Map<number, string>();
  for (const { raw, quoted } of tokens) {
    const equals = raw.indexOf('=');
    const name = (equals < 0 ? raw : raw.slice(0, equals)).toLowerCase();
    const value = equals < 0 ? null : raw.slice(equals + 1);
    const number = quoted ? -1 : keyNumber(name);
    const found = `\`${raw.slice(0, 80)}\``;
    if (number < 0) return { code: 'invalid_data', message: 'takes parameters like `alpn=h2`', found };
    if (params.has(number)) return { code: 'invalid_data', message: 'takes every parameter once', found };
    const known = KEYS[number];
    const wanted =
      known === undefined ? (readOctets(value ?? '') === null ? 'text' : null) : JUDGES[known](value);
    if (wanted !== null) {
      return { code: 'invalid_data', message: `takes ${wanted} for parameter \`${name}\``, found };
    }
    params.set(
      number,
      value === null || value === '' ? keyName(number) : `${keyName(number)}=${quote(value)}`,
    );
  }
  return [...params]
    .sort(([left], [right]) => left - right)
    .map(([, text]) => text)
    .join(' ');
}

/** The value in quotes if it contains white space or characters of the grammar. */
function quote(value: string): string {
  return /[\s;()]|\\"/.test(value) ? `"${value}"` : value;
}

/** The parameters of a record from the wire as text; `null`: malformed. */
export function printServiceParams(octets: Uint8Array): string | null {
  const view = new DataView(octets.buffer, octets.byteOffset, octets.length);
  const parts: string[] = [];
  let at = 0;
  while (at < octets.length) {
    if (at + 4 > octets.length) return null;
    const number = view.getUint16(at);
    const length = view.getUint16(at + 2);
    if (at + 4 + length > octets.length) return null;
    const value = printValue(number, octets.subarray(at + 4, at + 4 + length));
    if (value === null) return null;
    parts.push(value === '' ? keyName(number) : `${keyName(number)}=${value}`);
    at += 4 + length;
  }
  return parts.join(' ');
}

/** The text of one value from the wire; empty: the key has no value. `null`: malformed. */
function printValue(number: number, octets: Uint8Array): string | null {
  const view = new DataView(octets.buffer, octets.byteOffset, octets.length);
  switch (KEYS[number]) {
    case 'mandatory':
      return groups(octets, 2, (at) => keyName(view.getUint16(at)));
    case 'alpn':
      return printIds(octets);
    case 'no-default-alpn':
      return octets.length === 0 ? '' : null;
    case 'port':
      return octets.length === 2 ? String(view.getUint16(0)) : null;
    case 'ipv4hint':
      return groups(octets, 4, (at) => formatIp(4, [view.getUint32(at)]));
    case 'ipv6hint':
      return groups(octets, 16, (at) =>
        formatIp(
          6,
          [0, 4, 8, 12].map((word) => view.getUint32(at + word)),
        ),
      );
    case 'ech':
      return Buffer.from(octets).toString('base64');
    default:
      return escapeValue(octets, false);
  }
}

/** A comma-separated list of values of `size` octets each; `null`: the length does not fit. */
function groups(octets: Uint8Array, size: number, print: (at: number) => string): string | null {
  if (octets.length === 0 || octets.length % size !== 0) return null;
  return Array.from({ length: octets.length / size }, (_, index) => print(index * size)).join(',');
}

/** A list of protocol ids, each with its length before it (RFC 9460 §7.1.1); `null`: malformed. */
function printIds(octets: Uint8Array): string | null {
  const ids: string[] = [];
  for (let at = 0; at < octets.length; at += 1 + octets[at]!) {
    const end = at + 1 + octets[at]!;
    if (end > octets.length || octets[at] === 0) return null;
    ids.push(escapeValue(octets.subarray(at + 1, end), true));
  }
  return ids.length === 0 ? null : ids.join(',');
}

/** Letters, digits and safe punctuation unchanged. In a list, a comma or backslash is escaped twice (RFC 9460 §A.1). */
function escapeValue(octets: Uint8Array, inList: boolean): string {
  let out = '';
  for (const octet of octets) {
    const character = String.fromCharCode(octet);
    if (inList && (character === ',' || character === '\\')) out += `\\\\${character === ',' ? ',' : '\\\\'}`;
    else if (/[A-Za-z0-9\-._~:/?#[\]@!$&'*+=,{}]/.test(character)) out += character;
    else out += `\\${String(octet).padStart(3, '0')}`;
  }
  return out;
}
