/**
 * Reads BIND master files (RFC 1035 §5, RFC 2308 §4 `$TTL`) into records of the model. In: the text and its domain. Out:
 * every record that the model can have, and a diagnostic with its line for everything else. Never throws. TTLs are
 * checked and dropped, since records of the model have none. The SOA record and the NS records of the apex are skipped,
 * since the service that serves the zone generates its own.
 */
import { type Diagnostic, quoteValue } from '../../../base/diagnostics/diagnostic.ts';
import type { Severity } from '../../../base/diagnostics/severity.ts';
import { MAX_DIAGNOSTICS, MAX_RECORDS } from '../../../base/vocabulary/limits.ts';
import { isZoneType, recordKind, ZONE_TYPES, type ZoneType } from '../../../base/vocabulary/record-types.ts';
import { absoluteName, judgeRecordName } from '../../../rules/model/record-name.ts';
import type { Problem } from '../../../rules/model/report.ts';
import type { DnsRecord } from '../../../rules/model/types.ts';
import { MAX_TTL_SEC } from '../message.ts';
import { readData, readName } from './rdata.ts';
import { lex, type Spot, type Token, type ZoneEntry } from './tokens.ts';

/**
 * Maximum length, in characters, of a zone file: 10,000 records at a generous 400 characters each. Longer ones are
 * refused unread.
 */
const MAX_ZONE_CHARACTERS = 4_194_304;

/** The fields of a record that a zone file has. */
export type ZoneRecord = Pick<DnsRecord, 'name' | 'type' | 'destination' | 'mx_priority' | 'proxied'>;

/** A record and the line it starts on, counted from 1. */
export interface ParsedRecord extends ZoneRecord {
  readonly line: number;
}

export interface ParsedZone {
  readonly records: readonly ParsedRecord[];
  /** In the order of their lines; `error` and `warning` mark lines that were not imported. */
  readonly diagnostics: readonly Diagnostic[];
  /** Lines that were not imported, with or without a diagnostic. */
  readonly skipped: number;
  /** Of those, lines without which nothing is lost: NS records of the apex, and repeated records. */
  readonly needless: number;
}

export interface ParseZoneOptions {
  /** The file's name in diagnostics. Default: `zone`. */
  readonly file?: string;
}

/** The comment behind a proxied record in a printed zone, which reads back as `proxied`. */
export const PROXIED_MARK = 'edgeplan: proxied';

/** The state of one parse. */
interface Parser {
  readonly domain: string;
  readonly file: string;
  readonly records: ParsedRecord[];
  readonly diagnostics: Diagnostic[];
  /** Keys of the records so far, to detect duplicates; `full` once the record limit was reported. */
  readonly seen: Set<string>;
  /** Diagnostics beyond `MAX_DIAGNOSTICS`. */
  dropped: number;
  skipped: number;
  needless: number;
  /** Absolute, without a trailing dot; empty is the root. */
  origin: string;
  /** The owner of the last record: `null` before the first, and after one that could not be read. */
  owner: string | null;
  /** The note about TTLs was reported once. */
  ttlReported: boolean;
}

/** Reads a zone file for `domain` (canonical). Names are stored relative to the domain, `@` for the apex. */
export function parseZone(text: string, domain: string, options: ParseZoneOptions = {}): ParsedZone {
  const parser: Parser = {
    domain,
    file: options.file ?? 'zone',
    records: [],
    diagnostics: [],
    seen: new Set(),
    dropped: 0,
    skipped: 0,
    needless: 0,
    origin: domain,
    owner: null,
    ttlReported: false,
  };
  if (text.length > MAX_ZONE_CHARACTERS) {
    const message = `must be at most ${MAX_ZONE_CHARACTERS} characters`;
    report(parser, START, 'error', { code: 'too_long', message, found: `${text.length} characters` });
    return { records: [], diagnostics: parser.diagnostics, skipped: parser.skipped, needless: 0 };
  }
  const { entries, problems } = lex(text);
  for (const { at, code, message } of problems) report(parser, at, 'error', { code, message });
  for (const entry of entries) readEntry(parser, entry);
  const diagnostics = parser.diagnostics.sort((left, right) => left.at!.line - right.at!.line);
  if (parser.dropped > 0) {
    const message = `there are more mistakes; only the first ${MAX_DIAGNOSTICS} are shown`;
    diagnostics.push({ code: 'too_many_mistakes', severity: 'info', path: [], message });
  }
  return { records: parser.records, diagnostics, skipped: parser.skipped, needless: parser.needless };
}

/** The place of a diagnostic about the whole file. */
const START: Spot = { line: 1, column: 1 };

/** Adds a diagnostic; beyond `MAX_DIAGNOSTICS` it is only counted. */
function report(parser: Parser, at: Spot, severity: Severity, problem: Problem): void {
  if (severity !== 'info') parser.skipped++;
  if (parser.diagnostics.length >= MAX_DIAGNOSTICS) {
    parser.dropped++;
    return;
  }
  const { code, message, found, remedy } = problem;
  parser.diagnostics.push({
    code,
    severity,
    path: [],
    message,
    ...(typeof found === 'string' ? { found } : {}),
    ...(remedy === undefined ? {} : { remedy }),
    at: { file: parser.file, ...at },
  });
}

/** Reads one logical line: a directive or a record. */
function readEntry(parser: Parser, entry: ZoneEntry): void {
  const [first] = entry.tokens;
  if (first === undefined) return;
  if (!first.quoted && first.raw.startsWith('$') && !entry.ownerless) readDirective(parser, first, entry);
  else readRecord(parser, first, entry);
}

/** Applies `$ORIGIN` or checks `$TTL`; other directives are reported. */
function readDirective(parser: Parser, first: Token, entry: ZoneEntry): void {
  const [, value, ...more] = entry.tokens;
  const name = first.raw.toUpperCase();
  if (name !== '$ORIGIN' && name !== '$TTL') {
    const message = 'only `$ORIGIN` and `$TTL` are understood';
    const remedy = name === '$INCLUDE' ? 'put the text of the included file here' : 'write the records out';
    report(parser, first.at, 'error', {
      code: 'unsupported_directive',
      message,
      found: quote(first),
      remedy,
    });
    return;
  }
  if (value === undefined || more.length > 0) {
    const message = `\`${name}\` takes one value`;
    report(parser, first.at, 'error', { code: 'invalid_directive', message });
  } else if (name === '$TTL') {
    if (readTtl(value.raw) === null) badTtl(parser, value);
    else reportTtl(parser, value);
  } else {
    const origin = readName(value, parser.origin);
    if (typeof origin === 'string') parser.origin = origin === '.' ? '' : origin;
    else report(parser, value.at, 'error', { ...origin, message: `\`$ORIGIN\` ${origin.message}` });
  }
}

/** The token in backticks, for `found` of a diagnostic. */
function quote(token: Token): string {
  return quoteValue(token.raw);
}

/** Seconds, in digits or in BIND's units (`1h30m`); `null`: no TTL. */
function readTtl(raw: string): number | null {
  if (/^[0-9]{1,10}$/.test(raw)) return Number(raw) <= MAX_TTL_SEC ? Number(raw) : null;
  if (!/^(?:[0-9]{1,10}[smhdw])+$/i.test(raw)) return null;
  let seconds = 0;
  for (const [, digits, unit] of raw.matchAll(/([0-9]+)([a-z])/gi)) {
    seconds += Number(digits) * UNITS[unit!.toLowerCase() as keyof typeof UNITS];
  }
  return seconds <= MAX_TTL_SEC ? seconds : null;
}

/** BIND's units in seconds. */
const UNITS = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 } as const;

/** Reports an invalid TTL. */
function badTtl(parser: Parser, token: Token): void {
  const message = `must be a time from 0 to ${MAX_TTL_SEC} seconds, like \`300\` or \`1h30m\``;
  report(parser, token.at, 'error', { code: 'invalid_ttl', message, found: quote(token) });
}

/** Reports once for each file that TTLs are not imported. */
function reportTtl(parser: Parser, token: Token): void {
  if (parser.ttlReported) return;
  parser.ttlReported = true;
  const message = 'TTLs are not imported; records have the TTL that the service sets';
  report(parser, token.at, 'info', { code: 'ttl_dropped', message });
}

/**
 * Reads one record: owner, TTL, class, type and data. The first mistake is reported and skips the record. The comment
 * `PROXIED_MARK` behind it makes an address or CNAME record proxied.
 */
function readRecord(parser: Parser, first: Token, entry: ZoneEntry): void {
  const owner = readOwner(parser, first, entry);
  if (owner === null) return;
  const start = entry.ownerless ? 0 : 1;
  const head = readHead(parser, entry.tokens, start);
  if (head === null) return;
  const { type, data } = head;
  const place = entry.tokens[0]!.at;
  const absolute = owner === '' ? '.' : owner;
  if (absolute !== parser.domain && !absolute.endsWith(`.${parser.domain}`)) {
    const message = `the name must be \`${parser.domain}\` or below it`;
    report(parser, place, 'error', { code: 'outside_zone', message, found: quoteValue(absolute) });
    return;
  }
  if (!judgeType(parser, type, absolute)) return;
  const typeName = type.raw.toUpperCase() as ZoneType;
  const read = readData(typeName, data, parser.origin);
  if (!('destination' in read)) {
    report(parser, (data[0] ?? type).at, 'error', read);
    return;
  }
  const proxied = entry.comment === PROXIED_MARK && recordKind(typeName).proxiable === true;
  const name = storedName(absolute, parser.domain);
  addRecord(parser, { name, type: typeName, ...read, proxied, line: place.line }, place);
}

/** The absolute owner of a record; the root is an empty text. `null`: invalid and reported. */
function readOwner(parser: Parser, first: Token, entry: ZoneEntry): string | null {
  if (entry.ownerless) {
    if (parser.owner !== null) return parser.owner;
    const message = 'the line starts with white space, so it needs a record with a valid name before it';
    report(parser, first.at, 'error', { code: 'missing_name', message });
    return null;
  }
  const name = readName(first, parser.origin);
  parser.owner = null;
  if (typeof name !== 'string') {
    report(parser, first.at, 'error', { ...name, message: `a record ${name.message}` });
    return null;
  }
  const problem = name === '.' ? null : judgeRecordName(`${name}.`, parser.domain);
  if (problem !== null && (name === parser.domain || name.endsWith(`.${parser.domain}`))) {
    report(parser, first.at, 'error', {
      ...problem,
      message: `the name ${problem.message}`,
      found: quote(first),
    });
    return null;
  }
  parser.owner = name === '.' ? '' : name;
  return parser.owner;
}

/** Reads TTL and class in either order, then the type (RFC 1035 §5.1). `null`: invalid and reported. */
function readHead(
  parser: Parser,
  tokens: readonly Token[],
  start: number,
): { readonly type: Token; readonly data: readonly Token[] } | null {
  let at = start;
  let ttl = false;
  let named = false;
  for (; at < tokens.length; at++) {
    const token = tokens[at]!;
    if (!ttl && /^[0-9]/.test(token.raw)) {
      if (readTtl(token.raw) === null) {
        badTtl(parser, token);
        return null;
      }
      reportTtl(parser, token);
      ttl = true;
    } else if (!named && /^(?:IN|CH|HS|CS|ANY)$/i.test(token.raw)) {
      if (token.raw.toUpperCase() !== 'IN') {
        const message = 'only class `IN` is served';
        report(parser, token.at, 'error', { code: 'unsupported_class', message, found: quote(token) });
        return null;
      }
      named = true;
    } else break;
  }
  const type = tokens[at];
  if (type !== undefined) return { type, data: tokens.slice(at + 1) };
  const last = tokens[tokens.length - 1]!;
  report(parser, last.at, 'error', { code: 'missing_type', message: 'the record has no type' });
  return null;
}

/** Whether a record of this type is imported; reports why not. */
function judgeType(parser: Parser, type: Token, owner: string): boolean {
  const name = type.raw.toUpperCase();
  if (name === 'SOA') {
    const message = 'the SOA record is not imported; the service makes its own';
    report(parser, type.at, 'info', { code: 'soa_skipped', message });
    return false;
  }
  if (name === 'NS' && owner === parser.domain) {
    const message = 'NS records of the domain itself are not imported; the delegation decides them';
    parser.needless++;
    report(parser, type.at, 'warning', { code: 'apex_ns_skipped', message });
    return false;
  }
  if (isZoneType(name)) return true;
  const message = `the type must be one of ${ZONE_TYPES.join(', ')}`;
  report(parser, type.at, 'warning', { code: 'unsupported_type', message, found: quote(type) });
  return false;
}

/** Adds a record, unless it is a duplicate or exceeds `MAX_RECORDS`. */
function addRecord(parser: Parser, record: ParsedRecord, at: Spot): void {
  const { name, type, destination, mx_priority } = record;
  const key = JSON.stringify([name, type, destination, mx_priority]);
  if (parser.seen.has(key)) {
    const message = 'duplicates an earlier record; it is imported once';
    parser.needless++;
    report(parser, at, 'warning', { code: 'duplicate_record', message });
  } else if (parser.records.length >= MAX_RECORDS) {
    if (parser.records.length === MAX_RECORDS && !parser.seen.has('full')) {
      parser.seen.add('full');
      const message = `a domain holds at most ${MAX_RECORDS} records; the rest is left out`;
      report(parser, at, 'error', { code: 'too_many_records', message });
    }
  } else {
    parser.seen.add(key);
    parser.records.push(record);
    hintMissingDot(parser, record, at);
  }
}

/** Notes a name that has the domain twice, as one without a dot at its end has (`example.com` below `example.com.`). */
function hintMissingDot(parser: Parser, { name, type, destination }: ParsedRecord, at: Spot): void {
  const { domain } = parser;
  const absolute = absoluteName(name, domain) ?? name;
  const place = recordKind(type).nameAt;
  const named = place === undefined ? undefined : destination.split(' ').at(place);
  const names = named === undefined ? [absolute] : [absolute, named];
  for (const one of names) {
    const full = one.toLowerCase().replace(/\.$/, '');
    const written = full.slice(0, -domain.length - 1);
    if (!full.endsWith(`.${domain}`) || !`.${written}.`.includes(`.${domain}.`)) continue;
    const message = `the name is read as \`${full}\`, since it has no dot at its end`;
    report(parser, at, 'info', {
      code: 'missing_dot',
      message,
      remedy: `write \`${written}.\` if that is meant`,
    });
  }
}

/** An absolute name inside a domain in the form that is stored: relative if that reads back as the same name. */
export function storedName(absolute: string, domain: string): string {
  if (absolute === domain) return '@';
  const relative = absolute.slice(0, -domain.length - 1);
  return absoluteName(relative, domain) === absolute ? relative : absolute;
}
