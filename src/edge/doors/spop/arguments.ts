/**
 * Arguments of NOTIFY messages: by their names, in any order and in any number of messages. In: the payload of the frame. Out:
 * the request as HAProxy saw it, or the reason for which it cannot be decided. `fixtures/proxies/spoe.cfg` sends them.
 */
import { isAsn, parseAsn } from '../../../base/addresses/asn.ts';
import { canonicalIp } from '../../../base/addresses/ip.ts';
import { lowerName } from '../../../base/http/header-fields.ts';
import type { ProxiedBody, ProxiedRequest } from '../../decide/proxied.ts';
import { encodeOctets } from '../../proxy/read-request.ts';
import { type Cursor, readOctet, readText, readTyped, type SpopValue } from './codec.ts';

/** The arguments that are read; others are skipped, so that one message may serve several agents. */
const NAMES = [
  'method',
  'scheme',
  'ssl',
  'host',
  'uri',
  'version',
  'src',
  'port',
  'sni',
  'hdrs',
  'body',
  'body_len',
  'body_size',
  'body_end',
  'ja4',
  'country',
  'asn',
] as const;
/** One of `NAMES`. */
export type ArgumentName = (typeof NAMES)[number];

/** Why the arguments make no request. */
export interface ArgumentFault {
  readonly ok: false;
  readonly argument: ArgumentName;
  readonly fault: 'missing' | 'wrong type' | 'sent twice';
}

/** A request, or what is wrong with its arguments. */
export type ReadArguments = ReadNotify | ArgumentFault;

/** The request of a NOTIFY frame. */
export interface ReadNotify {
  readonly ok: true;
  readonly request: ProxiedRequest;
  /** The target as HAProxy has it, octets above ASCII not percent-encoded. */
  readonly sentTarget: string;
}

type Values = Map<string, SpopValue>;
type Headers = Record<string, string | readonly string[]>;

const READ: ReadonlySet<string> = new Set(NAMES);

/** Visible characters, and octets above ASCII. */
const TARGET = /^(?:\/[!-~\x80-\xff]*|\*)$/;

/** Reads the messages of a NOTIFY frame. Throws a `FrameFault` where the frame itself is malformed. */
export function readArguments(payload: Cursor): ReadArguments {
  const values: Values = new Map();
  let twice: ArgumentName | null = null;
  while (payload.at < payload.end) {
    // The name of the message: which arguments belong together is of no use here.
    readText(payload);
    for (let left = readOctet(payload); left > 0; left--) {
      const name = readText(payload);
      const value = readTyped(payload);
      if (!READ.has(name)) continue;
      if (values.has(name)) twice = name as ArgumentName;
      values.set(name, value);
    }
  }
  return twice === null ? requestOf(values) : fault(twice, 'sent twice');
}

function fault(argument: ArgumentName, what: ArgumentFault['fault']): ArgumentFault {
  return { ok: false, argument, fault: what };
}

/** The request of all arguments. PERF: one object, with the same properties in the same order for nearly all requests. */
function requestOf(values: Values): ReadArguments {
  const method = values.get('method');
  if (typeof method !== 'string' || method === '') return refused(values, 'method');
  const scheme = schemeOf(values);
  if (scheme === null) return refused(values, values.has('scheme') ? 'scheme' : 'ssl');
  const protocol = protocolOf(values.get('version'));
  if (protocol === null) return refused(values, 'version');
  const port = values.get('port');
  if (typeof port !== 'number' || !isPort(port)) return refused(values, 'port');
  const sent = values.get('hdrs');
  if (!Buffer.isBuffer(sent)) return refused(values, 'hdrs');
  const headers = headersOf(sent);
  if (headers === null) return fault('hdrs', 'wrong type');
  const target = values.get('uri');
  if (target !== null && typeof target !== 'string') return refused(values, 'uri');
  // HAProxy has no path for `*` and for the target of CONNECT (RFC 9112 §3.2).
  const sentTarget = target ?? '*';
  if (!TARGET.test(sentTarget)) return fault('uri', 'wrong type');
  const host = hostOf(values, headers);
  if (host === null) return refused(values, 'host');
  const ip = addressOf(values.get('src'));
  if (ip === undefined) return refused(values, 'src');
  const serverName = optionalText(values.get('sni'));
  if (serverName === undefined) return refused(values, 'sni');
  const body = bodyOf(values, headers);
  if (typeof body === 'string') return refused(values, body);
  const ja4 = optionalText(values.get('ja4'));
  if (ja4 === undefined) return refused(values, 'ja4');
  const country = optionalText(values.get('country'));
  if (country === undefined) return refused(values, 'country');
  const asn = asnOf(values.get('asn'));
  if (asn === undefined) return refused(values, 'asn');
  const request: ProxiedRequest = {
    scheme,
    method,
    host,
    target: encodeOctets(sentTarget),
    protocol,
    port,
    headers,
    ip,
    serverName: serverName === null ? null : serverName.toLowerCase(),
    body,
    ...(ja4 === null ? NOTHING : { ja4 }),
    ...(country === null ? NOTHING : { country }),
    ...(asn === null ? NOTHING : { asn }),
  };
  return { ok: true, request, sentTarget };
}

const NOTHING = Object.freeze({});

/** A value that cannot be used: it is missing, or it has another type. */
function refused(values: Values, name: ArgumentName): ArgumentFault {
  return fault(name, (values.get(name) ?? null) === null ? 'missing' : 'wrong type');
}

function schemeOf(values: Values): 'http' | 'https' | null {
  const scheme = values.get('scheme');
  if (scheme === 'http' || scheme === 'https') return scheme;
  const ssl = values.get('ssl');
  if (values.has('scheme') || typeof ssl !== 'boolean') return null;
  return ssl ? 'https' : 'http';
}

/** `HTTP/1.1` of HAProxy's `1.1`, `HTTP/2` of its `2.0`. */
function protocolOf(version: SpopValue | undefined): string | null {
  if (version === '1.1') return 'HTTP/1.1';
  if (version === '2.0') return 'HTTP/2';
  if (version === '3.0') return 'HTTP/3';
  return typeof version === 'string' && version !== '' ? `HTTP/${version}` : null;
}

function isPort(port: number): boolean {
  return Number.isInteger(port) && port >= 0 && port <= 65_535;
}

/** The host: its own argument, or the header; empty where the request has none, which the reader of heads refuses. */
function hostOf(values: Values, headers: Headers): string | null {
  const host = values.get('host') ?? null;
  if (host !== null) return typeof host === 'string' ? host : null;
  const header = headers['host'];
  // A list is refused by the reader of heads, whatever its first value is.
  return (typeof header === 'string' ? header : header?.[0]) ?? '';
}

/** A text that may be absent; `undefined`: the value is of another type. */
function optionalText(value: SpopValue | undefined): string | null | undefined {
  if (value === undefined || value === null || value === '') return null;
  return typeof value === 'string' ? value : undefined;
}

/** An autonomous system, as number or text (`map_ip_int`, `map_ip`); 0 and an empty text count as absent. `undefined`: invalid. */
function asnOf(value: SpopValue | undefined): number | null | undefined {
  if (value === undefined || value === null || value === '' || value === 0) return null;
  if (typeof value === 'string') return parseAsn(value) ?? undefined;
  return isAsn(value) ? value : undefined;
}

/** The visitor's address; `null`: HAProxy has none, as behind a unix socket. `undefined`: the value is no address. */
function addressOf(value: SpopValue | undefined): string | null | undefined {
  if (value === null) return null;
  if (typeof value === 'string') return canonicalIp(value) ?? undefined;
  if (typeof value !== 'object' || Buffer.isBuffer(value)) return undefined;
  return value.address;
}

/**
 * `req.hdrs_bin`: names and values, each with its length, up to an empty pair; `null`: the octets are something else. The object
 * has no prototype, so that a header may have any name.
 */
function headersOf(octets: Buffer): Headers | null {
  const cursor: Cursor = { octets, at: 0, end: octets.length };
  const headers: Headers = Object.create(null);
  for (;;) {
    if (cursor.at >= cursor.end) return null;
    const name = textWithin(cursor);
    const value = name === null || cursor.at >= cursor.end ? null : textWithin(cursor);
    if (name === null || value === null) return null;
    if (name === '') return value === '' && cursor.at === cursor.end ? headers : null;
    addHeader(headers, lowerName(name), value);
  }
}

/** A text with its length in front; `null`: it does not fit. */
function textWithin(cursor: Cursor): string | null {
  const { octets, end } = cursor;
  // PERF: most lengths are one octet.
  const first = octets[cursor.at]!;
  if (first >= 240) {
    try {
      return readText(cursor);
    } catch {
      return null;
    }
  }
  const from = cursor.at + 1;
  if (first > end - from) return null;
  cursor.at = from + first;
  return octets.toString('latin1', from, cursor.at);
}

function addHeader(headers: Headers, name: string, value: string): void {
  const before = headers[name];
  if (before === undefined) headers[name] = value;
  // RFC 9113 §8.2.3: a browser may send cookies as several fields.
  else if (name === 'cookie') headers[name] = `${String(before)}; ${value}`;
  else headers[name] = typeof before === 'string' ? [before, value] : [...before, value];
}

const NO_OCTETS = Buffer.alloc(0);

/**
 * The body, `null` for a request without one; or the name of the argument that is wrong.
 *
 * `req.body_size` is the Content-Length, or of a body without one what has arrived. So without `body_end` a body of unknown
 * length is never known to be whole.
 */
function bodyOf(values: Values, headers: Headers): ProxiedBody | null | ArgumentName {
  const size = values.get('body_size') ?? 0;
  if (!isCount(size)) return 'body_size';
  const arrived = values.get('body_len') ?? 0;
  if (!isCount(arrived)) return 'body_len';
  const ended = values.get('body_end') ?? null;
  if (ended !== null && typeof ended !== 'boolean') return 'body_end';
  const sent = values.get('body') ?? null;
  if (sent !== null && !Buffer.isBuffer(sent)) return 'body';
  const isChunked = ended === null && headers['transfer-encoding'] !== undefined;
  if (size === 0 && arrived === 0 && sent === null && ended !== false && !isChunked) return null;
  if (!values.has('body')) return { octets: null, isWhole: false };
  const octets = sent ?? NO_OCTETS;
  if (octets.length === 0 && size === 0 && ended !== false && !isChunked) return null;
  const isComplete = ended ?? headers['content-length'] !== undefined;
  return { octets, isWhole: isComplete && octets.length >= Math.max(size, arrived) };
}

function isCount(value: SpopValue): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
