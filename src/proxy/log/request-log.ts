/** What is logged of every request at its end: the decision log, the metrics and the traffic counts each implement `Journal`. */
import type { MarkdownOutcome } from '../../markdown/outcome.ts';
import type { Exchange } from '../exchange.ts';

/** Told of every request at its end. */
export interface RequestLog {
  done(entry: RequestLogEntry): void;
}

export interface RequestLogEntry {
  /** `null`: refused before a domain was known. */
  readonly exchange: Exchange | null;
  readonly id: string;
  readonly status: number;
  /** Octets of the answer's body. */
  readonly octets: number;
  readonly durationMs: number;
  /** `hit`, `miss`, …; `null`: the cache was not asked. */
  readonly cache: string | null;
  /** What became of a page that was asked for as Markdown; `null`: none was. */
  readonly markdown: MarkdownOutcome | null;
  /** What went wrong at the origin, `null` nothing. */
  readonly fault: string | null;
}
