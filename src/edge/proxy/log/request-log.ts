/** The request log: the interface that the decision log, the metrics and the traffic counts implement. */
import type { MarkdownOutcome } from '../../markdown/outcome.ts';
import type { Exchange } from '../exchange.ts';
import type { OriginResult } from '../origin/request.ts';
import type { UnservedHost } from '../unserved.ts';

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
}
