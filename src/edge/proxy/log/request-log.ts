/**
 * The request log: the interface that the decision log and the metrics implement, and the request log that counts
 * traffic.
 */
import { createTargetFacts, parseTarget } from '../../../base/paths/path.ts';
import { BOT_KINDS, type BotKind } from '../../../base/vocabulary/vocabulary.ts';
import { type CountedRequest, operationText } from '../../../engine/counts/counts.ts';
import { gatewayOf } from '../../../engine/counts/gateway-counts.ts';
import type { Decision, EdgeRequest } from '../../../engine/evaluator/index.ts';
import type { Exchange } from '../../decide/exchange.ts';
import type { UnservedHost } from '../../decide/unserved.ts';
import type { Unenforced } from '../../decide/verdict.ts';
import type { TrafficCounter } from '../../following/traffic/counter.ts';
import type { MarkdownOutcome } from '../../markdown/outcome.ts';
import type { OriginResult } from '../origin/request.ts';

/** Receives every finished request. */
export interface RequestLog {
  done(entry: RequestLogEntry): void;
}

/** A finished request. */
export interface RequestLogEntry {
  /** `null`: refused before its domain was known. */
  readonly exchange: Exchange | null;
  /** Of a 421: which host was requested, and why it is not served; `null` or absent: it is. */
  readonly unserved?: UnservedHost | null;
  readonly id: string;
  /** 0: the proxy in front of an agent has the response. */
  readonly status: number;
  /** Octets of the response's body. */
  readonly octets: number;
  /** Octets of the request's body that were received. */
  readonly octetsIn: number;
  readonly durationMs: number;
  /** Milliseconds from the arrival to the head of the response; `null`: none was sent. */
  readonly firstOctetMs: number | null;
  /** How the origin treated the request; `null`: it did not go to one. */
  readonly origin: OriginResult | null;
  /** Milliseconds from the end of the request to the head of the origin's response; `null`: there was none. */
  readonly originMs: number | null;
  /** Whether the request counts for the uptime of a record with `monitor: true`: it went to an origin (semantics §11). */
  readonly monitored: boolean;
  /** `hit`, `miss`, …; `null`: the request did not reach the cache. */
  readonly cache: string | null;
  /** The outcome of a request for Markdown; `null`: HTML was requested. */
  readonly markdown: MarkdownOutcome | null;
  /** Why the request failed, a code; `null`: it did not fail. */
  readonly fault: string | null;
  /** The parts of the decision that the proxy in front does not enforce. Absent: all are enforced. */
  readonly unenforced?: readonly Unenforced[];
}

// A request log that counts traffic: makes of each finished request what the counters of `counts/` take.

/** Counts the requests of domains; one that was refused before its domain was known is not counted. */
export function createTrafficLog(counter: Pick<TrafficCounter, 'count'>): RequestLog {
  return {
    done(entry) {
      const { exchange } = entry;
      if (exchange !== null) counter.count(exchange.domain.name, countedRequest(entry, exchange));
    },
  };
}

function countedRequest(
  entry: RequestLogEntry,
  { startedAt, request, decision, pageMatches = [] }: NonNullable<RequestLogEntry['exchange']>,
): CountedRequest {
  const { headers = {} } = request;
  return {
    at: Math.floor(startedAt + entry.durationMs),
    decision,
    pageMatches,
    status: entry.status,
    octetsIn: entry.octetsIn,
    octetsOut: entry.octets,
    cache: entry.cache,
    country: request.country ?? null,
    bot: botOf(request),
    ip: request.ip ?? null,
    userAgent: textOf(headers['user-agent']),
    method: request.method,
    path: pathOf(request.target),
    referrer: referrerOf(headers.referer),
    ja4: request.ja4 ?? null,
    edgeMs: entry.firstOctetMs,
    originMs: entry.originMs,
    originRequest: entry.origin !== null,
    originError: entry.origin === 'failed',
    monitored: entry.monitored,
    gateway: gatewayRequest(decision, request),
  };
}

/** The gateway of a request, its consumer, operation and key, for counts; `null`: no gateway is enforced for it. */
function gatewayRequest(
  decision: Decision | null,
  { identity, method }: EdgeRequest,
): CountedRequest['gateway'] {
  const own = decision === null ? null : gatewayOf(decision);
  if (own === null) return null;
  const { consumer, operation } = decision!.gateway!;
  return {
    ...own,
    consumer: consumer ?? '',
    operation: operation === null ? '' : operationText(operation, method),
    key: consumer === null ? null : (identity?.keyId ?? null),
  };
}

const KINDS: ReadonlySet<string> = new Set(BOT_KINDS);

function botOf({ bot }: EdgeRequest): BotKind | null {
  return bot !== null && bot !== undefined && KINDS.has(bot.kind) ? (bot.kind as BotKind) : null;
}

function textOf(value: string | readonly string[] | undefined): string | null {
  if (value === undefined || typeof value === 'string') return value ?? null;
  return value[0] ?? null;
}

/** PERF: one object for all requests; nothing reads it after `pathOf`. */
const target = createTargetFacts();

function pathOf(text: string): string | null {
  return parseTarget(text, target) === 0 ? target.path : null;
}

/** Host and path of a Referer (RFC 9110 §10.1.3): what is before them is the same for all, what is after them may be secret. */
function referrerOf(value: string | readonly string[] | undefined): string | null {
  const text = textOf(value);
  if (text === null) return null;
  const scheme = text.startsWith('https://') ? 8 : text.startsWith('http://') ? 7 : -1;
  if (scheme < 0) return null;
  let end = scheme;
  while (end < text.length && text[end] !== '?' && text[end] !== '#') end++;
  const authorityEnd = text.indexOf('/', scheme);
  const sign = text.lastIndexOf('@', authorityEnd < 0 ? end : Math.min(authorityEnd, end));
  return text.slice(sign < scheme ? scheme : sign + 1, end);
}
