/** The request headers for an origin: without hop-by-hop ones, with the forwarding headers (RFC 7239, RFC 9110 §7.6). */
import { type HostFacts, parseHost } from '../../base/addresses/host.ts';
import { addressOf, forwardedNode } from '../../base/http/forwarded.ts';
import { lowerName, namedInConnection } from '../../base/http/header-fields.ts';
import type { HeaderList } from '../../base/http/response.ts';
import { isForwarding, namesClient, shapesStored } from '../answers/decided.ts';
import { ID_HEADER } from '../answers/pages.ts';
import { DEFAULT_PORTS, type Visitor } from '../decide/exchange.ts';
import { MAX_PASSES } from './limits.ts';

// `Via` of messages that pass through the edge (RFC 9110 §7.6.3), and the detection of loops by `CDN-Loop` (RFC 8586).

/** The edge's pseudonym in `Via` and its id in `CDN-Loop`. */
const OWN = 'edgeplan';

/** The fault code of a request that was refused as a loop. */
export const LOOP = 'loop';

/** The element of `Via` for a message. @param version in which it was received: `1.1`, `2.0` */
function viaOf(version: string): string {
  return `${version === '2.0' ? '2' : version} ${OWN}`;
}

/** `Via` of responses; the node requests origins in HTTP/1.1 only. */
export const ANSWER_VIA: readonly [string, string] = ['Via', viaOf('1.1')];

/** The value of `CDN-Loop` for the next hop. @param before the received value; empty: none */
function loopOf(before: string): string {
  return before === '' ? OWN : `${before}, ${OWN}`;
}

/** Whether a request has passed through edges like this one more often than `MAX_PASSES`. */
export function isLooping(sent: string | readonly string[] | undefined): boolean {
  if (sent === undefined) return false;
  let passes = 0;
  for (const element of String(sent).split(',')) {
    // An element may have parameters after its id (RFC 8586 §2).
    const [id = ''] = element.split(';', 1);
    if (id.trim().toLowerCase() === OWN) passes++;
  }
  return passes > MAX_PASSES;
}

/**
 * Fields of one connection (RFC 9110 §7.6.1), and those that the edge sets itself. `Expect` is answered by the edge, or added
 * where the origin answers it (`origin/expect.ts`).
 */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'expect',
  'host',
  'cookie',
  // CGI programs read it as the variable `HTTP_PROXY` (httpoxy, CVE-2016-5385); no legitimate client sends it.
  'proxy',
  'x-edgeplan-id',
  // Appended to.
  'via',
  'cdn-loop',
]);

/** Fields of a trusted proxy that are replaced by the edge's. */
const REWRITTEN: ReadonlySet<string> = new Set(['forwarded', 'x-forwarded-for', 'x-forwarded-proto']);

/**
 * Fields that pass here, and that the body, the cache or the Markdown filter set or remove later: with an alias of a
 * condition an origin would answer 304 to a request of the cache for all clients.
 */
const SET_ELSEWHERE: ReadonlySet<string> = new Set([
  'content-length',
  'accept-encoding',
  'if-modified-since',
  'if-none-match',
  'if-range',
]);

export interface OutgoingOptions {
  /** The request's own id. */
  readonly id: string;
  readonly method: string;
  readonly visitor: Visitor;
  /** The Host of the visitor's request. */
  readonly host: string;
  /** The Host for the origin. */
  readonly hostHeader: string;
  /** The Cookie header without the edge's own cookies; empty: none is left. */
  readonly cookies: string;
  /** The version of HTTP of the visitor's request: `1.1`, `2.0`. */
  readonly version: string;
  /** Forwards headers with `_` in their names. */
  readonly keepUnderscores: boolean;
}

/** The headers for the origin from those that the client sent (name, value, …). */
export function outgoingHeaders(raw: HeaderList, options: OutgoingOptions): string[] {
  const { visitor, hostHeader, cookies, method, keepUnderscores } = options;
  const mayBeStored = method === 'GET' || method === 'HEAD';
  const named = namedInConnection(raw);
  const headers: string[] = ['Host', hostHeader];
  let isHostReported = false;
  let via = '';
  let loop = '';
  for (let at = 0; at < raw.length; at += 2) {
    const sent = raw[at]!;
    if (sent.charCodeAt(0) === 58) continue;
    const name = lowerName(sent);
    // Read even if `Connection` names it: a client could hide a loop in that way (RFC 8586 §2).
    if (name === 'cdn-loop') loop = joined(loop, raw[at + 1]!);
    else if (name === 'via') via = joined(via, raw[at + 1]!);
    if (HOP_BY_HOP.has(name) || named?.has(name) === true || isAmbiguous(name, keepUnderscores)) continue;
    if (mayBeStored && !visitor.trusted && shapesStored(name)) continue;
    if (isForwarding(name)) {
      if (!visitor.trusted || REWRITTEN.has(name)) continue;
      // Most proxies set one of these and pass the others on as their clients sent them.
      if (namesClient(name) && (visitor.ip === null || addressOf(raw[at + 1]!) !== visitor.ip)) continue;
      if (name === 'x-forwarded-host') isHostReported = true;
    }
    headers.push(sent, raw[at + 1]!);
  }
  if (cookies !== '') headers.push('Cookie', cookies);
  pushForwarding(headers, options);
  const replaced = isHostReported ? null : replacedHost(options);
  if (replaced !== null) headers.push('X-Forwarded-Host', replaced);
  headers.push('Via', joined(via, viaOf(options.version)), 'CDN-Loop', loopOf(loop));
  headers.push(ID_HEADER, options.id);
  return headers;
}

/**
 * Adds the forwarding headers. Both lists of nodes are made of those that trusted proxies reported, so that an origin finds
 * the same client in `Forwarded` and in `X-Forwarded-For`, and the one that the rules saw.
 */
function pushForwarding(headers: string[], { visitor, host }: OutgoingOptions): void {
  const { hops, peer, scheme } = visitor;
  let forwardedFor = '';
  let forwarded = '';
  for (const node of hops) {
    forwardedFor += `${node === '' ? 'unknown' : node}, `;
    forwarded += `${forwardedNode(addressOf(node))}, `;
  }
  headers.push('X-Forwarded-For', forwardedFor + (peer ?? 'unknown'), 'X-Forwarded-Proto', scheme);
  const named = host.includes(':') || host.includes('"') ? `"${host.replaceAll('"', '')}"` : host;
  headers.push('Forwarded', `${forwarded}${forwardedNode(peer)};host=${named};proto=${scheme}`);
}

/** PERF: one object for all requests; `parseHost` overwrites it. */
const facts: HostFacts = { host: '', port: -1, literal: false };

/** The visitor's host with the port of a URL, if the `host_header` of a record or rule replaces it; else `null`. */
function replacedHost({ host, hostHeader, visitor }: OutgoingOptions): string | null {
  if (host === hostHeader || !parseHost(host, facts)) return null;
  const own = visitor.port === DEFAULT_PORTS[visitor.scheme] ? facts.host : `${facts.host}:${visitor.port}`;
  return own === hostHeader ? null : own;
}

/**
 * Whether servers that read `_` or `.` as `-` (CGI, WSGI, PHP) confuse a name with another one, whose value the rules have
 * inspected. No header with `_` is forwarded, as with nginx, from a trusted proxy neither; if the operator allows them, and of
 * those with other marks, none that is confused with one that the edge sets or removes.
 */
function isAmbiguous(name: string, isAllowed: boolean): boolean {
  if (!MARKS.test(name)) return false;
  if (!isAllowed && name.includes('_')) return true;
  const read = name.replace(ALL_MARKS, '-');
  return HOP_BY_HOP.has(read) || isForwarding(read) || shapesStored(read) || SET_ELSEWHERE.has(read);
}

/** Octets of names (RFC 9110 §5.6.2) that variables of programs cannot have. */
const MARKS = /[^a-z0-9-]/;
const ALL_MARKS = /[^a-z0-9-]/g;

function joined(before: string, value: string): string {
  return before === '' ? value : `${before}, ${value}`;
}
