/**
 * The interface by which responses move through the node: a source (an origin, the cache) pushes chunks through response
 * filters to the client. Push instead of Node's streams, which would cost more than a small proxied response itself.
 */
import type { RESPONSE_FAULT_CODES } from '../diagnostics/codes/faults.ts';
import { type HeaderList, lowerName } from './header-fields.ts';

/** Maximum number of octets pushed at once: TLS encrypts a whole write at once, also for a client that reads slowly. */
const PUSH_OCTETS = 256 * 1024;

export type { EdgeAnswer, HeaderList } from './header-fields.ts';

/** The origin of a status: error pages treat an origin's and the edge's own differently (semantics §5 error_page). */
export type MadeBy = 'edge' | 'origin';

/** The status and headers of a response. */
export interface ResponseHead {
  readonly status: number;
  readonly headers: HeaderList;
  readonly madeBy: MadeBy;
  /** The reason phrase (RFC 9112 §4) in visible ASCII, where it is not the usual one of the status. Absent: that one. */
  readonly reason?: string | undefined;
  /** The body ends with the connection, so its end and a broken connection cannot be distinguished. Absent: they can. */
  readonly isDoubtful?: boolean;
}

/** Why there is no response, or why it ends early (`ResponseFault`). */
export const RESPONSE_FAULTS = [
  'unresolved',
  'forbidden',
  'refused',
  'unreachable',
  'unreached',
  'reset',
  'timeout',
  'malformed',
  'cut',
  'aborted',
  'body',
  'busy',
  'slow',
] as const satisfies readonly (keyof typeof RESPONSE_FAULT_CODES)[];
export type ResponseFaultCode = (typeof RESPONSE_FAULTS)[number];

/** A failed exchange with an origin; `base/diagnostics/codes/faults.ts` has the meanings of the codes. */
export interface ResponseFault {
  readonly code: ResponseFaultCode;
  /** A sentence for the log; never shown to visitors. */
  readonly reason: string;
}

/** The logged status of a client that left before any response: nginx's 499. */
export const GONE = 499;

/**
 * The source of a response, as its sink controls it. `pause` and `resume` may be called in any number and order. Sources and
 * sinks may be instances of classes: their methods are called on them, and they are not spread.
 */
export interface ResponseSource {
  pause(): void;
  resume(): void;
  /** Ends the response; nothing is pushed after it. */
  abort(): void;
}

/**
 * Receives one response: any number of `informational`, one `head`, any number of `data`, one `end`; or `fail` at any point,
 * after which nothing follows. The sink may keep chunks without a copy.
 */
export interface ResponseSink {
  /** An interim response, such as 103 (RFC 9110 §15.2). */
  informational(status: number, headers: HeaderList): void;
  head(head: ResponseHead, source: ResponseSource): void;
  data(chunk: Uint8Array): void;
  end(trailers: HeaderList): void;
  fail(fault: ResponseFault): void;
}

/** The value of a header by its lower-case name, several joined by `, ` (RFC 9110 §5.3); `null`: the header is absent. */
export function headerOf(headers: HeaderList, name: string): string | null {
  let value: string | null = null;
  for (let at = 0; at < headers.length; at += 2) {
    const sent = headers[at]!;
    if (sent.length !== name.length || sent.toLowerCase() !== name) continue;
    value = value === null ? headers[at + 1]! : `${value}, ${headers[at + 1]!}`;
  }
  return value;
}

/** The list without the headers of these lower-case names. */
export function withoutHeaders(headers: HeaderList, names: ReadonlySet<string>): string[] {
  const others: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    if (!names.has(lowerName(headers[at]!))) others.push(headers[at]!, headers[at + 1]!);
  }
  return others;
}

// Pushes a response whose body is in memory.

/** The part of a response that a client gets: the whole, a range, or the head alone. */
export interface ResponsePart {
  readonly status: number;
  readonly headers: HeaderList;
  /** The octets of the body, `to` excluded; equal: none. `to` is `Infinity` if the length is unknown. */
  readonly from: number;
  readonly to: number;
}

/** Pushes head and body in chunks of `PUSH_OCTETS`, and pauses with the sink. PERF: one whole chunk is pushed uncopied. */
export function pushMemory(shaped: ResponsePart, body: Uint8Array, sink: ResponseSink): ResponseSource {
  let at = shaped.from;
  let paused = false;
  let over = false;
  let pushing = false;
  function push(): void {
    if (pushing || over) return;
    pushing = true;
    while (at < shaped.to && !paused && !over) {
      const until = Math.min(shaped.to, at + PUSH_OCTETS);
      const chunk = at === 0 && until === body.length ? body : body.subarray(at, until);
      at = until;
      sink.data(chunk);
    }
    pushing = false;
    if (over || at < shaped.to) return;
    over = true;
    sink.end([]);
  }
  const source: ResponseSource = {
    pause: () => {
      paused = true;
    },
    resume: () => {
      paused = false;
      push();
    },
    abort: () => {
      over = true;
    },
  };
  sink.head({ status: shaped.status, headers: shaped.headers, madeBy: 'origin' }, source);
  push();
  return source;
}
