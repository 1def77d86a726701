/**
 * Reads and prints record data: one list of fields for each type serves zone files, destinations of the model and
 * (printed first) answers from the wire. The output is canonical. Names are absolute, in a destination without a trailing
 * dot, in a zone file with one.
 */
import { normalizeName } from '../../../base/addresses/host.ts';
import { formatIp, parseIpv4, parseIpv6 } from '../../../base/addresses/ip.ts';
import { MAX_DESTINATION_CHARACTERS, MAX_LABEL_OCTETS } from '../../../base/vocabulary/limits.ts';
import type { ZoneType } from '../../../base/vocabulary/record-types.ts';
import type { Problem } from '../../../rules/model/report.ts';
import { judgeAddress } from '../../../rules/model/text-checks.ts';
import { readServiceParams } from './service-params.ts';
import {
  lex,
  MAX_STRING_OCTETS,
  quoteOctets,
  readOctets,
  type Token,
  txtDestination,
  txtStrings,
} from './tokens.ts';

/** How names in data are read and written. */
export interface NameScope {
  /** The origin of relative names, empty for the root; `null`: every name is absolute, with or without a dot. */
  readonly origin: string | null;
  /** Write names with their trailing dot. */
  readonly dots: boolean;
}

/** The part of a record that is its data. */
export interface RecordData {
  readonly destination: string;
  /** MX only; `null` on every other type. */
  readonly mx_priority: number | null;
}

/** The canonical text of a field, or what is wrong with it. */
type FieldResult = string | Problem;
type Field = (token: Token, scope: NameScope) => FieldResult;

/** The data of one type: its fields in order. */
interface Shape {
  readonly fields: readonly Field[];
  /** Reads all tokens after the fields; absent: there must be none. */
  readonly rest?: (tokens: readonly Token[]) => FieldResult;
  /** The expected form, for the message when tokens are missing or superfluous. */
  readonly form: string;
}

/** A CNAME's target, which the model requires to be a host the edge can connect to. */
function hostField(token: Token, scope: NameScope): FieldResult {
  const name = nameField(token, scope);
  if (typeof name !== 'string') return name;
  if (judgeAddress(name) === null && !/^[0-9.]+$/.test(name)) return name;
  return { code: 'invalid_name', message: 'takes a host name', found: `\`${name.slice(0, 80)}\`` };
}

const NAME: Shape = { fields: [nameField], form: 'a name' };
const SERVICE: Shape = {
  fields: [whole(65_535), nameField],
  rest: readServiceParams,
  form: 'priority, target, parameters',
};

/** The fields of each type, in the order of its RFC (1035, 3596, 2782, 8659, 6698, 9460). */
const SHAPES: Readonly<Record<Exclude<ZoneType, 'TXT'>, Shape>> = {
  A: { fields: [ipv4Field], form: 'an IPv4 address' },
  AAAA: { fields: [ipv6Field], form: 'an IPv6 address' },
  CNAME: { fields: [hostField], form: 'a host name' },
  NS: NAME,
  PTR: NAME,
  MX: { fields: [whole(65_535), nameField], form: 'preference, name' },
  SRV: {
    fields: [whole(65_535), whole(65_535), whole(65_535), nameField],
    form: 'priority, weight, port, target',
  },
  CAA: { fields: [whole(255), tagField, stringField], form: 'flags, tag, value' },
  TLSA: {
    fields: [whole(255), whole(255), whole(255)],
    rest: readHex,
    form: 'usage, selector, matching type, data in hexadecimal',
  },
  HTTPS: SERVICE,
  SVCB: SERVICE,
};

/** Reads the data of a zone file's record; the result is canonical. */
export function readData(type: ZoneType, tokens: readonly Token[], origin: string): RecordData | Problem {
  const text = type === 'TXT' ? readTxt(tokens) : readShape(type, tokens, { origin, dots: false });
  if (typeof text !== 'string') return text;
  const space = text.indexOf(' ');
  const data: RecordData =
    type === 'MX'
      ? { destination: text.slice(space + 1), mx_priority: Number(text.slice(0, space)) }
      : { destination: text, mx_priority: null };
  if (data.destination.length <= MAX_DESTINATION_CHARACTERS) return data;
  const message = `must be at most ${MAX_DESTINATION_CHARACTERS} characters of data`;
  return { code: 'too_long', message, found: `${data.destination.length} characters` };
}

/** A record's data in zone file form, or what is wrong with its destination. A missing preference is 0. */
export function printData(type: ZoneType, { destination, mx_priority }: RecordData): string | Problem {
  if (type === 'TXT') {
    const strings = txtStrings(destination);
    return strings === null ? BAD_STRINGS : strings.map(quoteOctets).join(' ');
  }
  const { entries, problems } = lex(destination);
  const [problem] = problems;
  if (problem !== undefined) return { code: problem.code, message: problem.message };
  const [entry] = entries;
  if (entry === undefined || entries.length > 1 || entry.comment !== '') {
    return { code: 'invalid_data', message: `must be ${SHAPES[type].form}` };
  }
  const tokens = type === 'MX' ? [preference(mx_priority ?? 0), ...entry.tokens] : entry.tokens;
  return readShape(type, tokens, { origin: null, dots: true });
}

/**
 * A destination in its canonical form, or what is wrong with it. This check goes beyond the model's: it ensures that
 * every stored record can be served and exported.
 */
export function canonicalData(type: ZoneType, data: RecordData): RecordData | Problem {
  const printed = printData(type, data);
  if (typeof printed !== 'string') return printed;
  return readData(type, lex(printed).entries[0]?.tokens ?? [], '');
}

/** The preference of an MX record as a token, since the model stores it apart from the destination. */
function preference(value: number): Token {
  return { raw: String(value), quoted: false, at: { line: 1, column: 1 } };
}

/** Reads all fields of a type; `found` and the message name the first that is wrong. */
function readShape(
  type: Exclude<ZoneType, 'TXT'>,
  tokens: readonly Token[],
  scope: NameScope,
): string | Problem {
  const { fields, rest, form } = SHAPES[type];
  if (tokens.length < fields.length || (rest === undefined && tokens.length > fields.length)) {
    const found = `${tokens.length} ${tokens.length === 1 ? 'field' : 'fields'}`;
    return { code: 'invalid_data', message: `type \`${type}\` takes ${form}`, found };
  }
  const parts: string[] = [];
  for (const [index, field] of fields.entries()) {
    const part = field(tokens[index]!, scope);
    if (typeof part !== 'string') return { ...part, message: `type \`${type}\` ${part.message}` };
    parts.push(part);
  }
  const tail = rest === undefined ? '' : rest(tokens.slice(fields.length));
  if (typeof tail !== 'string') return { ...tail, message: `type \`${type}\` ${tail.message}` };
  return tail === '' ? parts.join(' ') : `${parts.join(' ')} ${tail}`;
}

/** The problem of a TXT destination that is not a list of strings. */
const BAD_STRINGS: Problem = {
  code: 'invalid_data',
  message: `type \`TXT\` takes strings of at most ${MAX_STRING_OCTETS} octets, each in quotes`,
};

/** Character strings of at most 255 octets (RFC 1035 §3.3.14). */
function readTxt(tokens: readonly Token[]): string | Problem {
  if (tokens.length === 0) return { code: 'invalid_data', message: 'type `TXT` takes at least one string' };
  const strings: Uint8Array[] = [];
  for (const { raw } of tokens) {
    const octets = readOctets(raw);
    if (octets === null) return BAD_ESCAPE;
    if (octets.length > MAX_STRING_OCTETS) {
      return { ...BAD_STRINGS, found: `${octets.length} octets` };
    }
    strings.push(octets);
  }
  return txtDestination(strings);
}

/** The problem of an invalid escape (RFC 1035 §5.1). */
const BAD_ESCAPE: Problem = {
  code: 'invalid_escape',
  message: 'holds an escape that is not `\\` with three digits up to 255, nor `\\` with one character',
};

/** The absolute name that a token denotes, canonical, without a trailing dot; `.` is the root. */
export function readName(token: Token, origin: string | null): string | Problem {
  const { raw } = token;
  const found = `\`${raw.slice(0, 80)}\``;
  if (raw === '.') return '.';
  if (raw === '@' && origin !== null) return origin === '' ? '.' : origin;
  const plain = unescapeName(raw);
  if (plain === null) {
    const message = 'takes names of letters, digits, `-` and `_`; an escaped dot or octet cannot be kept';
    return { code: 'invalid_name', message, found };
  }
  const absolute = origin === null || origin === '' || plain.endsWith('.');
  const name = normalizeName(absolute ? plain : `${plain}.${origin}`);
  if (name !== null) return name;
  const message = `takes names of at most 253 octets whose labels have 1 to ${MAX_LABEL_OCTETS}`;
  return { code: 'invalid_name', message, found };
}

/** A name without escapes; `null` when an escape denotes anything but a visible ASCII character other than a dot. */
function unescapeName(raw: string): string | null {
  if (!raw.includes('\\')) return raw;
  let out = '';
  for (let at = 0; at < raw.length; at++) {
    if (raw[at] !== '\\') {
      out += raw[at];
      continue;
    }
    const digits = /^[0-9]{3}/.exec(raw.slice(at + 1, at + 4))?.[0];
    const code = digits === undefined ? raw.charCodeAt(at + 1) : Number(digits);
    if (Number.isNaN(code) || code <= 0x20 || code >= 0x7f || code === 0x2e) return null;
    out += String.fromCharCode(code);
    at += digits === undefined ? 1 : 3;
  }
  return out;
}

/** A domain name as a field of the data. */
function nameField(token: Token, scope: NameScope): FieldResult {
  const name = readName(token, scope.origin);
  if (typeof name !== 'string' || name === '.') return name;
  if (!/^[a-z0-9._*-]+$/.test(name)) {
    const message = 'takes names of letters, digits, `-` and `_`';
    return { code: 'invalid_name', message, found: `\`${name.slice(0, 80)}\`` };
  }
  return scope.dots ? `${name}.` : name;
}

function ipv4Field({ raw }: Token): FieldResult {
  if (parseIpv4(raw) >= 0) return raw;
  return { code: 'invalid_data', message: 'takes an IPv4 address', found: `\`${raw.slice(0, 80)}\`` };
}

function ipv6Field({ raw }: Token): FieldResult {
  const words = new Uint32Array(4);
  if (parseIpv6(raw, words)) return formatIp(6, words);
  return { code: 'invalid_data', message: 'takes an IPv6 address', found: `\`${raw.slice(0, 80)}\`` };
}

/** A whole number from 0 to `most`, without leading zeros. */
function whole(most: number): Field {
  return ({ raw }) => {
    if (/^[0-9]{1,5}$/.test(raw) && Number(raw) <= most) return String(Number(raw));
    const message = `takes a whole number from 0 to ${most}`;
    return { code: 'invalid_data', message, found: `\`${raw.slice(0, 80)}\`` };
  };
}

/** A CAA tag: letters and digits, case-insensitive (RFC 8659 §4.1). */
function tagField({ raw }: Token): FieldResult {
  if (/^[A-Za-z0-9]{1,255}$/.test(raw)) return raw.toLowerCase();
  return {
    code: 'invalid_data',
    message: 'takes a tag of letters and digits',
    found: `\`${raw.slice(0, 80)}\``,
  };
}

/** A character string, printed in quotes. */
function stringField({ raw }: Token): FieldResult {
  const octets = readOctets(raw);
  return octets === null ? BAD_ESCAPE : quoteOctets(octets);
}

/** Hexadecimal digits, which may be split by white space (RFC 6698 §2.2). */
function readHex(tokens: readonly Token[]): FieldResult {
  const digits = tokens.map(({ raw }) => raw).join('');
  if (/^(?:[0-9a-fA-F]{2})+$/.test(digits)) return digits.toLowerCase();
  return { code: 'invalid_data', message: 'takes data as pairs of hexadecimal digits' };
}
