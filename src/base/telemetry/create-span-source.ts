/**
 * Spans of OpenTelemetry's SDK as `spans.ts` has them, and the sampling decision. In: a tracer that records everything, and the
 * share of traces to sample. Out: a source of spans. PERF: a request that is not sampled does not reach the SDK, whose
 * spans that record nothing take 8 µs; the ids for its origin are made when they are needed.
 */
import {
  type Context,
  ROOT_CONTEXT,
  type Span as SdkSpan,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { parseTraceParent, TraceState } from '@opentelemetry/core';
import { RandomIdGenerator } from '@opentelemetry/sdk-trace';
import type { ActiveSpan, SpanSource, SpanStart, TraceContext } from './spans.ts';

const KINDS: Readonly<Record<SpanStart['kind'], SpanKind>> = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  internal: SpanKind.INTERNAL,
};

const ids = new RandomIdGenerator();

export interface SpanSourceOptions {
  /** Records every span that is started with it. */
  readonly tracer: Tracer;
  /** The share of traces that are sampled, 0 to 1, of those that no caller began. */
  readonly ratio: number;
  /** A random number from 0 up to 1. */
  readonly random?: () => number;
}

/** The source of spans of one tracer. */
export function createSpanSource({ tracer, ratio, random = Math.random }: SpanSourceOptions): SpanSource {
  return {
    start(start, caller) {
      const parent = caller === null ? null : parseTraceParent(caller.traceparent);
      if (caller === null || parent === null) {
        return random() < ratio ? startSpan(tracer, start, ROOT_CONTEXT) : unrecordedSpan(null, null);
      }
      const { tracestate } = caller;
      if ((parent.traceFlags & TraceFlags.SAMPLED) === 0) return unrecordedSpan(parent.traceId, tracestate);
      const remote = {
        ...parent,
        isRemote: true,
        ...(tracestate === null ? {} : { traceState: new TraceState(tracestate) }),
      };
      return startSpan(tracer, start, trace.setSpanContext(ROOT_CONTEXT, remote));
    },
  };
}

function startSpan(tracer: Tracer, { name, kind, startedAt }: SpanStart, parent: Context): ActiveSpan {
  const options =
    startedAt === undefined ? { kind: KINDS[kind] } : { kind: KINDS[kind], startTime: startedAt };
  const span = tracer.startSpan(name, options, parent);
  return {
    isRecorded: true,
    context: () => traceContextOf(span),
    rename: (better) => void span.updateName(better),
    set: (attributes) => void span.setAttributes(attributes),
    child: (start) => startSpan(tracer, start, trace.setSpan(parent, span)),
    end(error) {
      if (error !== null) {
        span.setAttribute('error.type', error);
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
      span.end();
    },
  };
}

/** The values of W3C Trace Context §3.2 and §3.3. */
function traceContextOf(span: SdkSpan): TraceContext {
  const { traceId, spanId, traceState } = span.spanContext();
  const tracestate = traceState?.serialize() ?? '';
  return { traceparent: `00-${traceId}-${spanId}-01`, tracestate: tracestate === '' ? null : tracestate };
}

/**
 * A span outside of the sample. It has a context all the same: the flag in it stops the origin from sampling a part of what is
 * not sampled here. `traceId`: that of a caller; `null`: a new one.
 */
function unrecordedSpan(traceId: string | null, tracestate: string | null): ActiveSpan {
  let context: TraceContext | null = null;
  const span: ActiveSpan = {
    isRecorded: false,
    context() {
      context ??= {
        traceparent: `00-${traceId ?? ids.generateTraceId()}-${ids.generateSpanId()}-00`,
        tracestate,
      };
      return context;
    },
    rename: ignore,
    set: ignore,
    child: () => span,
    end: ignore,
  };
  return span;
}

function ignore(): void {}
