/**
 * The normal forms of what a purge names. In: texts of customers, cache keys. Out: `host/path?query` of a URL, without its
 * scheme and port, with the path as nodes normalise it; a tag in lower case.
 *
 * One purge of a URL covers HTTP and HTTPS, and all spellings of its path. Tags are case-insensitive as with Cloudflare;
 * with Fastly they are not, so a purge in its habit may purge more, never less.
 */
import { parseHost } from '../addresses/host.ts';
import { MAX_TAG_CHARACTERS } from '../vocabulary/limits.ts';
import { createTargetFacts, parseTarget, targetMistake } from './path.ts';

/** A value in its normal form, or the predicate of what is wrong with the text. */
export type ReadPurgeValue = { readonly value: string } | { readonly mistake: string };

const URL_FORM = 'must be a whole URL, such as `https://shop.example/a.css?v=2`';
const PREFIX_FORM = 'must be a host and the beginning of a path, such as `shop.example/assets/`';

/** Reads an absolute `http` or `https` URL. */
export function readPurgeUrl(text: string): ReadPurgeValue {
  const rest = withoutScheme(text);
  if (rest === null) return { mistake: URL_FORM };
  return readLocation(rest, URL_FORM);
}

/** Reads a prefix: a URL without query, whose scheme may be missing. A host alone covers all its paths. */
export function readPurgePrefix(text: string): ReadPurgeValue {
  const rest = withoutScheme(text) ?? text;
  if (rest.includes('?')) return { mistake: 'must not have a query: a prefix is of the path' };
  return readLocation(rest, PREFIX_FORM);
}

/** Reads a tag: printable ASCII without spaces and commas, which separate tags in headers. */
export function readPurgeTag(text: string): ReadPurgeValue {
  const value = tagOf(text);
  if (value !== null) return { value };
  return {
    mistake: `must be 1 to ${MAX_TAG_CHARACTERS} printable ASCII characters without spaces and commas`,
  };
}

/** The normal form of a tag; `null`: it cannot be purged. */
export function tagOf(text: string): string | null {
  if (text.length === 0 || text.length > MAX_TAG_CHARACTERS) return null;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code <= 32 || code > 126 || code === 44) return null;
  }
  return text.toLowerCase();
}

/** The host of an absolute `http` or `https` URL without controls and spaces; `null`: any other text. */
export function urlHost(text: string): string | null {
  const rest = withoutScheme(text);
  if (rest === null || /[\0-\x20\x7f]/.test(rest)) return null;
  const host = { host: '', port: -1, literal: false };
  const end = endOfAuthority(rest);
  if (rest[end] !== '/' || !parseHost(rest.slice(0, end), host) || host.literal) return null;
  return host.host;
}

/** The host of a URL or prefix in its normal form. */
export function purgeHost(value: string): string {
  return value.slice(0, value.indexOf('/'));
}

/** What URLs of one response have in common. */
export interface PurgeLocation {
  /** Host and canonical path. */
  readonly path: string;
  /** With the query. Paths have no line break, so a path that contains `?` differs from one with a query. */
  readonly whole: string;
}

/** The location of a URL without scheme (`host/path?query`), for comparisons: all spellings of a path have the same. */
export function purgeLocation(text: string): PurgeLocation {
  const slash = text.indexOf('/');
  const target = createTargetFacts();
  if (slash < 0 || parseTarget(text.slice(slash), target) !== 0) return { path: text, whole: text };
  const path = text.slice(0, slash) + target.path;
  return { path, whole: target.query === null ? path : `${path}\n${target.encodedQuery}` };
}

function withoutScheme(text: string): string | null {
  const head = text.slice(0, 8).toLowerCase();
  if (head === 'https://') return text.slice(8);
  return head.startsWith('http://') ? text.slice(7) : null;
}

/** Reads `host[:port][/path][?query]`. */
function readLocation(text: string, form: string): ReadPurgeValue {
  const end = endOfAuthority(text);
  const host = { host: '', port: -1, literal: false };
  const authority = text.slice(0, end);
  if (authority.includes('@') || !parseHost(authority, host) || host.literal) return { mistake: form };
  const target = createTargetFacts();
  const rest = text.slice(end);
  const sent = rest.startsWith('/') ? rest : `/${rest}`;
  const status = parseTarget(sent, target);
  if (status === 414) return { mistake: 'is longer than any request' };
  if (status !== 0) return { mistake: targetMistake(sent) ?? form };
  const query = target.encodedQuery === null ? '' : `?${target.encodedQuery}`;
  return { value: `${host.host}${target.forwarded}${query}` };
}

function endOfAuthority(text: string): number {
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '/' || character === '?' || character === '#') return at;
  }
  return text.length;
}
