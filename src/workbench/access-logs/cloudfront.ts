/**
 * Reads standard logs of CloudFront: tab-separated columns that a line `#Fields:` names, or JSON with the same names (of
 * version 2).
 */
import { BLANK, entryOf, type LineReader, NO_REQUEST, type ReaderContext, unreadable } from './entry.ts';
import { unescapePercents } from './escapes.ts';
import { type JsonFields, jsonReader, statusOf, textOf } from './json-line.ts';
import { timeOf } from './times.ts';

const FIELDS = '#Fields:';

/** The columns of version 1, for a part of a log without its head. */
const COLUMNS =
  'date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query ' +
  'cs(Cookie) x-edge-result-type x-edge-request-id x-host-header cs-protocol cs-bytes time-taken x-forwarded-for ssl-protocol ' +
  'ssl-cipher x-edge-response-result-type cs-protocol-version fle-status fle-encrypted-fields c-port time-to-first-byte ' +
  'x-edge-detailed-result-type sc-content-type sc-content-len sc-range-start sc-range-end';

/** Columns without which a line is no request. */
const NEEDED = ['cs-method', 'cs-uri-stem'] as const;

/** A column of the current line; empty when absent or `-`. */
type Column = (name: string) => string;

/** Creates the reader of one log. */
export function cloudfrontReader(context: ReaderContext): LineReader {
  let places = placesOf(COLUMNS);
  const readJson = jsonReader((fields) => read((name) => textOf(fields[name]), context));
  return (line) => {
    if (line === '') return BLANK;
    if (line.startsWith('#')) {
      if (line.startsWith(FIELDS)) places = placesOf(line.slice(FIELDS.length));
      return BLANK;
    }
    if (line.startsWith('{')) return readJson(line);
    const cells = line.split('\t');
    if (cells.length < places.size) {
      return unreadable(`the line has ${cells.length} columns of ${places.size}; a write was cut short`);
    }
    return read((name) => textOf(cells[places.get(name) ?? -1]), context);
  };
}

/** The columns by name. */
function placesOf(names: string): ReadonlyMap<string, number> {
  return new Map(
    names
      .trim()
      .split(/\s+/)
      .map((name, place) => [name, place] as const),
  );
}

function read(column: Column, context: ReaderContext): ReturnType<LineReader> {
  const [method, stem] = NEEDED.map(column) as [string, string];
  if (method === '' && stem === '') return NO_REQUEST;
  if (method === '' || stem === '')
    return unreadable(`there is no ${NEEDED.map((name) => `\`${name}\``).join(' or no ')}`);
  const query = column('cs-uri-query');
  return entryOf(
    {
      method,
      target: query === '' ? stem : `${stem}?${query}`,
      protocol: column('cs-protocol-version'),
      // `cs(Host)` is the name of the distribution.
      host: column('x-host-header') || column('cs(Host)'),
      scheme: column('cs-protocol').replace(/^ws/, 'http'),
      ip: column('c-ip'),
      country: column('c-country'),
      ja4: '',
      headers: headersIn(column),
      whole: false,
      verified: false,
      time: timeIn(column),
      status: statusOf(column('sc-status')),
    },
    context,
  );
}

/** UTC, in seconds; version 2 may have milliseconds. */
function timeIn(column: Column): number {
  const precise = column('timestamp(ms)');
  return precise === '' ? timeOf(`${column('date')}T${column('time')}Z`) : timeOf(precise);
}

function headersIn(column: Column): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, from] of HEADERS) {
    const value = column(from);
    if (value !== '') headers[name] = unescapePercents(value);
  }
  return headers;
}

const HEADERS = [
  ['user-agent', 'cs(User-Agent)'],
  ['referer', 'cs(Referer)'],
  ['cookie', 'cs(Cookie)'],
] as const;

/** Whether an object looks like a line of version 2. */
export function isCloudfrontJson(fields: JsonFields): boolean {
  return NEEDED.every((name) => name in fields);
}

/** Whether a line looks like one of version 1 or its head. */
export function isCloudfront(line: string): boolean {
  return (
    line.startsWith(FIELDS) || line.startsWith('#Version:') || /^\d{4}-\d\d-\d\d\t\d\d:\d\d:\d\d\t/.test(line)
  );
}
