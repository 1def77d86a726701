/** The formats of logs, how each is read, and how the format of a log is detected from its first lines. */
import { isObject } from '../../base/text/json-object.ts';
import { cloudfrontSource, haproxySource } from './answer-source.ts';
import {
  BLANK,
  entryOf,
  type LineReader,
  NO_REQUEST,
  type ReaderContext,
  splitRequest,
  unreadable,
} from './entry.ts';
import {
  caddyReader,
  cloudflareReader,
  isCaddy,
  isCloudflare,
  isNginxJson,
  isTraefik,
  type JsonFields,
  jsonReader,
  nginxJsonReader,
  statusOf,
  textOf,
  traefikReader,
} from './json-logs.ts';
import { createClfTime, timeOf, unescapeHashes, unescapePercents } from './log-values.ts';
import {
  albReader,
  combinedReader,
  envoyReader,
  isAlb,
  isCombined,
  isEnvoy,
  isProxyManager,
  proxyManagerReader,
} from './text-logs.ts';

/** Lines from which the format of a log is detected. */
const DETECTED_LINES = 32;

// Reads HAProxy's HTTP log (`option httplog`), with or without the head that syslog adds:
//
// 203.0.113.7:33317 [06/Feb/2009:12:14:14.655] shop~ app/one 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {host|agent} {} "GET / HTTP/1.1"

/** Words from the frontend to the queues: frontend, server, timers, status, octets, two cookies, state, counts, queues. */
const WORDS = 10;
/** The place of the termination state among them. */
const STATE = 7;

/** Creates the reader of one log. */
function haproxyReader(context: ReaderContext): LineReader {
  const readTime = createClfTime();
  return (line) => {
    if (line === '') return BLANK;
    const open = line.indexOf(' [', 0);
    const place = bracketOf(line, open);
    if (place === null) return unreadable('there is no time in brackets such as [06/Feb/2009:12:14:14.655]');
    const time = readTime(line.slice(place.open + 2, place.close));
    if (Number.isNaN(time)) return unreadable('the time is not like 06/Feb/2009:12:14:14.655');
    const quote = line.indexOf('"', place.close);
    const words = line.slice(place.close + 2, quote < 0 ? line.length : quote).split(' ', WORDS);
    // A connection that failed has a message in place of the fields.
    if (words[0]!.endsWith(':')) return NO_REQUEST;
    if (quote < 0) return unreadable('there is no quoted request; write the log with `option httplog`');
    const end = line.lastIndexOf('"');
    if (words.length < WORDS || end === quote) return unreadable('the line is cut short');
    const request = splitRequest(unescapeHashes(line.slice(quote + 1, end)));
    if (request === null) return NO_REQUEST;
    const { host, headers } = capturedIn(line.slice(place.close, quote), context.captures);
    return entryOf(
      {
        // PERF: a spread would take longer than all else a line needs.
        method: request.method,
        target: request.target,
        protocol: request.protocol,
        host,
        scheme: words[0]!.endsWith('~') ? 'https' : '',
        ip: addressOf(line.slice(line.lastIndexOf(' ', place.open - 1) + 1, place.open)),
        country: '',
        asn: '',
        ja4: '',
        headers,
        whole: false,
        verified: false,
        time,
        status: Number(words[3]) > 0 ? Number(words[3]) : 0,
        source: haproxySource(words[1]!, words[STATE]!),
        location: '',
      },
      context,
    );
  };
}

/** The time of a line: the first bracket that a digit follows and that ends before a space. */
function bracketOf(line: string, first: number): { readonly open: number; readonly close: number } | null {
  for (let open = first; open >= 0; open = line.indexOf(' [', open + 1)) {
    const close = line.indexOf(']', open);
    if (close > open && line[open + 4] === '/' && line[close + 1] === ' ') return { open, close };
  }
  return null;
}

/** `203.0.113.7` of `203.0.113.7:33317`, also in IPv6; a Unix socket has no address. */
function addressOf(text: string): string {
  if (text.startsWith('unix:')) return '';
  const address = text.slice(0, text.lastIndexOf(':')).replace(/^\[|\]$/g, '');
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}

/** Captured headers; the host is a fact of its own. */
interface Captured {
  readonly host: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Captured request headers, `{one|two}`, by the given names. Those of the response, in further braces, are left out. */
function capturedIn(head: string, names: readonly string[]): Captured {
  const headers: Record<string, string> = {};
  const open = head.indexOf(' {');
  const close = open < 0 ? -1 : head.indexOf('} ', open);
  if (close < 0 || names.length === 0) return { host: '', headers };
  let host = '';
  for (const [place, value] of head
    .slice(open + 2, close)
    .split('|')
    .entries()) {
    const name = names[place];
    if (name === undefined || value === '') continue;
    if (name === 'host') host = unescapeHashes(value);
    else headers[name] = unescapeHashes(value);
  }
  return { host, headers };
}

/** Whether a line looks like one of this format. */
function isHaproxy(line: string): boolean {
  const place = bracketOf(line, line.indexOf(' ['));
  if (place === null || line[place.close + 2] === '"') return false;
  return (
    line.includes(':') && /^\S+:\d+$/.test(line.slice(line.lastIndexOf(' ', place.open - 1) + 1, place.open))
  );
}

// Reads standard logs of CloudFront: tab-separated columns that a line `#Fields:` names, or JSON with the same names (of
// version 2).

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
function cloudfrontReader(context: ReaderContext): LineReader {
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
      asn: column('asn'),
      ja4: '',
      headers: headersIn(column),
      whole: false,
      verified: false,
      time: timeIn(column),
      status: statusOf(column('sc-status')),
      source: cloudfrontSource(column('x-edge-detailed-result-type') || column('x-edge-result-type')),
      location: '',
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
function isCloudfrontJson(fields: JsonFields): boolean {
  return NEEDED.every((name) => name in fields);
}

/** Whether a line looks like one of version 1 or its head. */
function isCloudfront(line: string): boolean {
  return (
    line.startsWith(FIELDS) || line.startsWith('#Version:') || /^\d{4}-\d\d-\d\d\t\d\d:\d\d:\d\d\t/.test(line)
  );
}

/** The formats, as `--format` names them. `decision` is the decision log of nodes, which has decisions to compare with. */
export const LOG_FORMATS = [
  'decision',
  'combined',
  'nginx-json',
  'caddy',
  'haproxy',
  'cloudflare',
  'cloudfront',
  'traefik',
  'envoy',
  'proxy-manager',
  'alb',
] as const;
/** One of LOG_FORMATS. */
export type LogFormat = (typeof LOG_FORMATS)[number];
/** A format of access logs, which have requests alone. */
export type AccessFormat = Exclude<LogFormat, 'decision'>;

const READERS: Readonly<Record<AccessFormat, (context: ReaderContext) => LineReader>> = {
  combined: combinedReader,
  'nginx-json': nginxJsonReader,
  caddy: caddyReader,
  haproxy: haproxyReader,
  cloudflare: cloudflareReader,
  cloudfront: cloudfrontReader,
  traefik: traefikReader,
  envoy: envoyReader,
  'proxy-manager': proxyManagerReader,
  alb: albReader,
};

/** Creates the reader of one log. */
export function readerOf(format: AccessFormat, context: ReaderContext): LineReader {
  return READERS[format](context);
}

/** The format of most of the first lines of a log; `null`: of none. Of two, the first found. */
export function detectFormat(lines: readonly string[]): LogFormat | null {
  const found = new Map<LogFormat, number>();
  for (const line of lines.slice(0, DETECTED_LINES)) {
    const format = formatOf(line);
    if (format !== null) found.set(format, (found.get(format) ?? 0) + 1);
  }
  let best: LogFormat | null = null;
  for (const [format, count] of found) if (best === null || count > found.get(best)!) best = format;
  return best;
}

/** The format that a line looks like. */
function formatOf(line: string): LogFormat | null {
  if (line.startsWith('{')) return jsonFormatOf(line);
  if (isCloudfront(line)) return 'cloudfront';
  if (isEnvoy(line)) return 'envoy';
  if (isProxyManager(line)) return 'proxy-manager';
  if (isAlb(line)) return 'alb';
  if (isCombined(line)) return 'combined';
  return isHaproxy(line) ? 'haproxy' : null;
}

function jsonFormatOf(line: string): LogFormat | null {
  let fields: unknown;
  try {
    fields = JSON.parse(line);
  } catch {
    return null;
  }
  if (!isObject(fields)) return null;
  const { format } = fields;
  if (typeof format === 'string' && format.startsWith('edgeplan.')) return 'decision';
  if (isCloudflare(fields)) return 'cloudflare';
  if (isCloudfrontJson(fields)) return 'cloudfront';
  if (isTraefik(fields)) return 'traefik';
  if (isCaddy(fields)) return 'caddy';
  return isNginxJson(fields) ? 'nginx-json' : null;
}
