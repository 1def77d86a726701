/**
 * Reads the head of a request for the evaluator. Refuses heads that servers read differently (request smuggling; RFC 9112
 * §3.2, §6.1, §11.2): a request that the origin could read otherwise than the rules must not be forwarded.
 */
import { METHODS } from 'node:http';
import type { ClientRequest } from '../../base/http/client-messages.ts';
import { lowerName } from '../../base/http/header-fields.ts';
import type { ReadRequest, RequestRefusal } from '../decide/request-context.ts';
import { MAX_HEAD_OCTETS, MAX_HEADERS } from './limits.ts';

/** Methods are case-sensitive (RFC 9110 §9.1). */
const KNOWN_METHODS: ReadonlySet<string> = new Set(METHODS);

type Headers = Record<string, string | string[]>;

/** Fields that may occur once only: of several, some servers use the first and some the last. */
const SINGLE = ['host', 'content-length', 'content-type', 'transfer-encoding', 'authorization', 'expect'];

/** Pseudo-header fields of an HTTP/2 request (RFC 9113 §8.3.1), which Node lists among the headers. */
const PSEUDO_HEADERS = 4;

/** Reads the head of a request. */
export function readRequest(message: ClientRequest): ReadRequest | RequestRefusal {
  const version = message.httpVersionMajor;
  // A WebSocket has `:protocol` besides (RFC 8441 §4).
  const pseudo = version < 2 ? 0 : PSEUDO_HEADERS + (message.method === 'CONNECT' ? 1 : 0);
  if (message.rawHeaders.length > 2 * (MAX_HEADERS + pseudo)) {
    return refuse(431, `there are more than ${MAX_HEADERS} headers`);
  }
  // Node's HTTP/1 parser limits octets itself; for HTTP/2 it does so only once the client has acknowledged the SETTINGS.
  if (version >= 2 && octetsOf(message.rawHeaders) > MAX_HEAD_OCTETS) {
    return refuse(431, `the headers take more than ${MAX_HEAD_OCTETS} octets`);
  }
  const headers = readHeaders(message.rawHeaders);
  // Node's parser accepts versions that a connection of HTTP/1 cannot have, `HTTP/0.9` and `HTTP/2.0`.
  if (!('stream' in message) && (version !== 1 || message.httpVersionMinor > 1)) {
    return refuse(505, `HTTP/${message.httpVersion} is not spoken here`);
  }
  for (const name of SINGLE) {
    if (Array.isArray(headers[name])) return refuse(400, `the header \`${name}\` was sent twice`);
  }
  const host = version >= 2 ? authorityOf(message, headers) : headers.host;
  if (typeof host !== 'string') return refuse(400, 'there is no Host header, or several that differ');
  const coding = headers['transfer-encoding'];
  if (coding !== undefined) {
    if (version !== 1 || message.httpVersionMinor === 0) {
      return refuse(400, 'Transfer-Encoding is not for this version of HTTP');
    }
    if ((coding as string).toLowerCase() !== 'chunked') {
      return refuse(501, `the transfer coding \`${String(coding).slice(0, 64)}\` is not known`);
    }
    if (headers['content-length'] !== undefined) {
      return refuse(400, 'Content-Length and Transfer-Encoding contradict each other');
    }
  }
  const target = message.url ?? '';
  const method = methodOf(message);
  if (method === null) return refuse(501, 'no other protocol than `websocket` is spoken over a CONNECT');
  if (method === 'CONNECT') return refuse(405, 'tunnels are not opened');
  // A TRACE response echoes what scripts must not read: `HttpOnly` cookies, headers that the edge sets.
  if (method === 'TRACE') return refuse(405, 'requests are not echoed');
  // Node's HTTP/1 parser refuses them; over HTTP/2 `get` would bypass rules for `GET`.
  if (!KNOWN_METHODS.has(method)) return refuse(400, `the method \`${method.slice(0, 32)}\` is not known`);
  const length = headers['content-length'];
  // HTTP/2 needs no length: a stream that does not end with its head has a body.
  const streamed =
    version >= 2 && length === undefined && 'stream' in message && !message.stream.endAfterHeaders;
  // The stream of a WebSocket does not end with its head either, and a CONNECT has no content (RFC 9110 §9.3.6).
  const isConnect = message.method === 'CONNECT';
  return {
    ok: true,
    method,
    host: isAscii(host) ? host : Buffer.from(host, 'latin1').toString(),
    target: isAscii(target) ? target : encodeOctets(target),
    protocol: version >= 2 ? 'HTTP/2' : `HTTP/1.${message.httpVersionMinor}`,
    headers,
    hasBody: !isConnect && (coding !== undefined || streamed || (length !== undefined && length !== '0')),
  };
}

/**
 * The method that rules see and origins get. A WebSocket over HTTP/2 is an extended CONNECT (RFC 8441 §4) and a GET over
 * HTTP/1.1: rules for GET cover both. `null`: an extended CONNECT for another protocol.
 */
function methodOf({ method = 'GET', headers }: ClientRequest): string | null {
  const protocol = method === 'CONNECT' ? headers[':protocol'] : undefined;
  if (protocol === undefined) return method;
  return protocol === 'websocket' ? 'GET' : null;
}

function refuse(status: number, reason: string): RequestRefusal {
  return { ok: false, status, reason };
}

/** `:authority`, which must equal a Host header (RFC 9113 §8.3.1); `null`: neither exists, or they differ. */
function authorityOf(message: ClientRequest, headers: Headers): string | null {
  const authority = 'authority' in message ? message.authority : '';
  const { host } = headers;
  if (authority === '' || authority === undefined) return typeof host === 'string' ? host : null;
  return host === undefined || host === authority ? authority : null;
}

/** Headers by lower-case name, without HTTP/2's pseudo-headers. */
function readHeaders(raw: readonly string[]): Headers {
  const headers: Headers = Object.create(null);
  for (let at = 0; at < raw.length; at += 2) {
    const sent = raw[at]!;
    if (sent.charCodeAt(0) === 58) continue;
    const name = lowerName(sent);
    const value = raw[at + 1]!;
    const before = headers[name];
    if (before === undefined) headers[name] = value;
    else if (typeof before === 'string') headers[name] = [before, value];
    else before.push(value);
  }
  return headers;
}

/** Octets of all names and values. */
function octetsOf(raw: readonly string[]): number {
  let octets = 0;
  for (const text of raw) octets += text.length;
  return octets;
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) return false;
  return true;
}

/** Percent-encodes non-ASCII octets, which Node decodes as Latin-1: the same target, exact also if it is not UTF-8. */
export function encodeOctets(text: string): string {
  let encoded = '';
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    encoded += code > 0x7f ? `%${code.toString(16).toUpperCase()}` : text[at]!;
  }
  return encoded;
}
