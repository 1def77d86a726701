/**
 * The request that a proxy asks about. In: the headers of the contract and the visitor's own. Out: the request as the proxy
 * saw it, or why the proxy's account of it is refused. Nothing is guessed: a required header that is absent, and any value that
 * a header cannot have, is a refusal.
 */
import { METHODS } from 'node:http';
import { parseAsn } from '../../../base/addresses/asn.ts';
import { canonicalIp } from '../../../base/addresses/ip.ts';
import { DEFAULT_PORTS } from '../../decide/exchange.ts';
import type { ProxiedBody, ProxiedRequest } from '../../decide/proxied.ts';
import { encodeOctets } from '../../proxy/read-request.ts';
import { type DoorHeaders, type FactHeader, refusal } from './contract.ts';
import type { ContractRefusal } from './refusals.ts';

/** Methods are case-sensitive (RFC 9110 §9.1); a node refuses others too. */
const KNOWN_METHODS: ReadonlySet<string> = new Set(METHODS);
/** A browser that opens a WebSocket has the scheme of the connection. */
const SCHEMES: ReadonlyMap<string, 'http' | 'https'> = new Map([
  ['http', 'http'],
  ['https', 'https'],
  ['ws', 'http'],
  ['wss', 'https'],
]);
/** The spellings of nginx, Caddy, Traefik and Envoy. */
const PROTOCOLS: ReadonlyMap<string, string> = new Map([
  ['HTTP/1.0', 'HTTP/1.0'],
  ['HTTP/1.1', 'HTTP/1.1'],
  ['HTTP/2', 'HTTP/2'],
  ['HTTP/2.0', 'HTTP/2'],
  ['HTTP/3', 'HTTP/3'],
  ['HTTP/3.0', 'HTTP/3'],
]);
/** Visible characters and octets above ASCII, which are percent-encoded as a node does. */
const TARGET = /^(?:\/[!-~\x80-\xff]*|\*)$/;
/** Methods whose requests rarely have a body: one that the proxy does not report is taken to be absent. */
const BODILESS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'CONNECT']);

/** The request line of the visitor, where the proxy repeats it on the request to the door. */
export interface OwnLine {
  readonly method: string;
  readonly host: string;
  readonly target: string;
}

/** How a request is read. */
export interface FactOptions {
  /** `null`: method, host and target are headers of the contract. */
  readonly line: OwnLine | null;
  /** Proxies between the visitor and the one that asks, each of which appends to `X-Forwarded-For`. */
  readonly trustedHops: number;
  /** The body that came with the request; `null`: none did. */
  readonly body: ProxiedBody | null;
  /** Whether the absence of a body shows that the visitor sent none. */
  readonly passesBodies: boolean;
}

/** Reads the facts of a request. */
export function readFacts(
  { facts, visitor }: DoorHeaders,
  { line, trustedHops, body, passesBodies }: FactOptions,
): { readonly ok: true; readonly request: ProxiedRequest } | ContractRefusal {
  const read = line ?? lineOf(facts);
  if ('fault' in read) return read;
  const { method, host } = read;
  if (!KNOWN_METHODS.has(method)) return refusal('malformed', 'x-forwarded-method');
  if (!TARGET.test(read.target)) return refusal('malformed', 'x-forwarded-uri');
  const proto = facts['x-forwarded-proto'];
  if (proto === undefined) return refusal('missing', 'x-forwarded-proto');
  const scheme = SCHEMES.get(proto);
  if (scheme === undefined) return refusal('malformed', 'x-forwarded-proto');
  const address = addressIn(facts['x-forwarded-for'], trustedHops);
  if (typeof address !== 'string') return address;
  const optional = readOptional(facts, scheme);
  if ('fault' in optional) return optional;
  // Rules that match the Host header see the one that the visitor sent.
  visitor['host'] = host;
  return {
    ok: true,
    request: {
      ...optional,
      scheme,
      method,
      host,
      target: encodeOctets(read.target),
      headers: visitor,
      ip: address,
      body: body ?? unseenBody(facts['x-edgeplan-body'], { method, passesBodies }),
    },
  };
}

type Facts = DoorHeaders['facts'];

/** Method, host and target by the headers of the contract. */
function lineOf(facts: Facts): OwnLine | ContractRefusal {
  const method = facts['x-forwarded-method'];
  const host = facts['x-forwarded-host'];
  const target = facts['x-forwarded-uri'];
  if (method === undefined) return refusal('missing', 'x-forwarded-method');
  if (host === undefined) return refusal('missing', 'x-forwarded-host');
  if (target === undefined) return refusal('missing', 'x-forwarded-uri');
  return { method, host, target };
}

/**
 * The visitor's address: without trusted hops the only element, with them the one that many before the last. What is left of it
 * may be the visitor's own text. Never the element of a proxy: rules for the operator's own network would let the visitor in.
 */
function addressIn(value: string | undefined, trustedHops: number): string | ContractRefusal {
  const name: FactHeader = 'x-forwarded-for';
  if (value === undefined) return refusal('missing', name);
  const elements = value.split(',');
  const at = elements.length - 1 - trustedHops;
  if (at < 0 || (at > 0 && trustedHops === 0)) return refusal('address_list', name);
  return canonicalIp(elements[at]!.trim()) ?? refusal('malformed', name);
}

/** The facts that a proxy may leave out. */
type OptionalFacts = Pick<ProxiedRequest, 'protocol' | 'port' | 'serverName' | 'ja4' | 'country' | 'asn'>;

/** Their default: HTTP/1.1, the port of the scheme, nothing known. */
function readOptional(facts: Facts, scheme: 'http' | 'https'): OptionalFacts | ContractRefusal {
  const protocol = PROTOCOLS.get(facts['x-edgeplan-protocol'] ?? 'HTTP/1.1');
  if (protocol === undefined) return refusal('malformed', 'x-edgeplan-protocol');
  const sentPort = facts['x-edgeplan-port'];
  const port = sentPort === undefined ? DEFAULT_PORTS[scheme] : portOf(sentPort);
  if (port === null) return refusal('malformed', 'x-edgeplan-port');
  const ja4 = facts['x-edgeplan-ja4'];
  if (ja4 !== undefined && !/^[0-9a-z_]{1,64}$/.test(ja4)) return refusal('malformed', 'x-edgeplan-ja4');
  const country = facts['x-edgeplan-country'];
  if (country !== undefined && !/^[A-Z]{2}$/.test(country)) return refusal('malformed', 'x-edgeplan-country');
  const sentAsn = facts['x-edgeplan-asn'];
  const asn = sentAsn === undefined ? undefined : parseAsn(sentAsn);
  if (asn === null) return refusal('malformed', 'x-edgeplan-asn');
  const name = facts['x-edgeplan-sni'];
  // A name in a handshake has ASCII letters, digits, dots and hyphens alone (RFC 6066 §3); some clients send `_`, or an address.
  if (name !== undefined && !/^[0-9A-Za-z._:-]{1,253}$/.test(name)) {
    return refusal('malformed', 'x-edgeplan-sni');
  }
  return {
    protocol,
    port,
    serverName: name?.toLowerCase() ?? null,
    ...(ja4 === undefined ? {} : { ja4 }),
    ...(country === undefined ? {} : { country }),
    ...(asn === undefined ? {} : { asn }),
  };
}

function portOf(text: string): number | null {
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65_535 ? port : null;
}

/** The octets that a proxy has and does not pass on. */
const UNSEEN: ProxiedBody = { octets: null, isWhole: false };

/**
 * What a request without a body says of the visitor's.
 * @param stated the visitor's Content-Length and Transfer-Encoding, one behind the other
 */
function unseenBody(
  stated: string | undefined,
  { method, passesBodies }: Pick<FactOptions, 'passesBodies'> & Pick<OwnLine, 'method'>,
): ProxiedBody | null {
  if (passesBodies || stated === '0') return null;
  return stated === undefined && BODILESS.has(method) ? null : UNSEEN;
}
