/** The headers an origin gets: what is for one connection only taken out, what tells about the visitor put in. */
import { isForwarding, shapesStored } from '../answers/forwarding.ts';
import { ID_HEADER } from '../answers/kinds.ts';
import { namedInConnection } from '../http/end-to-end.ts';
import { lowerName } from '../http/header-names.ts';
import type { HeaderList } from '../http/response.ts';
import type { Visitor } from './exchange.ts';
import { loopOf, viaOf } from './loops.ts';

/**
 * Fields that concern one connection (RFC 9110 §7.6.1), and those the edge says itself. `Expect` is answered here: the
 * body is only asked for once the request is let through.
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
  // `HTTP_PROXY` to programs behind CGI (httpoxy, CVE-2016-5385); no proxy sends it either.
  'proxy',
  'x-edgeplan-id',
  // Appended to.
  'via',
  'cdn-loop',
]);

/** Of these a trusted proxy's are replaced by our own, which go on where it ended. */
const REWRITTEN: ReadonlySet<string> = new Set(['forwarded', 'x-forwarded-for', 'x-forwarded-proto']);

/**
 * Fields that go on here and that the body, the cache or the Markdown of a page set or take out after this: an alias of a
 * condition would have an origin answer 304 to what the cache asks for everybody.
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
  /** The Host the visitor asked for. */
  readonly host: string;
  /** The Host the origin gets. */
  readonly hostHeader: string;
  /** The Cookie header without the edge's own; empty: none is left. */
  readonly cookies: string;
  /** The version of HTTP that the request came by: `1.1`, `2.0`. */
  readonly version: string;
  /** Passes on headers with `_` in their names. */
  readonly keepUnderscores: boolean;
}

/** From the headers as the client sent them (name, value, …) to those for the origin. */
export function outgoingHeaders(raw: HeaderList, options: OutgoingOptions): string[] {
  const { visitor, hostHeader, cookies, method, keepUnderscores } = options;
  const mayBeStored = method === 'GET' || method === 'HEAD';
  const named = namedInConnection(raw);
  const headers: string[] = ['Host', hostHeader];
  let forwardedFor = '';
  let forwarded = '';
  let via = '';
  let loop = '';
  for (let at = 0; at < raw.length; at += 2) {
    const sent = raw[at]!;
    if (sent.charCodeAt(0) === 58) continue;
    const name = lowerName(sent);
    // Before what `Connection` names: with it a client would hide a loop (RFC 8586 §2).
    if (name === 'cdn-loop') loop = joined(loop, raw[at + 1]!);
    else if (name === 'via') via = joined(via, raw[at + 1]!);
    if (HOP_BY_HOP.has(name) || named?.has(name) === true || isAmbiguous(name, keepUnderscores)) continue;
    if (mayBeStored && !visitor.trusted && shapesStored(name)) continue;
    if (isForwarding(name)) {
      if (!visitor.trusted) continue;
      if (name === 'x-forwarded-for') forwardedFor = joined(forwardedFor, raw[at + 1]!);
      else if (name === 'forwarded') forwarded = joined(forwarded, raw[at + 1]!);
      if (REWRITTEN.has(name)) continue;
    }
    headers.push(sent, raw[at + 1]!);
  }
  if (cookies !== '') headers.push('Cookie', cookies);
  const { peer, scheme } = visitor;
  headers.push('X-Forwarded-For', joined(forwardedFor, peer ?? 'unknown'), 'X-Forwarded-Proto', scheme);
  headers.push('Forwarded', joined(forwarded, forwardedElement(peer, options.host, scheme)));
  headers.push('Via', joined(via, viaOf(options.version)), 'CDN-Loop', loopOf(loop));
  headers.push(ID_HEADER, options.id);
  return headers;
}

/**
 * Whether servers that read `_` as `-` (CGI, WSGI, PHP) take a name for another one, whose value rules and the edge have
 * seen. None is passed on, as with nginx, a trusted proxy's neither; where the operator keeps them, none that is one set or
 * taken out here.
 */
function isAmbiguous(name: string, kept: boolean): boolean {
  if (!name.includes('_')) return false;
  if (!kept) return true;
  const read = name.replaceAll('_', '-');
  return HOP_BY_HOP.has(read) || isForwarding(read) || shapesStored(read) || SET_ELSEWHERE.has(read);
}

function joined(before: string, value: string): string {
  return before === '' ? value : `${before}, ${value}`;
}

/** RFC 7239 §4 and §6: an IPv6 address stands in brackets and quotes, and so does a host with a port. */
function forwardedElement(peer: string | null, host: string, scheme: string): string {
  const node = peer === null ? 'unknown' : peer.includes(':') ? `"[${peer}]"` : peer;
  const named = host.includes(':') || host.includes('"') ? `"${host.replaceAll('"', '')}"` : host;
  return `for=${node};host=${named};proto=${scheme}`;
}
