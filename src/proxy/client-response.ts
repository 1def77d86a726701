/** The client's end of an answer: writes what is pushed, holds the source back while the client does not read. */
import type { ServerResponse } from 'node:http';
import type { RateBounds } from '../buffers/limits.ts';
import type { ClientRequest, ClientResponse } from '../http/client-messages.ts';
import { lowerName } from '../http/header-names.ts';
import {
  type EdgeAnswer,
  GONE,
  type HeaderList,
  type ResponseFault,
  type ResponseHead,
  type ResponseSink,
  type ResponseSource,
} from '../http/response.ts';

export interface ClientOutcome {
  readonly status: number;
  /** Octets of body handed to the connection. */
  readonly octets: number;
  readonly fault: ResponseFault | null;
}

export interface ClientSinkOptions {
  readonly request: ClientRequest;
  readonly response: ClientResponse;
  /** How slowly the client may take its answer; absent: as it likes. */
  readonly rate?: RateBounds;
  /** Called once, when the answer is over, however it ends. */
  readonly done: (outcome: ClientOutcome) => void;
}

/** A sink that writes to the client. What fails before the head is not its to answer: see `withErrorPages`. */
export interface ClientSink extends ResponseSink {
  /** A whole answer at once. */
  answer(answer: EdgeAnswer): void;
  /** The head is out: no other answer can be given. */
  started(): boolean;
  /** Whom to stop when the client goes away before the answer's head: who was asked for it. */
  attach(asked: ResponseSource): void;
}

/** Statuses whose answers have no body, whatever the headers say (RFC 9110 §6.4.1). */
function isBodiless(method: string | undefined, status: number): boolean {
  return method === 'HEAD' || status === 204 || status === 304;
}

/**
 * Octets of an answer that leaves as one string. PERF: over HTTP/1 a first chunk waits for what comes with it, until the
 * end of the tick when it is small, else until the connections that can be read have been read: most answers are whole
 * by then, and one write takes their head and body.
 */
const SMALL = 4 * 1024;
/**
 * Octets that may wait for the connection before the source is asked to wait too. PERF: Node says so after 16 KiB, which
 * is less than one reading from an origin holds; stopping and starting again would happen within most larger answers.
 */
const MOST_WAITING = 128 * 1024;

/** Octets that may wait at the end of an answer without a look at the client's rate: a few packets. */
const LITTLE = 16 * 1024;

const ANY_RATE: RateBounds = { minRate: 0, graceMs: 0, windowMs: 0 };

export function createClientSink({
  request,
  response,
  rate = ANY_RATE,
  done,
}: ClientSinkOptions): ClientSink {
  let source: ResponseSource | null = null;
  let octets = 0;
  let over = false;
  let fault: ResponseFault | null = null;
  let held: Uint8Array | null = null;
  /** The connection takes no more for now. */
  let full = false;
  /** Ends a client that does not take what waits for it in time. */
  let late: NodeJS.Timeout | null = null;
  const outgoing = response as ServerResponse;
  /**
   * Of answers that wait for each other on a connection (RFC 9112 §9.3.2) Node tells only the first, which alone has it,
   * that it is gone; `null`: there is nothing to wait for.
   */
  const connection = 'stream' in request || outgoing.socket !== null ? null : request.socket;

  function flush(): void {
    if (held === null) return;
    const chunk = held;
    held = null;
    if (!outgoing.destroyed) write(chunk);
  }

  function write(chunk: Uint8Array): void {
    if (outgoing.write(chunk) || outgoing.writableLength < MOST_WAITING) return;
    source?.pause();
    if (full) return;
    full = true;
    expectTaken();
    outgoing.once('drain', drained);
  }

  function drained(): void {
    full = false;
    if (late !== null) clearTimeout(late);
    late = null;
    source?.resume();
  }

  /**
   * Gives the client the time for what waits that it needs at the minimum rate. Node reports only that all of a write was
   * taken, so this is measured over as many octets as wait.
   */
  function expectTaken(): void {
    const { minRate, graceMs, windowMs } = rate;
    if (minRate === 0 || late !== null) return;
    const waits = outgoing.writableLength;
    const ms = graceMs + Math.max(windowMs, (waits / minRate) * 1_000);
    late = setTimeout(() => {
      const reason = `the client takes below ${minRate} octets a second: ${waits} waited ${Math.round(ms / 1_000)} s`;
      fault = { code: 'slow', reason };
      source?.abort();
      outgoing.destroy();
    }, ms);
  }

  /** Sees to it that what waits at the end of an answer is taken. */
  function finishTaking(): void {
    if (outgoing.writableLength > LITTLE) expectTaken();
  }

  function finish(): void {
    if (over) return;
    over = true;
    if (late !== null) clearTimeout(late);
    connection?.off('close', leave);
    done({ status: response.headersSent ? response.statusCode : GONE, octets, fault });
  }
  function leave(): void {
    if (over) return;
    if (!isWhole(response)) {
      fault ??= { code: 'aborted', reason: 'the client went away' };
      source?.abort();
    }
    finish();
  }
  outgoing.on('close', leave);
  // As many may wait as a client asks for.
  connection?.setMaxListeners(0).once('close', leave);
  // A connection that breaks is told by `close`.
  outgoing.on('error', ignore);

  return {
    started: () => response.headersSent,
    attach(asked) {
      if (over) asked.abort();
      else source ??= asked;
    },
    informational(status, headers) {
      // Clients of HTTP/1.0 know no interim answers (RFC 9110 §15.2); 100 to one that asked is the edge's own.
      if (status !== 103 || outgoing.destroyed || request.httpVersion === '1.0') return;
      if (request.httpVersionMajor >= 2) writeInformation(outgoing, headers);
      else writeEarlyHints(outgoing, headers);
    },
    head(head, from) {
      if (over || outgoing.destroyed) return from.abort();
      source = from;
      writeHead(outgoing, head);
    },
    data(chunk) {
      octets += chunk.length;
      if (octets === chunk.length && !('stream' in response)) {
        held = chunk;
        if (octets <= SMALL) process.nextTick(flush);
        else setImmediate(flush);
        return;
      }
      flush();
      write(chunk);
    },
    end(trailers) {
      if (trailers.length > 0) {
        flush();
        addTrailers(outgoing, trailers);
      }
      if (held === null) outgoing.end();
      else {
        const body = held;
        held = null;
        if (octets <= SMALL) return endWith(outgoing, body);
        outgoing.end(body);
      }
      finishTaking();
    },
    fail(why) {
      held = null;
      fault = why;
      outgoing.destroy();
    },
    answer({ status, headers, body }) {
      if (over || outgoing.destroyed) return finish();
      const bytes = typeof body === 'string' ? Buffer.from(body, 'utf8') : (body ?? Buffer.alloc(0));
      const bodiless = status === 204 || status === 304;
      const length = bodiless ? [] : ['Content-Length', String(bytes.length)];
      writeHead(outgoing, { status, headers: [...headers, ...length] });
      if (isBodiless(request.method, status)) return void outgoing.end();
      octets = bytes.length;
      if (octets <= SMALL && !('stream' in response)) endWith(outgoing, bytes);
      else outgoing.end(bytes);
    },
  };
}

function ignore(): void {}

/** Ends an answer of HTTP/1 with a small body. */
function endWith(response: ServerResponse, octets: Uint8Array): void {
  const body = Buffer.from(octets.buffer, octets.byteOffset, octets.length).toString('latin1');
  if (response.chunkedEncoding) return void response.end(body, 'latin1');
  // PERF: Node writes a head together with a first string, but holds the write back until the end of the tick, and
  // `end` adds an empty one: two pieces to gather. Held here and let go at once, it is a single write.
  const { socket } = response;
  // Over TLS no write is done at once, and an `end` that did not wait for it would send the empty one after it.
  const waits = socket !== null && 'encrypted' in socket;
  const written = (error: unknown): void => {
    if (!error) response.end();
  };
  socket?.cork();
  response.write(body, 'latin1', waits ? written : undefined);
  socket?.uncork();
  if (!waits) response.end();
}

/** Whether everything was handed over; a stream that the client resets is ended by Node, and only says `aborted`. */
function isWhole(response: ClientResponse): boolean {
  return 'stream' in response ? !response.stream.aborted : response.writableFinished;
}

type Head = Pick<ResponseHead, 'status' | 'headers'>;

function writeHead(response: ServerResponse, { status, headers }: Head): void {
  if ('stream' in response) return void response.writeHead(status, grouped(headers));
  response.writeHead(status, headers as string[]);
}

/** HTTP/2 takes an object; a header sent several times is a list in it. */
function grouped(headers: HeaderList): Record<string, string | string[]> {
  const object: Record<string, string | string[]> = {};
  for (let at = 0; at < headers.length; at += 2) {
    const name = lowerName(headers[at]!);
    const before = object[name];
    const value = headers[at + 1]!;
    if (before === undefined) object[name] = value;
    else if (typeof before === 'string') object[name] = [before, value];
    else before.push(value);
  }
  return object;
}

function writeEarlyHints(response: ServerResponse, headers: HeaderList): void {
  const { link, ...rest } = grouped(headers);
  if (link === undefined || response.headersSent) return;
  const others = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, String(value)]));
  try {
    response.writeEarlyHints({ ...others, link });
  } catch (error) {
    // Node writes no links that it cannot read; a hint less does no harm, and the answer itself is still to come.
    if (!isInvalidArgument(error)) throw error;
  }
}

function isInvalidArgument(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_INVALID_ARG_VALUE';
}

function writeInformation(response: ServerResponse, headers: HeaderList): void {
  if (response.headersSent || !('stream' in response)) return;
  const stream = response.stream as import('node:http2').ServerHttp2Stream;
  if (!stream.destroyed) stream.additionalHeaders({ ':status': 103, ...grouped(headers) });
}

function addTrailers(response: ServerResponse, trailers: HeaderList): void {
  const pairs: [string, string][] = [];
  for (let at = 0; at < trailers.length; at += 2) pairs.push([trailers[at]!, trailers[at + 1]!]);
  if ('stream' in response) response.addTrailers(Object.fromEntries(pairs));
  else response.addTrailers(pairs);
}
