/**
 * Spans of OpenTelemetry as rooms above use them: an interface without OpenTelemetry's packages, which are loaded where a
 * collector is configured only (`start-telemetry.ts`). A span is one piece of work in a distributed trace.
 */

/** Attributes of a span by name; names are those of OpenTelemetry's semantic conventions, or begin with `edgeplan.`. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** How a span begins. */
export interface SpanStart {
  /** Of low cardinality: never a path, a host or an id. */
  readonly name: string;
  /** `server`: answers a request; `client`: sends one; `internal`: neither. */
  readonly kind: 'server' | 'client' | 'internal';
  /** Milliseconds since the epoch; absent: now. */
  readonly startedAt?: number;
}

/** The place of a caller in a distributed trace, as its headers have it (W3C Trace Context §3). */
export interface TraceContext {
  readonly traceparent: string;
  /** `null`: none was sent. */
  readonly tracestate: string | null;
}

/** A span under way. */
export interface ActiveSpan {
  /** Whether the span is sampled; attributes of any other are not worth computing. */
  readonly isRecorded: boolean;
  /** The context of the work, for the headers of a request that it sends. */
  context(): TraceContext;
  /** Replaces the name of the start, once a better one of low cardinality is there. */
  rename(name: string): void;
  /** Sets attributes; without effect for a span that is not recorded. */
  set(attributes: SpanAttributes): void;
  /** Starts a part of the work. */
  child(start: SpanStart): ActiveSpan;
  /** Ends the span. `error`: why the work failed, a code of low cardinality; `null`: it did not. */
  end(error: string | null): void;
}

/** Starts the first span of a process in a distributed trace. */
export interface SpanSource {
  /** `caller`: the trace is continued, with its sampling decision; `null` or malformed: a new trace begins. */
  start(start: SpanStart, caller: TraceContext | null): ActiveSpan;
}
