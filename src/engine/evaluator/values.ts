/**
 * The values that conditions read (semantics §12): lines of headers, occurrences of query parameters and cookies, and facts as
 * texts. In: the request. Out: the values of one source, read once a request and only if a test asks; memory of the request
 * before is used again. Query and cookies are split in one pass for all sources of the plan.
 */
import { decodeEscapes, lowerAscii, utf8Length } from '../../base/octets/octets.ts';
import { MAX_VALUE_OCTETS } from '../../base/vocabulary/limits.ts';
import { BOT_KINDS } from '../../base/vocabulary/vocabulary.ts';
import type { SourceKind } from '../plan/layout.ts';
import { botOf, type Facts, OTHER_BOT } from './facts.ts';
import type { LoadedSource, LoadedSources } from './loaded-conditions.ts';

/** Reads the values of a source, unless they are those of the current request. */
export function readSource(source: LoadedSource, facts: Facts): void {
  if (source.round === facts.round) return;
  if (source.kind === 'query') querySources(source.family, facts);
  else if (source.kind === 'cookie') cookieSources(source.family, facts);
  // A parameter or a cookie that was found is of this request now.
  if (source.round === facts.round) return;
  begin(source, facts.round);
  if (source.kind === 'header') addLines(source, source.name, facts);
  else {
    const text = factText(source.kind, facts);
    if (text !== null) addValue(source, text);
  }
}

/** Starts the values of a request. */
function begin(source: LoadedSource, round: number): void {
  source.round = round;
  source.count = 0;
  source.hasCut = false;
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
    case 'asn':
      return facts.asn > 0 ? String(facts.asn) : null;
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
function headerValue(family: LoadedSources, { request, round }: Facts, name: string): unknown {
  const headers: unknown = request.headers;
  if (typeof headers !== 'object' || headers === null) return undefined;
  const fields = headers as Record<string, unknown>;
  const value = fields[name];
  // PERF: a text is of the object itself; what objects inherit are functions.
  if (typeof value === 'string' || (value !== undefined && Object.hasOwn(fields, name))) return value;
  if (family.headerRound !== round) {
    family.headerRound = round;
    family.hasUpper = hasUpper(fields);
  }
  if (!family.hasUpper) return undefined;
  let found: unknown;
  for (const key in fields)
    if (key.length === name.length && key.toLowerCase() === name && Object.hasOwn(fields, key))
      found = fields[key];
  return found;
}

/**
 * Whether a name is not in lower case.
 * PERF: computed once a request, so that each further absent header costs one search.
 */
function hasUpper(fields: Readonly<Record<string, unknown>>): boolean {
  for (const key in fields) if (key !== key.toLowerCase()) return true;
  return false;
}

/** Adds each line of a header, without the blanks around it. */
function addLines(source: LoadedSource, name: string, facts: Facts): void {
  const value = headerValue(source.family, facts, name);
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

/** The sources of the query parameters that the request has: `+` is a blank, names and values are decoded once. */
export function querySources(family: LoadedSources, facts: Facts): readonly LoadedSource[] {
  const { found } = family.query;
  if (family.query.round === facts.round) return found;
  family.query.round = facts.round;
  found.length = 0;
  const names = family.byName.query;
  const { query } = facts;
  if (query === null) return found;
  let equals = query.indexOf('=');
  for (let at = 0; at <= query.length; ) {
    let end = query.indexOf('&', at);
    if (end < 0) end = query.length;
    // PERF: searched once for each `=`, so that parts without one cost no search to the end of the query.
    if (equals >= 0 && equals < at) equals = query.indexOf('=', at);
    const nameEnd = equals < 0 ? end : Math.min(equals, end);
    const source = names.get(decodeQueryPart(query.slice(at, nameEnd)));
    if (source !== undefined) {
      enter(source, found, facts.round);
      addText(source, decodeQueryPart(query.slice(Math.min(nameEnd + 1, end), end)));
    }
    at = end + 1;
  }
  return found;
}

/** Begins the values of a source at its first one, and lists it. */
function enter(source: LoadedSource, found: LoadedSource[], round: number): void {
  if (source.round === round) return;
  begin(source, round);
  found.push(source);
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

/** The sources of the cookies that the request has (RFC 6265 §5.4). */
export function cookieSources(family: LoadedSources, facts: Facts): readonly LoadedSource[] {
  const { found } = family.cookies;
  if (family.cookies.round === facts.round) return found;
  family.cookies.round = facts.round;
  found.length = 0;
  const value = headerValue(family, facts, 'cookie');
  const lines: readonly unknown[] = Array.isArray(value) ? value : [value];
  for (const line of lines) if (typeof line === 'string') splitCookie(line, family, facts.round);
  return found;
}

function splitCookie(line: string, { byName, cookies }: LoadedSources, round: number): void {
  let equals = line.indexOf('=');
  // A part without `=` is no cookie.
  for (let at = 0; at < line.length && equals >= 0; ) {
    let end = line.indexOf(';', at);
    if (end < 0) end = line.length;
    if (equals < at) equals = line.indexOf('=', at);
    if (equals >= 0 && equals < end) {
      const source = byName.cookie.get(trimmed(line.slice(at, equals)));
      if (source !== undefined) {
        enter(source, cookies.found, round);
        addOctets(source, trimmed(line.slice(equals + 1, end)));
      }
    }
    at = end + 1;
  }
}
