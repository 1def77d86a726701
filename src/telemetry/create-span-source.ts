/** Spans of OpenTelemetry's SDK as `spans.ts` has them. In: a tracer. Out: a source of spans. */
import {
  type Context,
  ROOT_CONTEXT,
  type Span as SdkSpan,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { parseTraceParent, TraceState } from '@opentelemetry/core';
import type { ActiveSpan, SpanSource, SpanStart, TraceContext } from './spans.ts';

const KINDS: Readonly<Record<SpanStart['kind'], SpanKind>> = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  internal: SpanKind.INTERNAL,
};

/** The source of spans of one tracer. */
export function createSpanSource(tracer: Tracer): SpanSource {
  return { start: (start, caller) => startSpan(tracer, start, contextOf(caller)) };
}

/** The context of a caller; the root context without a valid one. */
function contextOf(caller: TraceContext | null): Context {
  const parsed = caller === null ? null : parseTraceParent(caller.traceparent);
  if (caller === null || parsed === null) return ROOT_CONTEXT;
  const { tracestate } = caller;
  return trace.setSpanContext(ROOT_CONTEXT, {
    ...parsed,
    isRemote: true,
    ...(tracestate === null ? {} : { traceState: new TraceState(tracestate) }),
  });
}

function startSpan(tracer: Tracer, { name, kind, startedAt }: SpanStart, parent: Context): ActiveSpan {
  const options =
    startedAt === undefined ? { kind: KINDS[kind] } : { kind: KINDS[kind], startTime: startedAt };
  const span = tracer.startSpan(name, options, parent);
  return {
    isRecorded: span.isRecording(),
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
  const { traceId, spanId, traceFlags, traceState } = span.spanContext();
  const traceparent = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
  const tracestate = traceState?.serialize() ?? '';
  return { traceparent, tracestate: tracestate === '' ? null : tracestate };
}
