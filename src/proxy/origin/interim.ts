/**
 * Makes `100 Continue` of an origin an interim answer like any other (RFC 9110 §15.2). The edge sends origins no `Expect`,
 * but servers that answer 100 to every large body are common, and undici ends the connection at it. It accepts 102, with
 * which a client does just as little; so the last digit is changed before its parser reads the octets.
 */
import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

const CONTINUE = Buffer.from('HTTP/1.1 100', 'latin1');
const MINOR_VERSION = 7;
const LAST_DIGIT = 11;
const LF = 0x0a;
const CR = 0x0d;
const TWO = 0x32;

const READER = Symbol('reader of interim answers');

interface Watched extends Socket {
  [READER]?: InterimReader;
}

/** Changes 100 to 102 in what is read from a connection between a request and the head of its final answer. */
interface InterimReader {
  /** A request was written: answers begin with the next octet. */
  begin(): void;
  read(chunk: Uint8Array): void;
}

// Published in the tick in which a request is written, before anything of its answer is read.
subscribe('undici:client:sendHeaders', (message) => {
  (message as { readonly socket: Watched }).socket[READER]?.begin();
});

/** Has undici read `100 Continue` on this connection as `102 Processing`. */
export function allowContinue(socket: Watched): void {
  const reader = createInterimReader();
  const read = socket.read.bind(socket);
  socket[READER] = reader;
  // undici takes every octet of a connection by `read`.
  socket.read = (size?: number): unknown => {
    const chunk: unknown = read(size);
    if (chunk !== null) reader.read(chunk as Uint8Array);
    return chunk;
  };
}

function createInterimReader(): InterimReader {
  /** `off`: within a final answer, or after it. */
  let state: 'off' | 'status' | 'head' = 'off';
  /** Octets of the status line before this one, as far as they are of interest. */
  let seen = 0;
  /** Whether the line that is read has no octets yet. */
  let bare = false;

  /** Reads one octet of a status line. */
  function status(chunk: Uint8Array, at: number): void {
    const octet = chunk[at]!;
    if (seen === 0 && (octet === CR || octet === LF)) return;
    if (seen === LAST_DIGIT) {
      if (octet === CONTINUE[LAST_DIGIT]) chunk[at] = TWO;
      state = 'head';
    } else if (seen !== MINOR_VERSION && octet !== CONTINUE[seen]) state = 'off';
    seen++;
  }
  /** Reads one octet of the rest of an interim answer's head. */
  function head(octet: number): void {
    if (octet !== LF) {
      if (octet !== CR) bare = false;
      return;
    }
    if (bare) begin();
    bare = true;
  }
  function begin(): void {
    state = 'status';
    seen = 0;
    bare = false;
  }
  return {
    begin,
    read(chunk) {
      for (let at = 0; at < chunk.length && state !== 'off'; at++) {
        if (state === 'status') status(chunk, at);
        else head(chunk[at]!);
      }
    },
  };
}
