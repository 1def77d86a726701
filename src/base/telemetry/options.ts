/** What an export to an OpenTelemetry collector is started with, and the running export. */
import type { LookupFunction } from 'node:net';
import type { Registry } from 'prom-client';
import type { SpanSource } from './spans.ts';

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
