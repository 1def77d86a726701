/**
 * How an answer moves through the node: pushed, piece by piece, from a source (an origin, the cache) through filters to
 * the client. Push and not streams, since a small proxied answer costs less than the streams it would pass through.
 */
import type { HeaderList } from './answer.ts';
import { lowerName } from './header-names.ts';

export type { EdgeAnswer, HeaderList } from './answer.ts';

/** Who made the status: pages for errors tell an origin's from the edge's own (semantics §5 error_page). */
export type MadeBy = 'edge' | 'origin';

export interface ResponseHead {
  readonly status: number;
  readonly headers: HeaderList;
  readonly madeBy: MadeBy;
}

/** Why no answer came, or why it ends early. */
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
] as const;
export type ResponseFaultCode = (typeof RESPONSE_FAULTS)[number];

/**
 * - `unresolved` its name has no address: nothing was sent
 * - `forbidden` its address is one that origins may not have: nothing was sent
 * - `refused`, `unreachable` no connection: nothing was sent
 * - `unreached` no connection in time: nothing was sent either
 * - `reset` the connection ended before the answer's head
 * - `timeout` the head did not come in time
 * - `malformed` what came is not HTTP
 * - `cut` the body ended early
 * - `aborted` the client is gone
 * - `body` the client's own body broke off or is malformed
 * - `busy` all connections to the origin were in use for too long: nothing was sent
 * - `slow` the client sends or takes fewer octets a second than it must
 */
export interface ResponseFault {
  readonly code: ResponseFaultCode;
  /** A sentence for the log; never shown to visitors. */
  readonly reason: string;
}

/** The status told of a client that left before it was answered; nginx made the number up. */
export const GONE = 499;

/** Where an answer comes from, as its taker sees it. `pause` and `resume` may be called in any number and order. */
export interface ResponseSource {
  pause(): void;
  resume(): void;
  /** The taker wants no more; nothing is pushed any more. */
  abort(): void;
}

/**
 * Takes one answer: any number of `informational`, one `head`, any number of `data`, one `end`; or `fail` at any point,
 * after which nothing comes. Chunks are the taker's to keep.
 */
export interface ResponseSink {
  /** 103 and the like. */
  informational(status: number, headers: HeaderList): void;
  head(head: ResponseHead, source: ResponseSource): void;
  data(chunk: Uint8Array): void;
  end(trailers: HeaderList): void;
  fail(fault: ResponseFault): void;
}

/** The value of a header, the values of one sent several times joined by `, `; `null` where there is none. */
export function headerOf(headers: HeaderList, name: string): string | null {
  let found: string | null = null;
  for (let at = 0; at < headers.length; at += 2) {
    const sent = headers[at]!;
    if (sent.length !== name.length || sent.toLowerCase() !== name) continue;
    found = found === null ? headers[at + 1]! : `${found}, ${headers[at + 1]!}`;
  }
  return found;
}

/** The list without the headers of these lower-case names. */
export function withoutHeaders(headers: HeaderList, names: ReadonlySet<string>): string[] {
  const kept: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    if (!names.has(lowerName(headers[at]!))) kept.push(headers[at]!, headers[at + 1]!);
  }
  return kept;
}
