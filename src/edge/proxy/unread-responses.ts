/**
 * Ends responses whose clients take less than the minimum rate. In: responses with octets in their queues. Out: the end of
 * those of which fewer have left. Every second the queues are read; what is queued for so long is measured at its pace, by
 * the octets that the kernel has taken for the connection, as nginx's `send_timeout` does.
 */
import type { ServerResponse } from 'node:http';
import type { Http2ServerResponse, Http2Session } from 'node:http2';
import type { RateBounds } from '../../base/buffers/limits.ts';
import { createPace, type Pace } from '../../base/buffers/pace.ts';
import type { ClientRequest } from '../../base/http/client-messages.ts';
import { SWEEP_MS } from './limits.ts';

/** A response whose client may leave octets in its queue. */
export interface QueuedResponse {
  readonly request: ClientRequest;
  readonly response: ServerResponse;
  /** Octets of body that were queued so far. */
  readonly octets: number;
  /** Ends the response. @param rate the sentence that a pace reports */
  endSlow(rate: string): void;
}

export interface UnreadResponses {
  /** Measures a response until its queue is empty; without effect if it is measured already. */
  add(one: QueuedResponse): void;
  delete(one: QueuedResponse): void;
}

/** The measurement of one response. */
interface Measurement {
  readonly one: QueuedResponse;
  readonly pace: Pace;
  /** Octets that have left its connection, and its own ones that left its queue, when last read. */
  sent: number;
  unqueued: number;
  /** Octets that may have left of the first one in the queue, which Node reports as a whole. */
  partial: number;
  /** Responses that wait on its connection. */
  waiting: number;
}

interface UnreadState {
  readonly rate: RateBounds;
  /** `null`: the queue was not read yet. */
  readonly responses: Map<QueuedResponse, Measurement | null>;
  timer: NodeJS.Timeout | null;
}

export function createUnreadResponses(rate: RateBounds): UnreadResponses {
  const state: UnreadState = { rate, responses: new Map(), timer: null };
  const { responses } = state;
  return {
    add(one) {
      if (rate.minRate === 0 || responses.has(one)) return;
      responses.set(one, null);
      state.timer ??= setInterval(() => sweep(state), Math.min(SWEEP_MS, rate.windowMs / 4)).unref();
    },
    delete(one) {
      responses.get(one)?.pace.end();
      responses.delete(one);
    },
  };
}

/** Starts to measure responses with octets in their queues, and ends the measurement of those without. */
function sweep(state: UnreadState): void {
  const { responses } = state;
  const streams = new Map<Http2Session, number>();
  for (const [one, measured] of responses) {
    if (one.response.writableLength === 0) {
      measured?.pace.end();
      responses.delete(one);
      continue;
    }
    const session = sessionOf(one.response);
    if (session !== null) streams.set(session, (streams.get(session) ?? 0) + 1);
    const measurement = measured ?? measure(state.rate, one);
    if (measured === null) responses.set(one, measurement);
    // A response behind another on its connection (pipelining) waits for that, not for its client.
    if (session === null && one.response.socket === null) measurement.pace.rest();
    else measurement.pace.wait();
    advance(measurement);
  }
  for (const measured of responses.values()) {
    const session = measured === null ? null : sessionOf(measured.one.response);
    if (session !== null) measured!.waiting = streams.get(session) ?? 1;
  }
  if (responses.size > 0 || state.timer === null) return;
  clearInterval(state.timer);
  state.timer = null;
}

function measure(rate: RateBounds, one: QueuedResponse): Measurement {
  const measurement: Measurement = {
    one,
    pace: createPace({
      bounds: rate,
      octets: () => advance(measurement),
      onSlow: (reason) => one.endSlow(reason),
    }),
    sent: sentOctets(one.request),
    unqueued: unqueuedOctets(one),
    partial: 0,
    waiting: 1,
  };
  return measurement;
}

/**
 * Reads what has left of a response. Over HTTP/1 that is what has left of the connection. Over HTTP/2 Node reports the end of
 * each piece of a stream, of 64 KiB and more, so what the connection sends counts for the first piece, divided among the
 * streams that wait while none of it is queued there: then their clients' windows are what they wait for.
 * @returns octets so far
 */
function advance(measurement: Measurement): number {
  const { one } = measurement;
  const sent = sentOctets(one.request);
  if (sessionOf(one.response) === null) return sent;
  const unqueued = unqueuedOctets(one);
  const share = unsentOctets(one.request) > 0 ? 1 : measurement.waiting;
  const partial = measurement.partial + (sent - measurement.sent) / share - (unqueued - measurement.unqueued);
  measurement.partial = Math.min(Math.max(0, partial), one.response.writableLength);
  measurement.sent = sent;
  measurement.unqueued = unqueued;
  return unqueued + measurement.partial;
}

/** The session of an HTTP/2 response; `null`: it is one of HTTP/1, or its stream has ended. */
function sessionOf(response: ServerResponse): Http2Session | null {
  if (!('stream' in response)) return null;
  const { stream } = response as unknown as Http2ServerResponse;
  return stream.session ?? null;
}

function unqueuedOctets({ octets, response }: QueuedResponse): number {
  return octets - response.writableLength;
}

/** The part of a socket's handle that Node's own time-outs of sockets read. */
interface Handle {
  readonly bytesWritten: number;
  /** Octets that the kernel has not taken. */
  readonly writeQueueSize: number;
  /** The handle of the connection below TLS. */
  readonly _parent?: Handle;
}

/** Octets that the kernel has taken for the connection so far; 0: it is closed. */
function sentOctets(request: ClientRequest): number {
  const handle = connectionOf(request);
  return handle === null ? 0 : handle.bytesWritten - handle.writeQueueSize;
}

function unsentOctets(request: ClientRequest): number {
  return connectionOf(request)?.writeQueueSize ?? 0;
}

/** The connection below TLS and HTTP/2. */
function connectionOf({ socket }: ClientRequest): Handle | null {
  const handle = (socket as unknown as { readonly _handle?: Handle | null } | null)?._handle;
  return handle == null ? null : (handle._parent ?? handle);
}
