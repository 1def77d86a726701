/** The request log: the interface that the decision log, the metrics and the traffic counts implement. */
import type { MarkdownOutcome } from '../../markdown/outcome.ts';
import type { Exchange } from '../exchange.ts';
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
  readonly durationMs: number;
  /** `hit`, `miss`, …; `null`: the request did not reach the cache. */
  readonly cache: string | null;
  /** The outcome of a request for Markdown; `null`: HTML was requested. */
  readonly markdown: MarkdownOutcome | null;
  /** Why the request failed, a code; `null`: it did not fail. */
  readonly fault: string | null;
}
