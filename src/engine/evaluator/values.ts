/**
 * The values that conditions read (semantics §12): lines of headers, occurrences of query parameters and cookies, and facts as
 * texts. In: the request. Out: the values of one source, read once a request and only if a test asks; memory of the request
 * before is used again. Query and cookies are split in one pass for all sources of the plan.
 */
import { decodeEscapes, lowerAscii, utf8Length } from '../../base/octets/octets.ts';
import { MAX_ASN, MAX_VALUE_OCTETS } from '../../base/vocabulary/limits.ts';
import { BOT_KINDS } from '../../base/vocabulary/vocabulary.ts';
import type { SourceKind } from '../plan/layout.ts';
import { botOf, type Facts, OTHER_BOT } from './facts.ts';
import type { LoadedSource, LoadedSources } from './loaded-conditions.ts';

/** Reads the values of a source, unless they are those of the current request. */
export function readSource(source: LoadedSource, facts: Facts): void {
  if (source.round === facts.round) return;
  source.round = facts.round;
  source.count = 0;
  source.hasCut = false;
  switch (source.kind) {
    case 'header':
      addLines(source, source.name, facts);
      return;
    case 'query':
      splitQuery(source.family, facts);
      return;
    case 'cookie':
      splitCookies(source.family, facts);
      return;
    default: {
      const text = factText(source.kind, facts);
      if (text !== null) addValue(source, text);
    }
  }
}

/** Value `index` with ASCII letters in lower case. */
export function foldedOf(source: LoadedSource, index: number): string {
  const { folded, texts } = source;
  if (source.foldedRound !== source.round) {
    source.foldedRound = source.round;
    for (let at = 0; at < source.count; at++) folded[at] = lowerAscii(texts[at]!);
  }
  return folded[index]!;
}

/** Whether value `index` goes on after the octets that were read. */
export function isCut({ hasCut, cut }: LoadedSource, index: number): boolean {
  return hasCut && cut[index]!;
}

function addValue(source: LoadedSource, text: string): void {
  if (source.hasCut) source.cut[source.count] = false;
  source.texts[source.count++] = text;
}

/** Adds the start of a value that goes on. */
function addCut(source: LoadedSource, text: string): void {
  if (!source.hasCut) {
    source.hasCut = true;
    source.cut.fill(false);
    for (let at = source.cut.length; at < source.count; at++) source.cut[at] = false;
  }
  source.cut[source.count] = true;
  source.texts[source.count++] = text;
}

/** Adds a value of which a character is an octet. */
function addOctets(source: LoadedSource, text: string): void {
  if (text.length > MAX_VALUE_OCTETS) addCut(source, text.slice(0, MAX_VALUE_OCTETS));
  else addValue(source, text);
}

/** A fact that is one text; `null`: it is unknown. */
function factText(kind: SourceKind, facts: Facts): string | null {
  const { request } = facts;
  switch (kind) {
    case 'method':
      return typeof request.method === 'string' ? request.method : null;
    case 'scheme':
      return facts.https ? 'https' : 'http';
    case 'country':
      return facts.country < 0
        ? null
        : String.fromCharCode(65 + Math.floor(facts.country / 26), 65 + (facts.country % 26));
    case 'asn': {
      const { asn } = request;
      return typeof asn === 'number' && Number.isInteger(asn) && asn >= 1 && asn <= MAX_ASN
        ? String(asn)
        : null;
    }
    case 'bot':
      return botName(facts);
    case 'verified':
      return botOf(facts) >= 0 && facts.botVerified ? 'true' : null;
    case 'ja4':
      return facts.ja4;
    default:
      return null;
  }
}

/** The kind of the request's bot. Kinds beyond the named ones are in no list, and still those of a bot. */
function botName(facts: Facts): string | null {
  const kind = botOf(facts);
  if (kind < 0) return null;
  return kind === OTHER_BOT ? '' : BOT_KINDS[kind]!;
}

/** The value of a header; names are lower case by contract, and compared without case if that one is absent. */
function headerValue({ request }: Facts, name: string): unknown {
  const headers: unknown = request.headers;
  if (typeof headers !== 'object' || headers === null) return undefined;
  const fields = headers as Record<string, unknown>;
  const value = fields[name];
  // PERF: a text is of the object itself; what objects inherit are functions.
  if (typeof value === 'string' || (value !== undefined && Object.hasOwn(fields, name))) return value;
  let found: unknown;
  for (const key in fields)
    if (key.length === name.length && key.toLowerCase() === name && Object.hasOwn(fields, key))
      found = fields[key];
  return found;
}

/** Adds each line of a header, without the blanks around it. */
function addLines(source: LoadedSource, name: string, facts: Facts): void {
  const value = headerValue(facts, name);
  if (typeof value === 'string') addOctets(source, trimmed(value));
  else if (Array.isArray(value)) {
    for (const line of value as readonly unknown[])
      if (typeof line === 'string') addOctets(source, trimmed(line));
  }
}

/** The text without SP and HTAB at its ends (RFC 9110 §5.5). */
function trimmed(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && isBlank(text.charCodeAt(from))) from++;
  while (to > from && isBlank(text.charCodeAt(to - 1))) to--;
  return to - from === text.length ? text : text.slice(from, to);
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9;
}

/** Starts the values of all sources of a kind that are not of the current request. */
function resetAll(sources: Iterable<LoadedSource>, round: number): void {
  for (const source of sources) {
    source.round = round;
    source.count = 0;
    source.hasCut = false;
  }
}

/** Reads all query parameters that the plan asks for: `+` is a blank, names and values are decoded once. */
function splitQuery(family: LoadedSources, facts: Facts): void {
  if (family.queryRound === facts.round) return;
  family.queryRound = facts.round;
  const names = family.byName.query;
  resetAll(names.values(), facts.round);
  const { query } = facts;
  if (query === null) return;
  for (let at = 0; at <= query.length; ) {
    let end = query.indexOf('&', at);
    if (end < 0) end = query.length;
    let equals = query.indexOf('=', at);
    if (equals < 0 || equals > end) equals = end;
    const source = names.get(decodeQueryPart(query.slice(at, equals)));
    if (source !== undefined) addText(source, decodeQueryPart(query.slice(Math.min(equals + 1, end), end)));
    at = end + 1;
  }
}

/** A name or value of a query parameter: `+` is a blank, and escapes are decoded once. */
export function decodeQueryPart(text: string): string {
  return decodeEscapes(text.includes('+') ? text.replaceAll('+', ' ') : text);
}

/** Adds a value of characters, of which so many are read as whole ones fit. */
function addText(source: LoadedSource, text: string): void {
  // A UTF-16 unit has three octets at most.
  const cut = text.length * 3 > MAX_VALUE_OCTETS && utf8Length(text) > MAX_VALUE_OCTETS;
  if (cut) addCut(source, firstOctets(text));
  else addValue(source, text);
}

/** The characters whose UTF-8 forms lie in the octets that are read. */
function firstOctets(text: string): string {
  let octets = 0;
  let at = 0;
  for (const character of text) {
    octets += utf8Length(character);
    if (octets > MAX_VALUE_OCTETS) break;
    at += character.length;
  }
  return text.slice(0, at);
}

/** Reads all cookies that the plan asks for (RFC 6265 §5.4). */
function splitCookies(family: LoadedSources, facts: Facts): void {
  if (family.cookieRound === facts.round) return;
  family.cookieRound = facts.round;
  const names = family.byName.cookie;
  resetAll(names.values(), facts.round);
  const value = headerValue(facts, 'cookie');
  const lines: readonly unknown[] = Array.isArray(value) ? value : [value];
  for (const line of lines) if (typeof line === 'string') splitCookie(line, names);
}

function splitCookie(line: string, names: ReadonlyMap<string, LoadedSource>): void {
  for (let at = 0; at < line.length; ) {
    let end = line.indexOf(';', at);
    if (end < 0) end = line.length;
    const equals = line.indexOf('=', at);
    if (equals >= 0 && equals < end) {
      const source = names.get(trimmed(line.slice(at, equals)));
      if (source !== undefined) addOctets(source, trimmed(line.slice(equals + 1, end)));
    }
    at = end + 1;
  }
}
