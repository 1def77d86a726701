/**
 * Telemetry as rooms above use it, an interface without OpenTelemetry's packages, which are loaded where a collector is
 * configured only (`start-telemetry.ts`): spans (a span is one piece of work in a distributed trace), and what an export
 * is started with.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { LookupFunction } from 'node:net';
import type { Registry } from 'prom-client';

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

// The span of the work that runs now, across promises and timers. Used where work is far from the request that causes it. PERF:
// costs nothing until the first `runInSpan`, which only a process with a collector calls.

const storage = new AsyncLocalStorage<ActiveSpan>();

/** Runs work, and everything that it starts, in a span. */
export function runInSpan(span: ActiveSpan, work: () => void): void {
  storage.run(span, work);
}

/** The span of the caller; `null`: none. */
export function activeSpan(): ActiveSpan | null {
  return storage.getStore() ?? null;
}

// What an export to an OpenTelemetry collector is started with, and the running export.

/** Where telemetry goes, and how much of it. */
export interface CollectorOptions {
  /** The base URL of OTLP/HTTP; `/v1/traces` and `/v1/metrics` are appended (OTLP specification §OTLP/HTTP). */
  readonly url: string;
  /** The share of traces that are sampled, 0 to 1; a trace that a caller began has the caller's decision. */
  readonly ratio: number;
}

/** What identifies the process among others (semantic conventions, "service"). */
export interface TelemetryIdentity {
  /** `service.name`. */
  readonly service: 'edgeplan-server' | 'edgeplan-node';
  /** The version of edgeplan. */
  readonly version: string;
  /** `service.instance.id`: the same for all processes of a node, and another after each start. */
  readonly instance: string;
  /** The index of a worker process; `null`: any other process. */
  readonly worker: number | null;
}

/** The parts of a process that telemetry is made of. */
export interface TelemetryOptions {
  readonly collector: CollectorOptions;
  readonly identity: TelemetryIdentity;
  /** The metrics at this moment; `null`: another process exports them. */
  readonly registry: (() => Registry | Promise<Registry>) | null;
  /** Resolves the collector's name. */
  readonly lookup: LookupFunction;
  /** Called with a sentence when exports begin to fail, and when they work again. */
  readonly onChange: (sentence: string) => void;
}

/** A running export. */
export interface Telemetry {
  readonly spans: SpanSource;
  /** Exports what waits, for up to `FLUSH_MS`, and ends. */
  stop(): Promise<void>;
}
