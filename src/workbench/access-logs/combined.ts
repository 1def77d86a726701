/**
 * Reads the common and combined formats of Apache and nginx, with or without a leading virtual host, and with further
 * fields at the end:
 *
 *     shop.example:443 203.0.113.7 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 2326 "referer" "user-agent" …
 */
import { parseIp } from '../../base/addresses/ip.ts';
import {
  BLANK,
  entryOf,
  type LineReader,
  NO_REQUEST,
  type ReaderContext,
  splitRequest,
  unreadable,
} from './entry.ts';
import { unescapeBackslashes } from './escapes.ts';
import { createClfTime, type ReadTime } from './times.ts';

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
        ja4: '',
        headers: headersOf(
          agent === null ? '-' : field(line, agent.from, agent.end, escaped),
          referer === null ? '-' : field(line, referer.from, referer.end, escaped),
        ),
        whole: false,
        verified: false,
        time: head.time,
        status,
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
function headersOf(agent: string, referer: string): Readonly<Record<string, string | undefined>> {
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
