/**
 * One request to one origin whose client waits for a 100 before it sends its body (RFC 9110 §10.1.1). In: the request, and what
 * is known of the client's expectation. Out: the origin's response, pushed. The origin gets the head with `Expect`, on a
 * connection of its own, since undici writes a head only with the first octets of a body. The body is requested of the client
 * when the origin sends its 100, or nothing for a while; a final response before that ends the exchange without it.
 */
import type { ClientRequest, IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { BodyFault } from '../../../base/buffers/client-body.ts';
import { hasNoLength } from '../../../base/http/header-fields.ts';
import {
  headerOf,
  type ResponseFault,
  type ResponseSink,
  type ResponseSource,
} from '../../../base/http/response.ts';
import { CONTINUE_MS, MAX_INFORMATIONAL } from '../limits.ts';
import { faultOf, type Progress } from './faults.ts';
import { endsByClose, interimHeaders, transferCodingOf } from './http1.ts';
import type { Attempt } from './send.ts';

export interface ExpectingAttempt extends Omit<Attempt, 'body' | 'isFresh'> {
  /** Requests the body of the client, and opens it. */
  readonly open: () => Uint8Array | Readable;
  /** Called before a final response for which the body is not requested. */
  readonly unwanted: () => void;
  /** The origin does not meet the expectation (417): the request has to be sent without it. */
  readonly unmet: () => void;
}

/** The status of an origin that meets no expectations (RFC 9110 §15.5.18). */
const UNMET = 417;

/** Sends the head, then the body once it is wanted, and pushes the response. Pushes nothing before it has returned. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one exchange with its few variables
export function attemptExpecting(options: ExpectingAttempt, sink: ResponseSink): ResponseSource {
  const { to, request, headMs, idleMs, isClientAwaited } = options;
  const { use } = request;
  let outgoing: ClientRequest | null = null;
  let response: IncomingMessage | null = null;
  /** The body under way; `null`: none is requested, or it is in memory. */
  let body: Readable | null = null;
  let progress: Progress = 'unsent';
  /** The body is requested of the client. */
  let asked = false;
  /** A fault or the end was pushed, or the sink aborted. */
  let over = false;
  let interim = 0;
  let awaitedSince = performance.now();
  /** Runs out when the origin sends no 100. */
  let waiting: NodeJS.Timeout | undefined;
  let timer = setTimeout(checkTime, headMs);

  /** Ends the attempt. @returns `false`: it has ended before */
  function end(): boolean {
    if (over) return false;
    over = true;
    clearTimeout(timer);
    clearTimeout(waiting);
    body?.destroy();
    return true;
  }
  function fail(fault: ResponseFault): void {
    if (!end()) return;
    outgoing?.destroy();
    sink.fail(fault);
  }
  /** As in `send.ts`: the time in which the client is awaited does not count. */
  function checkTime(): void {
    if (isClientAwaited()) awaitedSince = performance.now();
    const leftMs = headMs - (performance.now() - awaitedSince);
    if (leftMs < 1) fail({ code: 'timeout', reason: `no answer within ${headMs} ms` });
    else timer = setTimeout(checkTime, leftMs);
  }
  /** Requests the body of the client and sends it, once: the origin wants it, or says nothing. */
  function sendBody(): void {
    clearTimeout(waiting);
    if (asked || over || outgoing === null) return;
    asked = true;
    const opened = options.open();
    if (!(opened instanceof Readable)) return void outgoing.end(opened);
    body = opened;
    body.on('end', () => {
      awaitedSince = performance.now();
    });
    body.on('error', (error) => {
      fail({ code: error instanceof BodyFault ? error.code : 'body', reason: error.message });
    });
    body.pipe(outgoing);
  }
  /** The head of the final response. */
  function receive(received: IncomingMessage): void {
    const status = received.statusCode ?? 502;
    clearTimeout(waiting);
    if (over) return;
    if (status === UNMET && !asked && end()) {
      outgoing?.destroy();
      options.unmet();
      return;
    }
    const headers = received.rawHeaders;
    if (status < 200 || transferCodingOf(headers) !== 'none') {
      return void fail({
        code: 'malformed',
        reason: 'the response switches protocols or has an unknown transfer coding',
      });
    }
    clearTimeout(timer);
    progress = 'answered';
    response = received;
    use.ms = performance.now() - awaitedSince;
    use.result = status >= 500 ? 'failed' : 'answered';
    if (!asked) options.unwanted();
    received.on('data', (chunk: Buffer) => {
      if (!over) sink.data(chunk);
    });
    // `close` follows every error.
    received.on('error', () => undefined);
    received.on('close', () => closed(received));
    const { socket } = received;
    socket.setTimeout(idleMs);
    socket.on('timeout', () => {
      // The client delays a response that is paused.
      if (received.isPaused()) socket.setTimeout(idleMs);
      else fail({ code: 'timeout', reason: 'the origin was silent for too long' });
    });
    const isDoubtful = to.isTls && !hasNoLength(status) && endsByClose(headers);
    sink.head({ status, headers, madeBy: 'origin', ...(isDoubtful ? { isDoubtful } : {}) }, source);
  }
  /** The end of the response, whole or not. */
  function closed(received: IncomingMessage): void {
    if (!received.complete)
      return void fail({ code: 'cut', reason: 'the origin closed within its response' });
    if (!end()) return;
    // The connection may still wait for a body that nobody needs.
    outgoing?.destroy();
    sink.end(received.rawTrailers);
  }
  const source: ResponseSource = {
    pause: () => void response?.pause(),
    resume: () => void response?.resume(),
    abort: () => {
      if (end()) outgoing?.destroy();
    },
  };

  const { method, path, headers } = request;
  const framing = headerOf(headers, 'content-length') === null ? ['Transfer-Encoding', 'chunked'] : [];
  use.reused = false;
  try {
    outgoing = to.single({ method, path, headers: [...headers, ...framing, 'Expect', '100-continue'] });
  } catch (error) {
    queueMicrotask(() => fail(faultOf(error as Error, progress)));
    return source;
  }
  outgoing.on('connected', () => {
    progress = 'sent';
    awaitedSince = performance.now();
    waiting = setTimeout(sendBody, CONTINUE_MS);
  });
  outgoing.on('continue', sendBody);
  outgoing.on('information', ({ statusCode, rawHeaders }) => {
    if (over) return;
    if (++interim > MAX_INFORMATIONAL)
      fail({ code: 'malformed', reason: `more than ${interim - 1} interim answers` });
    else if (statusCode !== 100) sink.informational(statusCode, interimHeaders(rawHeaders));
  });
  outgoing.on('response', receive);
  outgoing.on('error', (error) => fail(faultOf(error, progress)));
  return source;
}
