/**
 * What a CheckRequest says of a request, in the form that is decided. In: the message of Envoy's `ext_authz` filter, or of
 * another proxy that speaks its protocol. Out: the request as the proxy saw it.
 *
 * Facts about the filter are from envoyproxy/envoy, `check_request_utils.cc` and `ext_authz.cc` of 2025: it leaves out a
 * visitor's `x-envoy-auth-partial-body` and adds its own after all other headers; `path`, `host` and `method` have `!` for
 * octets that are not UTF-8, the raw pseudo-headers have the octets; `source` is the other end of the connection,
 * whatever X-Forwarded-For says.
 */
import { canonicalIp } from '../../../base/addresses/ip.ts';
import { DEFAULT_PORTS } from '../../decide/exchange.ts';
import type { ProxiedBody, ProxiedRequest } from '../../decide/proxied.ts';
import { encodeOctets } from '../../proxy/read-request.ts';
import type { CheckRequest } from './check-request.ts';
import { BODY_LIMIT } from './limits.ts';
import { isAscii } from './protobuf.ts';

/**
 * Context extensions that the door reads, which are part of the proxy's configuration. Two name a header that the proxy sets
 * itself: a visitor cannot add an extension, and so cannot have a header of their own read as one of these.
 */
export const EXTENSIONS = {
  /** The header with the visitor's address: `x-envoy-external-address` behind another proxy. */
  address: 'edgeplan-address-header',
  /** The header with the JA4 fingerprint of the TLS client. */
  ja4: 'edgeplan-ja4-header',
  /** `max_request_bytes` of the filter. */
  bodyLimit: 'edgeplan-body-limit',
} as const;

/** Envoy's note that `body` is not all of the request's body. */
const PARTIAL_HEADER = 'x-envoy-auth-partial-body';

const PROTOCOLS: ReadonlySet<string> = new Set(['HTTP/1.0', 'HTTP/1.1', 'HTTP/2', 'HTTP/3']);

/** Methods whose requests have a body as a rule. */
const WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

type Headers = Record<string, string | string[]>;

/** The request of a message. */
export function proxiedOf(check: CheckRequest): ProxiedRequest {
  const { headers, pseudo, partial } = readHeaders(check);
  const scheme = schemeOf(check, headers);
  const host = pseudo[':authority'] ?? check.host;
  const target = pseudo[':path'] ?? check.path;
  const { port, protocol, serverName } = check;
  const method = pseudo[':method'] ?? check.method;
  const ja4 = namedHeader(check, headers, EXTENSIONS.ja4);
  return {
    scheme,
    method,
    host: isAscii(host) ? host : Buffer.from(host, 'latin1').toString(),
    target: isAscii(target) ? target : encodeOctets(target),
    protocol: PROTOCOLS.has(protocol) ? protocol : 'HTTP/1.1',
    port: port >= 1 && port <= 65_535 ? port : DEFAULT_PORTS[scheme],
    headers,
    ip: addressOf(check, headers),
    serverName: serverName === '' ? null : serverName.toLowerCase(),
    body: bodyOf(check, { method, headers, partial }),
    ...(ja4 === undefined || ja4 === '' ? {} : { ja4 }),
  };
}

interface ReadHeaders {
  readonly headers: Headers;
  /** The raw pseudo-headers (RFC 9113 §8.3.1), which Envoy has of requests of every version. */
  readonly pseudo: Readonly<Record<string, string>>;
  /** The values of the partial-body header; empty: none. */
  readonly partial: readonly string[];
}

function readHeaders({ headers: sent, isRaw }: CheckRequest): ReadHeaders {
  const headers: Headers = Object.create(null);
  const pseudo: Record<string, string> = Object.create(null);
  const partial: string[] = [];
  for (let at = 0; at < sent.length; at += 2) {
    const name = sent[at]!;
    const value = sent[at + 1]!;
    if (name.charCodeAt(0) === 58) {
      if (isRaw) pseudo[name] = value;
    } else if (name === PARTIAL_HEADER) partial.push(value);
    // Of a map's entries the last one of a name counts.
    else if (isRaw) addHeader(headers, name, value);
    else headers[name] = value;
  }
  return { headers, pseudo, partial };
}

function addHeader(headers: Headers, name: string, value: string): void {
  const before = headers[name];
  if (before === undefined) headers[name] = value;
  // HTTP/2 sends the pairs of a Cookie header as headers of their own (RFC 9113 §8.2.3).
  else if (name === 'cookie') headers[name] = `${before as string}; ${value}`;
  else if (typeof before === 'string') headers[name] = [before, value];
  else before.push(value);
}

/**
 * The scheme of the visitor's connection. `:scheme` of a request over HTTP/2 is the visitor's own word; the header is
 * Envoy's, which overwrites a visitor's with `use_remote_address`.
 */
function schemeOf({ scheme }: CheckRequest, headers: Headers): 'http' | 'https' {
  const forwarded = headers['x-forwarded-proto'];
  const text = forwarded === 'http' || forwarded === 'https' ? forwarded : scheme;
  return text === 'https' ? 'https' : 'http';
}

/** The value of the header that a context extension names; `undefined`: the extension is absent. Empty: the header is. */
function namedHeader(
  { extensions }: CheckRequest,
  headers: Headers,
  extension: (typeof EXTENSIONS)[keyof typeof EXTENSIONS],
): string | undefined {
  const name = extensions.get(extension);
  if (name === undefined) return undefined;
  const value = headers[name.toLowerCase()];
  // Sent twice, one of the two is not the proxy's.
  return typeof value === 'string' ? value : '';
}

/** The visitor's address; `null`: a header should have it and does not, or the connection came over a unix socket. */
function addressOf(check: CheckRequest, headers: Headers): string | null {
  return canonicalIp(namedHeader(check, headers, EXTENSIONS.address) ?? check.source);
}

interface BodyFacts extends Pick<ReadHeaders, 'headers' | 'partial'> {
  readonly method: string;
}

/** The body; `null`: the request has none. */
function bodyOf({ body, protocol, extensions }: CheckRequest, facts: BodyFacts): ProxiedBody | null {
  const { headers, partial, method } = facts;
  const length = headers['content-length'];
  if (body !== null || partial.length > 0) {
    const octets = body ?? NO_OCTETS;
    return { octets, isWhole: isWhole(octets.length, { length, partial, limit: limitOf(extensions) }) };
  }
  if (length !== undefined) return length === '0' ? null : UNSEEN;
  if (headers['transfer-encoding'] !== undefined) return UNSEEN;
  // From HTTP/2 on a body needs no header that announces it.
  const isSilent = protocol === 'HTTP/2' || protocol === 'HTTP/3';
  return isSilent && WITH_BODY.has(method) ? UNSEEN : null;
}

const NO_OCTETS = new Uint8Array(0);
const UNSEEN: ProxiedBody = Object.freeze({ octets: null, isWhole: false });

/**
 * Whether the octets are the whole body. Envoy compares what it sends with its buffer: where the buffer has exactly
 * `max_request_bytes` and the rest is still on its way, it says `false`, not partial. A visitor chooses the sizes of frames.
 */
function isWhole(octets: number, { length, partial, limit }: BodyEnd): boolean {
  if (partial.some((value) => value !== 'false')) return false;
  if (length !== undefined) return length === String(octets);
  return partial.length > 0 && octets < limit;
}

interface BodyEnd extends Pick<ReadHeaders, 'partial'> {
  /** The Content-Length. */
  readonly length: string | readonly string[] | undefined;
  /** The octets of a body that may have more, if it has no Content-Length. */
  readonly limit: number;
}

function limitOf(extensions: ReadonlyMap<string, string>): number {
  const stated = Number(extensions.get(EXTENSIONS.bodyLimit));
  return stated >= 1 ? stated : BODY_LIMIT;
}
