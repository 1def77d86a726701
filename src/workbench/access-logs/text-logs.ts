/**
 * Reads access logs whose lines are words, quoted texts and texts in brackets: the common and combined formats of Apache
 * and nginx, the default format of Envoy and that of Istio, Nginx Proxy Manager, and the Application Load Balancer of
 * AWS.
 * The combined formats may have a leading virtual host, and further fields at the end:
 * shop.example:443 203.0.113.7 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 2326 "referer" "user-agent" …
 */
import { parseIp } from '../../base/addresses/ip.ts';
import { albSource, envoySource, upstreamSource } from './answer-source.ts';
import {
  BLANK,
  entryOf,
  type LineFields,
  type LineNote,
  type LineReader,
  type LoggedRequestLine,
  NO_REQUEST,
  type ReaderContext,
  splitRequest,
  unreadable,
} from './entry.ts';
import { createClfTime, type ReadTime, unescapeBackslashes } from './log-values.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const CUT_SHORT = 'a quoted field does not end; a write was cut short';

/** Where the fields before the request are. */
interface Head {
  readonly host: string;
  readonly ip: string;
  readonly time: number;
  /** The opening quote of the request. */
  readonly quote: number;
}

/** Creates the reader of one log. */
export function combinedReader(context: ReaderContext): LineReader {
  const readTime = createClfTime();
  return (line) => {
    if (line === '') return BLANK;
    const head = headOf(line, readTime);
    if (typeof head === 'string') return unreadable(head);
    const escaped = line.includes('\\');
    const end = closingQuote(line, head.quote + 1, escaped);
    if (end < 0) return unreadable(CUT_SHORT);
    const request = splitRequest(field(line, head.quote + 1, end, escaped));
    const status = statusAt(line, end + 2);
    if (status < 0) return unreadable('there is no status after the request');
    if (request === null) return NO_REQUEST;
    const referer = quotedAfter(line, end + 1, escaped);
    const agent =
      referer === null || referer.end === CUT ? null : quotedAfter(line, referer.end + 1, escaped);
    if ((agent ?? referer)?.end === CUT) return unreadable(CUT_SHORT);
    return entryOf(
      {
        method: request.method,
        target: request.target,
        protocol: request.protocol,
        host: head.host,
        scheme: '',
        ip: head.ip,
        country: '',
        asn: '',
        ja4: '',
        headers: combinedHeaders(
          agent === null ? '-' : field(line, agent.from, agent.end, escaped),
          referer === null ? '-' : field(line, referer.from, referer.end, escaped),
        ),
        whole: false,
        verified: false,
        time: head.time,
        status,
        source: 'unknown',
        location: '',
      },
      context,
    );
  };
}

/** Reads the fields before the request, or says what is wrong with them. */
function headOf(line: string, readTime: ReadTime): Head | string {
  const open = line.indexOf(' [');
  if (open < 0) return 'there is no time in brackets';
  const close = line.indexOf('] "', open);
  if (close < 0) return 'there is no quoted request after the time';
  const time = readTime(line.slice(open + 2, close));
  if (Number.isNaN(time)) return 'the time is not like 10/Oct/2000:13:55:36 -0700';
  const first = line.indexOf(' ');
  const word = line.slice(0, first);
  // The second word is the identity (RFC 1413), which nobody has, or after a virtual host the address.
  if (line.startsWith('- ', first + 1) || isAddress(word)) {
    return { host: '', ip: addressOf(word), time, quote: close + 2 };
  }
  const second = line.indexOf(' ', first + 1);
  if (second < 0 || second > open) return 'there is no address before the time';
  const ip = addressOf(line.slice(first + 1, second));
  return { host: word === '-' || word === '_' ? '' : word, ip, time, quote: close + 2 };
}

const WORDS = new Uint32Array(4);

function isAddress(text: string): boolean {
  return parseIp(text, WORDS) !== 0;
}

/** `-` and the path of a Unix socket are no addresses. */
function addressOf(text: string): string {
  return text === '-' || text.startsWith('unix:') ? '' : text;
}

/** The quote that ends a field; quotes in it are escaped. */
function closingQuote(line: string, from: number, escaped: boolean): number {
  let end = line.indexOf('"', from);
  while (escaped && end > from && isEscaped(line, end, from)) end = line.indexOf('"', end + 1);
  return end;
}

/** Whether an odd number of backslashes is before a quote. */
function isEscaped(line: string, quote: number, from: number): boolean {
  let at = quote;
  while (at > from && line.charCodeAt(at - 1) === BACKSLASH) at--;
  return (quote - at) % 2 === 1;
}

/** A field without its escapes. */
function field(line: string, from: number, end: number, escaped: boolean): string {
  const text = line.slice(from, end);
  return escaped ? unescapeBackslashes(text) : text;
}

/** Three digits, or -1; `-` is 0: nginx logs it for a connection that was closed. */
function statusAt(line: string, at: number): number {
  const first = line.charCodeAt(at) - 48;
  const second = line.charCodeAt(at + 1) - 48;
  const third = line.charCodeAt(at + 2) - 48;
  if (first >= 0 && first <= 9 && second >= 0 && second <= 9 && third >= 0 && third <= 9) {
    return first * 100 + second * 10 + third;
  }
  return line[at] === '-' ? 0 : -1;
}

/** Where a quoted field is. */
interface Quoted {
  readonly from: number;
  readonly end: number;
}

/** The end of a field without a closing quote. */
const CUT = -1;

/** The next quoted field; `null`: the line has no further one. */
function quotedAfter(line: string, at: number, escaped: boolean): Quoted | null {
  const quote = line.indexOf('"', at);
  if (quote < 0) return null;
  const end = closingQuote(line, quote + 1, escaped);
  return { from: quote + 1, end: end < 0 ? CUT : end };
}

/** The two headers that the format has; `-` is absent. */
// PERF: all objects have the same fields, so that reading them is fast.
function combinedHeaders(agent: string, referer: string): Readonly<Record<string, string | undefined>> {
  return {
    'user-agent': agent === '-' ? undefined : agent,
    referer: referer === '-' ? undefined : referer,
  };
}

/** Whether a line looks like one of this format. */
export function isCombined(line: string): boolean {
  const open = line.indexOf(' [');
  const quote = line.indexOf('] "', open);
  return open > 0 && quote > open && line.charCodeAt(quote + 2) === QUOTE && line[open + 4] === '/';
}

// Reads logs of proxies whose lines are words, quoted texts and texts in brackets: the default format of Envoy and that of
// Istio, Nginx Proxy Manager, and the Application Load Balancer of AWS.

/** One field of a line. */
interface LogField {
  readonly kind: 'word' | 'quoted' | 'bracketed';
  readonly text: string;
}

/** The fields of a line, which are separated by spaces; `null`: a quoted text or a bracket has no end. */
function fieldsOf(line: string): readonly LogField[] | null {
  const fields: LogField[] = [];
  let at = 0;
  while (at < line.length) {
    if (line[at] === ' ') {
      at++;
      continue;
    }
    if (line[at] === '"') {
      const end = quoteAfter(line, at + 1);
      if (end < 0) return null;
      fields.push({ kind: 'quoted', text: unescapeBackslashes(line.slice(at + 1, end)) });
      at = end + 1;
      continue;
    }
    const close = line[at] === '[' ? line.indexOf(']', at) : -1;
    // An IPv6 address with a port is a word that begins with a bracket.
    if (close > 0 && (close + 1 === line.length || line[close + 1] === ' ')) {
      fields.push({ kind: 'bracketed', text: line.slice(at + 1, close) });
      at = close + 1;
      continue;
    }
    const space = line.indexOf(' ', at);
    const end = space < 0 ? line.length : space;
    fields.push({ kind: 'word', text: line.slice(at, end) });
    at = end;
  }
  return fields;
}

/** The quote that ends a text; a backslash escapes the character after it. */
function quoteAfter(line: string, from: number): number {
  for (let at = from; at < line.length; at++) {
    if (line[at] === '\\') at++;
    else if (line[at] === '"') return at;
  }
  return -1;
}

/** `-` is absent. */
function present(field: LogField | undefined): string {
  return field === undefined || field.text === '-' ? '' : field.text;
}

/** A request line; `null`: the proxy had no request, and writes `-` for its parts. */
function requestOf(text: string): LoggedRequestLine | null {
  const request = splitRequest(text);
  return request?.method === '-' ? null : request;
}

/** What all of these formats lack. */
const LACKED = { country: '', asn: '', ja4: '', whole: false, verified: false, location: '' } as const;

/** A reader of the fields of lines. */
function fieldReader(
  read: (fields: readonly LogField[]) => LineFields | LineNote,
): (context: ReaderContext) => LineReader {
  return (context) => (line) => {
    if (line.trim() === '') return BLANK;
    const fields = fieldsOf(line);
    if (fields === null) return unreadable('a quoted field does not end; a write was cut short');
    const found = read(fields);
    return 'kind' in found ? found : entryOf(found, context);
  };
}

function proxyHeaders(agent: string, referer: string): LineFields['headers'] {
  return {
    ...(agent === '' ? {} : { 'user-agent': agent }),
    ...(referer === '' ? {} : { referer }),
  };
}

/** `[time] "GET / HTTP/1.1" 200 - 0 95 3 2 "forwarded for" "agent" "id" "host" "upstream"`; Istio adds a text before the address. */
export const envoyReader = fieldReader((fields) => {
  const [time, line, status, flags] = fields;
  if (time?.kind !== 'bracketed' || line?.kind !== 'quoted')
    return unreadable('there is no time and request');
  const request = requestOf(line.text);
  if (request === null) return NO_REQUEST;
  const second = fields.findIndex(({ kind }, index) => index > 1 && kind === 'quoted');
  // Istio has details of the response and the failure of the upstream before the counts of octets.
  const quoted = fields
    .slice(second < ENVOY_COUNTS ? second + 1 : second)
    .filter(({ kind }) => kind === 'quoted');
  const [forwarded, agent, , host, upstream] = quoted;
  if (second < 0 || host === undefined)
    return unreadable('the line is cut short, or the format is not the default');
  return {
    ...LACKED,
    ...request,
    host: present(host),
    scheme: '',
    // Envoy itself adds the last address.
    ip: present(forwarded).split(',').at(-1)!.trim(),
    headers: proxyHeaders(present(agent), ''),
    time: Date.parse(time.text),
    status: Number(status?.text) || 0,
    source: envoySource(present(flags), upstream === undefined ? null : present(upstream)),
  };
});

/** The place of the first quoted text after the request in the default format: status, flags and four numbers are before it. */
const ENVOY_COUNTS = 8;

/** `[time] - 200 200 - GET https host "/path" [Client 203.0.113.7] [Length 1] [Gzip -] [Sent-to app] "agent" "referer"`. */
export function proxyManagerReader(context: ReaderContext): LineReader {
  const readTime = createClfTime();
  const reader = fieldReader((fields) => {
    const target = fields.findIndex(({ kind }) => kind === 'quoted');
    const client = fields.find(({ kind, text }) => kind === 'bracketed' && text.startsWith('Client '));
    if (target < PROXY_MANAGER_WORDS || client === undefined)
      return unreadable('there is no request and client; only access logs of hosts are read');
    const [status, , method, scheme, host] = fields.slice(target - PROXY_MANAGER_WORDS, target);
    // The time alone is before the status, or a state of the cache and the upstream's status are between.
    const [, cache, ...tries] = fields.slice(0, target - PROXY_MANAGER_WORDS);
    const [agent, referer] = fields.slice(target + 1).filter(({ kind }) => kind === 'quoted');
    const request = splitRequest(`${method!.text} ${fields[target]!.text} HTTP/1.1`);
    if (request === null) return NO_REQUEST;
    return {
      ...LACKED,
      ...request,
      protocol: '',
      host: present(host),
      scheme: present(scheme),
      ip: client.text.slice('Client '.length),
      headers: proxyHeaders(present(agent), present(referer)),
      time: readTime(fields[0]!.text),
      status: Number(status!.text) || 0,
      source: upstreamSource({
        status: Number(status!.text),
        upstream: tries.length === 0 ? null : present(tries.at(-1)),
        cache: present(cache),
      }),
    };
  });
  return reader(context);
}

/** Words directly before the target: status, `-`, method, scheme, host. */
const PROXY_MANAGER_WORDS = 5;

/** `https time elb client:port target:port 0.0 0.0 0.0 200 200 34 366 "GET https://host:443/ HTTP/1.1" "agent" …`. */
export const albReader = fieldReader((fields) => {
  const [type, time, , client] = fields;
  const [line, agent] = fields.filter(({ kind }) => kind === 'quoted');
  if (line === undefined || fields[ALB_STATUS] === undefined) return unreadable('the line is cut short');
  const status = Number(fields[ALB_STATUS].text) || 0;
  const request = requestOf(line.text);
  const [, scheme, host, target] = /^(https?|wss?):\/\/([^/?]*)(.*)$/.exec(request?.target ?? '') ?? [];
  if (request === null || host === undefined || target === undefined) return NO_REQUEST;
  const address = present(client);
  return {
    ...LACKED,
    ...request,
    target: target.startsWith('/') ? target : `/${target}`,
    host: host.replace(/:\d+$/, ''),
    scheme: scheme === 'http' || (scheme === 'ws' && type!.text === 'ws') ? 'http' : 'https',
    ip: address.slice(0, Math.max(address.lastIndexOf(':'), 0)).replace(/^\[|\]$/g, ''),
    headers: proxyHeaders(present(agent), ''),
    time: Date.parse(time!.text),
    status,
    source: albSource(status, present(fields[ALB_STATUS + 1]), present(fields[ALB_ACTIONS])),
    location: present(fields[ALB_ACTIONS + 1]),
  };
});

/** The place of the status that the load balancer answered; that of the target follows. */
const ALB_STATUS = 8;
/** The place of the actions, `"waf,forward"`; the URL of a redirect follows. */
const ALB_ACTIONS = 22;

/** Whether a line looks like one of Envoy's. */
export function isEnvoy(line: string): boolean {
  return /^\[\d{4}-\d\d-\d\dT[\d:.]+Z\] "/.test(line);
}

/** Whether a line looks like one of Nginx Proxy Manager's. */
export function isProxyManager(line: string): boolean {
  return line.startsWith('[') && line[3] === '/' && line.includes('" [Client ');
}

/** Whether a line looks like one of the load balancer's. */
export function isAlb(line: string): boolean {
  return /^(?:https?|h2|grpcs|wss?) \d{4}-\d\d-\d\dT[\d:.]+Z /.test(line);
}
