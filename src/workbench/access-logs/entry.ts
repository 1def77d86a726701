/** What a line of an access log comes to, and how a reader completes a request with what the log lacks. */
import { parseAsn } from '../../base/addresses/asn.ts';
import type { EdgeRequest } from '../../engine/evaluator/request.ts';

/**
 * Who made a logged answer. `origin`: an origin, also through a cache. `proxy`: the proxy by itself. `failure`: the proxy,
 * since the origin to which it forwarded failed. `unknown`: the log does not say.
 */
export type AnswerSource = 'origin' | 'proxy' | 'failure' | 'unknown';

/** What a request was answered. */
export interface LoggedAnswer {
  /** 0: the line has none. */
  readonly status: number;
  readonly source: AnswerSource;
  /** The Location; empty: there was none, or the log has none. */
  readonly location: string;
}

/** A logged request. */
export interface AccessEntry extends LoggedAnswer {
  readonly kind: 'request';
  /** Milliseconds since the epoch; `NaN`: the line has no time. */
  time: number;
  /** Requests that the line represents: a sampled line represents several. */
  readonly weight: number;
  readonly request: EdgeRequest;
  /** The log's name and the line's number, counting from 1; the source of the line sets them. */
  file: string;
  line: number;
}

/** A line without a request: blank or a comment, of no HTTP request (a TLS handshake), or not of the format. */
export type LineNote =
  | { readonly kind: 'blank' }
  | { readonly kind: 'no_request' }
  | { readonly kind: 'unreadable'; readonly reason: string };

/** Reads a line. */
export type LineReader = (line: string) => AccessEntry | LineNote;

/** What a reader takes from elsewhere. */
export interface ReaderContext {
  /** The host of requests whose line has none; asked for each, since it may throw. */
  readonly hostOf: () => string;
  /** Returns one string for all equal hosts (`createHostCache`). */
  readonly sameHost: (host: string) => string;
  /** The scheme of requests whose line has none. */
  readonly scheme: 'http' | 'https';
  /** Names of HAProxy's captured request headers, lower case, in the order of their `capture` lines. */
  readonly captures: readonly string[];
  /** The bot that a User-Agent declares. */
  readonly botOf: (userAgent: string | undefined) => EdgeRequest['bot'];
  /** The country of an address; `null`: unknown. */
  readonly countryOf: (ip: string) => string | null;
  /** The autonomous system of an address; `null`: unknown. */
  readonly asnOf: (ip: string) => number | null;
  /** Counts requests by the facts that their lines lack. */
  readonly lacks: FactCounts;
}

/** Facts of a request that a log may lack. */
export const LOG_FACTS = [
  'host',
  'scheme',
  'ip',
  'country',
  'asn',
  'user_agent',
  'ja4',
  'headers',
  'time',
] as const;
/** One of LOG_FACTS. */
export type LogFact = (typeof LOG_FACTS)[number];
/** Requests without a fact. */
export type FactCounts = Record<LogFact, number>;

/** Counters at zero. */
export function createFactCounts(): FactCounts {
  return { host: 0, scheme: 0, ip: 0, country: 0, asn: 0, user_agent: 0, ja4: 0, headers: 0, time: 0 };
}

/** The fields of a line; an empty text is absent. */
export interface LineFields extends LoggedAnswer {
  readonly method: string;
  readonly target: string;
  readonly protocol: string;
  readonly host: string;
  /** In any case. */
  readonly scheme: string;
  readonly ip: string;
  readonly country: string;
  /** The number of an autonomous system. */
  readonly asn: string;
  readonly ja4: string;
  /** Names are lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Whether the log has all headers, not only those of the format. */
  readonly whole: boolean;
  /** The log's operator has verified the declared bot. */
  readonly verified: boolean;
  /** Milliseconds since the epoch; `NaN`: absent. */
  readonly time: number;
}

export const BLANK: LineNote = Object.freeze({ kind: 'blank' });
export const NO_REQUEST: LineNote = Object.freeze({ kind: 'no_request' });

/** A line that is not of the format. */
export function unreadable(reason: string): LineNote {
  return { kind: 'unreadable', reason };
}

/** The request of a line, completed with the host, scheme, bot, country and autonomous system that the line lacks. */
export function entryOf(fields: LineFields, context: ReaderContext): AccessEntry {
  const { lacks } = context;
  const agent = fields.headers['user-agent'];
  const bot = context.botOf(typeof agent === 'string' ? agent : agent?.[0]);
  const located = fields.country !== '' || fields.ip === '' ? fields.country : context.countryOf(fields.ip);
  const asn = fields.asn !== '' ? parseAsn(fields.asn) : fields.ip === '' ? null : context.asnOf(fields.ip);
  if (fields.ip === '') lacks.ip++;
  if (located === null || located === '') lacks.country++;
  if (asn === null) lacks.asn++;
  if (agent === undefined) lacks.user_agent++;
  if (fields.ja4 === '') lacks.ja4++;
  if (!fields.whole) lacks.headers++;
  if (Number.isNaN(fields.time)) lacks.time++;
  return {
    kind: 'request',
    time: fields.time,
    weight: 1,
    status: fields.status,
    source: fields.source,
    location: fields.location,
    request: {
      scheme: schemeOf(fields, context),
      method: fields.method,
      host: hostOf(fields, context),
      target: fields.target,
      protocol: fields.protocol === '' ? undefined : fields.protocol,
      headers: fields.headers,
      ip: fields.ip === '' ? null : fields.ip,
      country: located === '' ? null : located,
      asn,
      bot: fields.verified && bot ? { kind: bot.kind, verified: true } : bot,
      ja4: fields.ja4 === '' ? null : fields.ja4,
      // No log has bodies.
      body: null,
      now: Number.isNaN(fields.time) ? undefined : fields.time,
    },
    file: '',
    line: 0,
  };
}

/** The logged scheme, else that of an absolute-form target, else the one for all. */
function schemeOf({ scheme, target }: LineFields, context: ReaderContext): string {
  if (scheme !== '') return scheme.toLowerCase() === 'http' ? 'http' : 'https';
  if (target.startsWith('https://')) return 'https';
  // An absolute-form target of a proxy in front of TLS may say http, so only the host of it is used.
  context.lacks.scheme++;
  return context.scheme;
}

/** The logged host, else that of an absolute-form target (RFC 9112 §3.2.2), else the one for all. */
function hostOf({ host, target }: LineFields, context: ReaderContext): string {
  if (host !== '') return context.sameHost(host);
  if (target.charCodeAt(0) !== SLASH) {
    const from = target.startsWith('https://') ? 8 : target.startsWith('http://') ? 7 : -1;
    if (from > 0) return context.sameHost(authorityOf(target, from));
  }
  context.lacks.host++;
  return context.hostOf();
}

const SLASH = 0x2f;

function authorityOf(target: string, from: number): string {
  let end = from;
  while (end < target.length && !'/?#'.includes(target[end]!)) end++;
  return target.slice(from, end);
}

/** A request line: the method up to the first space, the protocol after the last, the target between. */
export interface LoggedRequestLine {
  readonly method: string;
  readonly target: string;
  readonly protocol: string;
}

/**
 * Splits a request line; `null` for anything else, such as the first octets of a TLS handshake. Spaces in the target are
 * part of it; HTTP/0.9 has no protocol.
 */
export function splitRequest(text: string): LoggedRequestLine | null {
  const space = text.indexOf(' ');
  if (space <= 0) return null;
  const method = methodOf(text, space);
  if (method === '') return null;
  const last = text.lastIndexOf(' ');
  const versioned = last > space && text.startsWith('HTTP/', last + 1);
  const target = text.slice(space + 1, versioned ? last : text.length);
  if (target === '') return null;
  return { method, target, protocol: versioned ? protocolOf(text, last + 1) : '' };
}

/** The usual protocols as constants: a slice would refer to the chunk of the log. */
function protocolOf(text: string, at: number): string {
  if (text.length - at === 8 && text.startsWith('1.', at + 5)) {
    return text.charCodeAt(at + 7) === 0x30 ? 'HTTP/1.0' : 'HTTP/1.1';
  }
  if (text.startsWith('2', at + 5)) return 'HTTP/2';
  if (text.startsWith('3', at + 5)) return 'HTTP/3';
  return text.slice(at);
}

/** The method; empty when it is not one: methods are tokens (RFC 9110 §5.6.2), in practice letters and dashes. */
function methodOf(text: string, end: number): string {
  if (end === 3 && text.startsWith('GET')) return 'GET';
  if (end === 4 && text.startsWith('POST')) return 'POST';
  if (end > 32) return '';
  for (let at = 0; at < end; at++) {
    const letter = text.charCodeAt(at) | 32;
    if ((letter < 97 || letter > 122) && text[at] !== '-' && text[at] !== '_') return '';
  }
  return text.slice(0, end);
}
