/**
 * Makes undici accept `100 Continue` from an origin as any other interim response (RFC 9110 §15.2). The edge sends origins no
 * `Expect`, but servers that answer every large body with 100 are common, and undici closes the connection on it. undici
 * accepts 102, which has no more effect on a client, so the last digit is changed before its parser reads the octets.
 */
import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

const CONTINUE = Buffer.from('HTTP/1.1 100', 'latin1');
/** Positions in `CONTINUE`. */
const MINOR_VERSION = 7;
const LAST_DIGIT = 11;
const LF = 0x0a;
const CR = 0x0d;
const TWO = 0x32;

/** The property of a socket with its reader. */
const READER = Symbol('reader of interim responses');

interface Watched extends Socket {
  [READER]?: InterimReader;
}

/** Changes 100 to 102 in the octets of a connection between a request and the head of its final response. */
interface InterimReader {
  /** A request was written: the next octet starts a response. */
  begin(): void;
  read(chunk: Uint8Array): void;
}

// undici publishes this in the tick in which it writes a request, before it reads any octet of the response.
subscribe('undici:client:sendHeaders', (message) => {
  (message as { readonly socket: Watched }).socket[READER]?.begin();
});

/** Makes undici read `100 Continue` on this connection as `102 Processing`. */
export function allowContinue(socket: Watched): void {
  const reader = createInterimReader();
  const read = socket.read.bind(socket);
  socket[READER] = reader;
  // undici reads every octet of a connection by `read`.
  socket.read = (size?: number): unknown => {
    const chunk: unknown = read(size);
    if (chunk !== null) reader.read(chunk as Uint8Array);
    return chunk;
  };
}

function createInterimReader(): InterimReader {
  /** `status`: within a status line; `head`: in the headers of an interim response; `off`: in or after a final response. */
  let state: 'off' | 'status' | 'head' = 'off';
  /** Octets of the status line so far, up to `LAST_DIGIT`. */
  let seen = 0;
  /** Whether the current header line has no octets yet. */
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
  /** Reads one octet of an interim response's headers. */
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
