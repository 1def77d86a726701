/**
 * The spans of a request: one for the request itself, and one for each fetch from an origin. In: the request as it arrived,
 * its end, and what is sent to an origin. Out: spans with the attributes of OpenTelemetry's semantic conventions for HTTP, and
 * the trace context for the origin. No attribute has a query, a header of the client, or the visitor's address.
 */
import type { ClientRequest } from '../../base/http/client-messages.ts';
import {
  type HeaderList,
  type ResponseSink,
  type ResponseSource,
  withoutHeaders,
} from '../../base/http/response.ts';
import type { ActiveSpan, SpanAttributes, SpanSource, TraceContext } from '../../base/telemetry/spans.ts';
import type { Origin } from '../../engine/evaluator/decision.ts';
import { refText } from '../../engine/evaluator/identity.ts';
import type { Exchange, Visitor } from '../decide/exchange.ts';
import type { RequestLogEntry } from './log/request-log.ts';
import type { Origins, OutgoingRequest } from './origin/request.ts';

/** The methods of RFC 9110 §9 and RFC 5789; the conventions name a span of any other `HTTP`. */
const METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'CONNECT',
  'TRACE',
]);
/** The headers that a span replaces. */
const CONTEXT_HEADERS: ReadonlySet<string> = new Set(['traceparent', 'tracestate']);
/** A fault that visitors cause by leaving: no error of the edge. */
const LEFT = 'aborted';

/** A request that arrived, and the visitor who sent it. */
interface SpannedRequest {
  readonly message: ClientRequest;
  readonly visitor: Visitor;
}

/**
 * Starts the span of a request. Only a trusted proxy may continue its own trace, as with Envoy's and nginx's internal
 * listeners: anybody else could have each of its requests sampled, or write into the traces of others.
 */
export function startRequestSpan(spans: SpanSource, { message, visitor }: SpannedRequest): ActiveSpan {
  const { traceparent, tracestate } = message.headers;
  const isContinued = visitor.trusted && typeof traceparent === 'string';
  const caller = isContinued
    ? { traceparent, tracestate: typeof tracestate === 'string' ? tracestate : null }
    : null;
  return spans.start({ name: nameOf(message.method), kind: 'server' }, caller);
}

/** Ends the span of a request. */
export function endRequestSpan(
  span: ActiveSpan,
  { message }: Pick<SpannedRequest, 'message'>,
  { exchange, id, status, octets, cache, fault }: RequestLogEntry,
): void {
  if (span.isRecorded) {
    span.set({
      'http.request.method': methodOf(message.method),
      'http.response.status_code': status,
      'http.response.body.size': octets,
      'network.protocol.version': message.httpVersion,
      'edgeplan.decision.id': id,
      ...(cache === null ? {} : { 'edgeplan.cache.result': cache }),
      ...(exchange === null ? {} : attributesOf(exchange)),
    });
  }
  if (fault !== null && fault !== LEFT) span.end(fault);
  else span.end(status >= 500 ? String(status) : null);
}

function attributesOf({ request, visitor, domain, decision }: Exchange): SpanAttributes {
  const { target } = request;
  const query = target.indexOf('?');
  return {
    'url.scheme': visitor.scheme,
    'url.path': query < 0 ? target : target.slice(0, query),
    'server.address': String(request.host),
    'server.port': visitor.port,
    'edgeplan.domain': domain.name,
    'edgeplan.revision': decision.revision,
    'edgeplan.decision.action': decision.action,
    ...(decision.rule === null ? {} : { 'edgeplan.rule': refText(decision.rule) }),
  };
}

function nameOf(method: string | undefined): string {
  return METHODS.has(method ?? '') ? method! : 'HTTP';
}

function methodOf(method: string | undefined): string {
  return METHODS.has(method ?? '') ? method! : '_OTHER';
}

/** The request with the context of a span in place of the client's own. */
export function withTraceContext(request: OutgoingRequest, span: ActiveSpan): OutgoingRequest {
  return { ...request, headers: contextHeaders(request.headers, span.context()) };
}

function contextHeaders(sent: HeaderList, { traceparent, tracestate }: TraceContext): HeaderList {
  const headers = withoutHeaders(sent, CONTEXT_HEADERS);
  headers.push('traceparent', traceparent);
  if (tracestate !== null) headers.push('tracestate', tracestate);
  return headers;
}

/** A request to origins, and the span of the visitor's request that causes it. */
export interface SpannedFetch {
  readonly origins: Pick<Origins, 'send'>;
  readonly request: OutgoingRequest;
  readonly parent: ActiveSpan;
}

/**
 * Sends a request to its origins within a span, which ends with the response. One span covers all origins that are tried: its
 * address is that of the last one, and `http.request.resend_count` the number of others before it.
 */
export function fetchInSpan({ origins, request, parent }: SpannedFetch, sink: ResponseSink): ResponseSource {
  if (!parent.isRecorded) return origins.send(withTraceContext(request, parent), sink);
  const span = parent.child({ name: nameOf(request.method), kind: 'client' });
  span.set({ 'http.request.method': methodOf(request.method) });
  let tries = 0;
  let status = 0;
  let isEnded = false;
  const end = (fault: string | null): void => {
    if (isEnded) return;
    isEnded = true;
    // To a client, an answer of 4xx is an error too (semantic conventions, "HTTP client span").
    span.end(fault ?? (status >= 400 ? String(status) : null));
  };
  const tried = (origin: Origin): void => {
    span.set({ ...addressOf(origin), ...(tries === 0 ? {} : { 'http.request.resend_count': tries }) });
    tries++;
  };
  const watched = (source: ResponseSource): ResponseSource => ({
    pause: () => source.pause(),
    resume: () => source.resume(),
    abort() {
      end(null);
      source.abort();
    },
  });
  return watched(
    origins.send(
      { ...withTraceContext(request, span), tried },
      {
        informational: (interim, headers) => sink.informational(interim, headers),
        head(head, source) {
          status = head.status;
          span.set({ 'http.response.status_code': status });
          sink.head(head, watched(source));
        },
        data: (chunk) => sink.data(chunk),
        end(trailers) {
          end(null);
          sink.end(trailers);
        },
        fail(fault) {
          end(fault.code);
          sink.fail(fault);
        },
      },
    ),
  );
}

function addressOf({ address, port }: Origin): SpanAttributes {
  return port === null ? { 'server.address': address } : { 'server.address': address, 'server.port': port };
}
