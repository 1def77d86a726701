/**
 * Reads HAProxy's HTTP log (`option httplog`), with or without the head that syslog adds:
 *
 *     203.0.113.7:33317 [06/Feb/2009:12:14:14.655] shop~ app/one 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {host|agent} {} "GET / HTTP/1.1"
 */
import {
  BLANK,
  entryOf,
  type LineReader,
  NO_REQUEST,
  type ReaderContext,
  splitRequest,
  unreadable,
} from './entry.ts';
import { unescapeHashes } from './escapes.ts';
import { createClfTime } from './times.ts';

/** Words from the frontend to the queues: frontend, server, timers, status, octets, two cookies, state, counts, queues. */
const WORDS = 10;

/** Creates the reader of one log. */
export function haproxyReader(context: ReaderContext): LineReader {
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
        ja4: '',
        headers,
        whole: false,
        verified: false,
        time,
        status: Number(words[3]) > 0 ? Number(words[3]) : 0,
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
export function isHaproxy(line: string): boolean {
  const place = bracketOf(line, line.indexOf(' ['));
  if (place === null || line[place.close + 2] === '"') return false;
  return (
    line.includes(':') && /^\S+:\d+$/.test(line.slice(line.lastIndexOf(' ', place.open - 1) + 1, place.open))
  );
}
