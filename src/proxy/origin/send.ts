/** One request to one origin: pushes the answer, measures the time to its head, and names what went wrong. */
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { BodyFault } from '../../buffers/body-fault.ts';
import type { HeaderList, ResponseFault, ResponseSink, ResponseSource } from '../../http/response.ts';
import { MAX_INFORMATIONAL } from '../limits.ts';
import type { OpenedConnection } from './connections.ts';
import { FORBIDDEN } from './guard.ts';
import { UNRESOLVED } from './names.ts';
import type { OutgoingRequest } from './request.ts';

export interface Attempt {
  readonly to: OpenedConnection;
  readonly request: Pick<OutgoingRequest, 'method' | 'path' | 'headers'>;
  readonly body: Uint8Array | Readable | null;
  /** Whether the body's client is waited for, and not the origin. */
  readonly isClientAwaited: () => boolean;
  /**
   * Milliseconds that the origin may take to connect, to take each piece of the body, and from the end of the request to
   * the head of its answer.
   */
  readonly headMs: number;
}

/** Sends, and pushes whatever comes of it. Nothing is pushed before this has returned. */
export function attempt(
  { to, request, body, isClientAwaited, headMs }: Attempt,
  sink: ResponseSink,
): ResponseSource {
  let abort: (error?: Error) => void = () => undefined;
  let resume: () => void = () => undefined;
  let paused = false;
  let over = false;
  /** A connection is there and the request is about to be written on it. */
  let begun = false;
  let started = false;
  let informed = 0;
  /** The moment from which on the origin is waited for. */
  let since = performance.now();
  let late = setTimeout(look, headMs);

  /** PERF: one timer, looked at when it is due, since a body's pieces come often. */
  function look(): void {
    if (isClientAwaited()) since = performance.now();
    const left = headMs - (performance.now() - since);
    if (left >= 1) {
      late = setTimeout(look, left);
      return;
    }
    fail({ code: 'timeout', reason: `no answer within ${headMs} ms` });
    abort();
  }
  function fail(fault: ResponseFault): void {
    if (over) return;
    over = true;
    clearTimeout(late);
    sink.fail(fault);
  }
  function complete(trailers: HeaderList): void {
    if (over) return;
    over = true;
    clearTimeout(late);
    sink.end(trailers);
  }
  const source: ResponseSource = {
    pause: () => {
      paused = true;
    },
    resume: () => {
      if (!paused) return;
      paused = false;
      resume();
    },
    abort: () => {
      if (over) return;
      over = true;
      clearTimeout(late);
      abort();
    },
  };
  const handler: Dispatcher.DispatchHandler = {
    onConnect(stop) {
      begun = true;
      since = performance.now();
      abort = stop;
      if (over) stop();
    },
    onBodySent() {
      since = performance.now();
    },
    onHeaders(status, headers, go) {
      if (over) return true;
      if (status < 200) {
        if (++informed <= MAX_INFORMATIONAL) sink.informational(status, texts(headers));
        else {
          fail({ code: 'malformed', reason: `more than ${MAX_INFORMATIONAL} interim answers` });
          abort();
        }
        return true;
      }
      clearTimeout(late);
      resume = go;
      started = true;
      sink.head({ status, headers: texts(headers), madeBy: 'origin' }, source);
      if (isBodiless(status)) complete([]);
      return !paused;
    },
    onData(chunk) {
      if (!over) sink.data(chunk);
      return !paused;
    },
    onComplete(trailers) {
      complete(trailers === null ? [] : texts(trailers as unknown as readonly Buffer[]));
    },
    onError(error) {
      fail(faultOf(error, started ? 'answered' : begun ? 'sent' : 'unsent'));
    },
  };
  const { method, path, headers } = request;
  if (body instanceof Readable) {
    body.on('end', () => {
      since = performance.now();
    });
    body.on('error', (error: Error) => {
      fail({ code: error instanceof BodyFault ? error.code : 'body', reason: error.message });
    });
  }
  try {
    to.pool.dispatch({ method, path, headers: headers as string[], body: bodyOf(body) }, handler);
  } catch (error) {
    // What undici refuses to send: a header or a path that is no HTTP.
    queueMicrotask(() => fail({ code: 'malformed', reason: error instanceof Error ? error.message : '' }));
  }
  return source;
}

function bodyOf(body: Attempt['body']): Readable | Uint8Array | null {
  return body instanceof Uint8Array && body.length === 0 ? null : body;
}

function texts(octets: readonly (Buffer | string)[]): string[] {
  const list = new Array<string>(octets.length);
  for (let at = 0; at < octets.length; at++) list[at] = octets[at]!.toString('latin1' as never);
  return list;
}

/**
 * Answers that end with their head, whatever length it names (RFC 9112 §6.3). Told at the head: undici takes the length
 * of a 304, which is that of the answer it stands for (RFC 9110 §15.4.5), for one of octets to come.
 */
function isBodiless(status: number): boolean {
  return status === 204 || status === 304;
}

const UNREACHED: ReadonlySet<string> = new Set(['UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT']);
const MALFORMED: ReadonlySet<string> = new Set([
  'UND_ERR_HEADERS_OVERFLOW',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
]);

/** What of it there was: only a request of which nothing was sent may be sent again whatever its method. */
function faultOf(error: Error, was: 'unsent' | 'sent' | 'answered'): ResponseFault {
  const code = 'code' in error ? String(error.code) : error.name;
  const reason = error.message;
  if (was === 'answered') return { code: 'cut', reason };
  if (code === 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH') return { code: 'body', reason };
  if (was === 'unsent') return unsentFault(error);
  if (code.startsWith('HPE_') || MALFORMED.has(code) || error.name === 'HTTPParserError') {
    return { code: 'malformed', reason };
  }
  return { code: 'reset', reason };
}

/** Of a request that no connection was there for. */
export function unsentFault(error: Error): ResponseFault {
  const code = 'code' in error ? String(error.code) : error.name;
  return { code: unsentCode(code), reason: error.message };
}

function unsentCode(code: string): ResponseFault['code'] {
  if (code === UNRESOLVED) return 'unresolved';
  if (code === FORBIDDEN) return 'forbidden';
  if (code === 'ECONNREFUSED') return 'refused';
  return UNREACHED.has(code) ? 'unreached' : 'unreachable';
}
