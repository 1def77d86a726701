/**
 * The forwarding headers of a trusted proxy: `X-Forwarded-For` with `X-Forwarded-Proto`, or `Forwarded` (RFC 7239) of a proxy
 * that sends neither of them. In: the headers. Out: the nodes that they name, and the scheme that each was served by.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { canonicalIp } from '../addresses/ip.ts';

/** What trusted proxies report. Lists are in the order of the headers, the last hop last. */
export interface ForwardedHops {
  /** The client of each hop, in the form of `X-Forwarded-For`. */
  readonly nodes: readonly string[];
  /** The scheme of each hop, as sent; shorter than `nodes` if some proxies report none. */
  readonly schemes: readonly string[];
}

/** Nothing was reported. */
export const NO_NODES: readonly string[] = Object.freeze([]);

/** Reads the forwarding headers of a trusted proxy. */
export function readForwarded(headers: IncomingHttpHeaders): ForwardedHops {
  const forwardedFor = headers['x-forwarded-for'];
  const forwardedProto = headers['x-forwarded-proto'];
  const { forwarded } = headers;
  // A proxy that sends one of the other two does not replace the `Forwarded` of its clients.
  if (forwarded === undefined || forwardedFor !== undefined || forwardedProto !== undefined) {
    return { nodes: elementsOf(forwardedFor), schemes: elementsOf(forwardedProto) };
  }
  const elements = splitUnquoted(forwarded, ',').map(parametersOf);
  return {
    nodes: elements.map(({ node }) => addressOf(node) ?? 'unknown'),
    schemes: elements.map(({ proto }) => proto),
  };
}

/**
 * The address of a node (RFC 7239 §6), which may have a port and quotes; `null`: it has none (`unknown`, an obfuscated
 * identifier, a UNIX socket), or none that rules can read (semantics §1).
 */
export function addressOf(node: string): string | null {
  const text = unquoted(node);
  if (text.startsWith('[')) {
    const end = text.indexOf(']');
    return end > 0 && isPortOrNothing(text.slice(end + 1)) ? ipv6Of(text.slice(1, end)) : null;
  }
  const colon = text.indexOf(':');
  const single = colon > 0 && colon === text.lastIndexOf(':');
  if (!single) return canonicalIp(text);
  return isPortOrNothing(text.slice(colon)) ? canonicalIp(text.slice(0, colon)) : null;
}

/** The scheme by its name, that of a WebSocket included; `null`: it is neither HTTP nor HTTPS. */
export function schemeNamed(name: string): 'http' | 'https' | null {
  const scheme = unquoted(name).toLowerCase();
  if (scheme === 'https' || scheme === 'wss') return 'https';
  return scheme === 'http' || scheme === 'ws' ? 'http' : null;
}

/** An element of `Forwarded` for a node (RFC 7239 §6): an IPv6 address is bracketed and quoted. */
export function forwardedNode(address: string | null): string {
  if (address === null) return 'for=unknown';
  return address.includes(':') ? `for="[${address}]"` : `for=${address}`;
}

function elementsOf(header: string | readonly string[] | undefined): readonly string[] {
  if (header === undefined) return NO_NODES;
  const text = typeof header === 'string' ? header : header.join(',');
  return text.split(',').map((element) => element.trim());
}

/** Only an IPv6 address has brackets. */
function ipv6Of(text: string): string | null {
  return text.includes(':') ? canonicalIp(text) : null;
}

/** A port may be obfuscated, too (RFC 7239 §6.2). */
function isPortOrNothing(text: string): boolean {
  return text === '' || /^:(?:[0-9]{1,5}|_[\w.-]+)$/.test(text);
}

/** The two parameters of an element of `Forwarded` that are used; empty: it does not have them. */
function parametersOf(element: string): { readonly node: string; readonly proto: string } {
  let node = '';
  let proto = '';
  for (const pair of splitUnquoted(element, ';')) {
    const equals = pair.indexOf('=');
    const name = pair.slice(0, Math.max(0, equals)).trim().toLowerCase();
    const value = pair.slice(equals + 1).trim();
    if (name === 'for') node = value;
    else if (name === 'proto') proto = value;
  }
  return { node, proto };
}

/** The parts between separators outside of quoted strings. */
function splitUnquoted(text: string, separator: string): string[] {
  const parts: string[] = [];
  let start = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') quoted = !quoted;
    else if (quoted && character === '\\') at++;
    else if (!quoted && character === separator) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

/** The content of a quoted string; any other text as it is. */
function unquoted(text: string): string {
  const isQuoted = text.length > 1 && text.startsWith('"') && text.endsWith('"');
  return isQuoted ? text.slice(1, -1).replace(/\\(.)/g, '$1').trim() : text;
}
