/**
 * The spans of requests and of their transactions, for a collector. In: requests, and what is found out about them. Out:
 * one span for each, in which the request is handled. No span continues a trace of the client: a customer could have all
 * of its requests sampled.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ActiveSpan, activeSpan, runInSpan, type SpanSource } from '../../base/telemetry/spans.ts';
import type { Store } from '../store/store.ts';

/** The spans of one server. */
export interface RequestSpans {
  /** Starts the span of a request; it ends when the response has been sent or its connection is closed. */
  begin(request: IncomingMessage, response: ServerResponse): void;
  /** Runs the handling of a request in its span. */
  run(request: IncomingMessage, work: () => void): void;
  /** Sets the route of a request, as its path in the table; empty: no route matched. */
  matched(request: IncomingMessage, path: string): void;
}

/** Creates the spans of one server. */
export function createRequestSpans(source: SpanSource): RequestSpans {
  const spans = new WeakMap<IncomingMessage, ActiveSpan>();
  return {
    begin(request, response) {
      // Node's parser accepts the methods of a fixed list only.
      const method = request.method!;
      const span = source.start({ name: method, kind: 'server' }, null);
      if (!span.isRecorded) return;
      spans.set(request, span);
      span.set({ 'http.request.method': method, 'url.scheme': 'http' });
      response.once('close', () => {
        const { statusCode: status, writableFinished } = response;
        span.set({ 'http.response.status_code': status });
        span.end(status >= 500 ? String(status) : writableFinished ? null : 'aborted');
      });
    },
    run(request, work) {
      const span = spans.get(request);
      if (span === undefined) work();
      else runInSpan(span, work);
    },
    matched(request, path) {
      const span = spans.get(request);
      if (span === undefined || path === '') return;
      span.rename(`${request.method} ${path}`);
      span.set({ 'http.route': path });
    },
  };
}

// A store whose transactions are spans within that of the request that runs them. In: a store. Out: the same store; what runs
// outside of a sampled request has no span.

/** The store with spans for `read` and `write`. Single reads (`latest`) have none: they take microseconds. */
export function withTransactionSpans(store: Store): Store {
  const { database } = store.about;
  async function inSpan<T>(name: string, work: () => Promise<T>): Promise<T> {
    const parent = activeSpan();
    if (parent === null) return work();
    const span = parent.child({ name, kind: 'client' });
    span.set({
      'db.system.name': database === 'sqlite' ? 'sqlite' : 'postgresql',
      'db.operation.name': name,
    });
    try {
      const result = await work();
      span.end(null);
      return result;
    } catch (error) {
      span.end(error instanceof Error ? error.name : 'unknown');
      throw error;
    }
  }
  return {
    ...store,
    read: (work) => inSpan('read', () => store.read(work)),
    write: (work, options) => inSpan('write', () => store.write(work, options)),
  };
}
