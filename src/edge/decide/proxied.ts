/**
 * Requests as a proxy beside the edge saw them. In: what the proxy reports of a request, whatever protocol carries it. Out:
 * how that message is read for a decision, and the changes that a forwarded request gets.
 */
import { type HostFacts, parseHost } from '../../base/addresses/host.ts';
import { canonicalIp } from '../../base/addresses/ip.ts';
import type { HeaderList } from '../../base/http/header-fields.ts';
import type { HeaderChange, Origin } from '../../engine/evaluator/index.ts';
import { addedHeaders } from '../answers/answer-to.ts';
import type { Challenges } from '../answers/challenge/challenge.ts';
import { forwardedTarget, requestHeader } from '../answers/decided.ts';
import { requestChanges } from '../answers/header-changes.ts';
import { codedOctets, codingOf, type InflateOne, inspectedPart } from './content-coding.ts';
import type { DecidingDomain, Exchange } from './exchange.ts';
import type { Incoming, KnownFacts, MessageReader, ReadRequest, RequestRefusal } from './request-context.ts';

/** A request as a proxy saw it. */
export interface ProxiedRequest extends KnownFacts {
  /** The scheme of the visitor's connection. */
  readonly scheme: 'http' | 'https';
  readonly method: string;
  /** Host or `:authority`, as sent. */
  readonly host: string;
  /** Path and query as sent, never a normalised form. */
  readonly target: string;
  /** `HTTP/1.0`, `HTTP/1.1`, `HTTP/2`, `HTTP/3`. */
  readonly protocol: string;
  /** The port of the listener, as visitors know it. */
  readonly port: number;
  /** Lower-case names; a header sent twice is a list, but cookies, joined by `; `; one character an octet. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** The visitor's address; `null`: unknown. */
  readonly ip: string | null;
  /** The name in the TLS handshake (SNI); `null`: none, or unknown. */
  readonly serverName: string | null;
  /** `null`: the request has none. */
  readonly body: ProxiedBody | null;
}

/** What a proxy passes on of a body. */
export interface ProxiedBody {
  /** The first octets; `null`: the proxy passes no bodies on. */
  readonly octets: Uint8Array | null;
  /** Whether they are all of it. */
  readonly isWhole: boolean;
}

/** What differs between platforms: the octets that their decoders take. */
export interface ProxiedPlatform<Octets extends Uint8Array> {
  /** The same octets in that form. */
  readonly octetsOf: (octets: Uint8Array) => Octets;
  readonly inflate: InflateOne<Octets>;
}

/** How requests that a proxy reports are read. */
export function createProxiedReader<Octets extends Uint8Array>({
  octetsOf,
  inflate,
}: ProxiedPlatform<Octets>): MessageReader<ProxiedRequest, null> {
  return {
    head: readHead,
    header: ({ headers }, name) => joinedHeader(headers[name], name === 'cookie' ? '; ' : ', '),
    whole: () => null,
    async inspect({ body, headers }, wanted) {
      if (body === null || body.octets === null) return null;
      const { octets, isWhole: ended } = body;
      const coding = codingOf(joinedHeader(headers['content-encoding'], ', '));
      const part = await inspectedPart(octetsOf(octets), coding, { wanted, ended, inflate });
      const isPartial = !ended && octets.length < codedOctets(coding, wanted);
      return { ...part, outgoing: null, taken: octets.length, isPartial };
    },
    async read({ body }, most) {
      if (body === null) return NO_OCTETS;
      const { octets, isWhole } = body;
      return octets === null || !isWhole || octets.length > most ? null : octets;
    },
  };
}

const NO_OCTETS = new Uint8Array(0);

/** Fields that may occur once only: of several, the origin may use another than the rules have seen. */
const SINGLE = ['host', 'content-length', 'content-type', 'authorization'] as const;

/** Refuses what servers read differently; the proxy in front has parsed the message. */
function readHead({
  method,
  host,
  target,
  protocol,
  headers,
  body,
}: ProxiedRequest): ReadRequest | RequestRefusal {
  for (const name of SINGLE) {
    if (Array.isArray(headers[name])) return refusal(400, `the header \`${name}\` was sent twice`);
  }
  // A tunnel's target is no path, and a TRACE response echoes what scripts must not read.
  if (method === 'CONNECT' || method === 'TRACE') return refusal(405, `the method ${method} is not served`);
  return { ok: true, method, host, target, protocol, headers, hasBody: body !== null };
}

function refusal(status: number, reason: string): RequestRefusal {
  return { ok: false, status, reason };
}

function joinedHeader(value: string | readonly string[] | undefined, separator: string): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : value.join(separator);
}

/** The context's incoming request of one that a proxy reports. */
export function incomingProxied(request: ProxiedRequest): Incoming<ProxiedRequest> {
  const { ip, scheme, port, serverName, country, asn, bot, ja4, ja4h } = request;
  return {
    message: request,
    // The proxy is the peer, and what it reports of the visitor is all that is known: no client on this machine is meant.
    visitor: {
      ip,
      peer: null,
      scheme,
      port,
      trusted: true,
      hops: NO_HOPS,
      serverName: comparedName(serverName),
    },
    ja4: null,
    certificate: null,
    knownFacts: { country, asn, bot, ja4, ja4h },
    proceed: nothing,
    last: nothing,
  };
}

const NO_HOPS: readonly string[] = Object.freeze([]);
const facts: HostFacts = { host: '', port: -1, literal: false };

/**
 * A name in a handshake as hosts are compared. An address counts as none (RFC 6066 §3), as at the node's own listener; a text
 * that is no host name stays, and equals the host of no request.
 */
function comparedName(sent: string | null): string | null {
  if (sent === null || sent === '' || canonicalIp(sent) !== null) return null;
  return parseHost(sent, facts) && !facts.literal && facts.port < 0 ? facts.host : sent;
}

function nothing(): void {}

/** What changes in a request that a proxy forwards, and in the response to it. */
export interface ForwardChanges {
  /** Path and query for the origin. */
  readonly target: string;
  /** Where the request goes by rules and records; `null`: the plan has no origin for it, and the proxy's own is used. */
  readonly origin: Origin | null;
  /** The Cookie header without the edge's own cookies; empty: none is left. `null`: it is as the visitor sent it. */
  readonly cookies: string | null;
  /** Names and values of headers to add to the response, the decision id among them. */
  readonly responseHeaders: HeaderList;
  /** Changes of the request by gateways and headers rules, in their order; absent: none. */
  readonly requestChanges?: readonly HeaderChange[];
  /** Changes of the response by gateways and headers rules, after `responseHeaders`; absent: none. */
  readonly responseChanges?: readonly HeaderChange[];
}

/** The changes of a forwarded request. */
export function forwardChanges(
  exchange: Exchange<DecidingDomain>,
  challenges: Pick<Challenges, 'withoutOwn'>,
): ForwardChanges {
  const { decision, request } = exchange;
  const sent = requestHeader(exchange, 'cookie');
  const cookies = sent === '' ? sent : challenges.withoutOwn(sent);
  return {
    target: forwardedTarget(decision) ?? request.target,
    origin: decision.origin,
    cookies: cookies === sent ? null : cookies,
    responseHeaders: addedHeaders(exchange),
    ...(decision.requestHeaders === undefined
      ? {}
      : { requestChanges: requestChanges(decision, challenges) }),
    ...(decision.responseHeaders === undefined ? {} : { responseChanges: decision.responseHeaders }),
  };
}
