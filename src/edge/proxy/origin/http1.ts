/** Parts of HTTP/1.1 responses of origins that undici does not handle: interim responses and transfer codings. */
import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { createGunzip, createInflate } from 'node:zlib';
import { lowerName } from '../../../base/http/header-fields.ts';
import { type HeaderList, headerOf } from '../../../base/http/response.ts';

const CONTINUE = Buffer.from('HTTP/1.1 100', 'latin1');
/** Positions in `CONTINUE`. */
const MINOR_VERSION = 7;
const LAST_DIGIT = 11;
const LF = 0x0a;
const CR = 0x0d;
const TWO = 0x32;
/** In lower case. */
const CONNECTION = Buffer.from('connection', 'latin1');
/** Replaces the last octet of the name. */
const UNDERSCORE = 0x5f;
const LOWER = 0x20;

/** Names that no interim response has: the changed one, and the length of a body (RFC 9110 §8.6), which ends an HTTP/2 stream. */
const MEANINGLESS: ReadonlySet<string> = new Set(['connectio_', 'content-length']);

/** The headers of an interim response that its client may get. */
export function interimHeaders(headers: HeaderList): HeaderList {
  const passed: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    if (!MEANINGLESS.has(lowerName(headers[at]!))) passed.push(headers[at]!, headers[at + 1]!);
  }
  return passed;
}

/** The property of a socket with its reader. */
const READER = Symbol('reader of interim responses');

interface Watched extends Socket {
  [READER]?: InterimReader;
}

/** Changes the octets of a connection between a request and the head of its final response. */
interface InterimReader {
  /** A request was written: the next octet starts a response. */
  begin(): void;
  read(chunk: Uint8Array): void;
}

// undici publishes this in the tick in which it writes a request, before it reads any octet of the response.
subscribe('undici:client:sendHeaders', (message) => {
  (message as { readonly socket: Watched }).socket[READER]?.begin();
});

/** Makes undici read the interim responses of this connection, 100 among them, as 102 and 103. */
export function acceptInterim(socket: Watched): void {
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
  /** Octets of the current line that are those of `CONNECTION`; -1: it has another name. */
  let named = -1;

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
  function head(chunk: Uint8Array, at: number): void {
    const octet = chunk[at]!;
    if (octet === LF) {
      if (bare) begin();
      bare = true;
      named = 0;
    } else if (octet !== CR) {
      bare = false;
      if (named >= 0) name(chunk, at);
    }
  }
  /** Reads one octet of a line that may be `Connection`. */
  function name(chunk: Uint8Array, at: number): void {
    named = (chunk[at]! | LOWER) === CONNECTION[named] ? named + 1 : -1;
    if (named < CONNECTION.length) return;
    chunk[at] = UNDERSCORE;
    named = -1;
  }
  function begin(): void {
    state = 'status';
    seen = 0;
    bare = false;
    named = -1;
  }
  return {
    begin,
    read(chunk) {
      for (let at = 0; at < chunk.length && state !== 'off'; at++) {
        if (state === 'status') status(chunk, at);
        else head(chunk, at);
      }
    },
  };
}

// Transfer codings of an origin's response (RFC 9112 §7). In: its headers, and its body as undici pushes it, without
// `chunked`. Out: the body without `gzip` or `deflate`, which belong to the connection to the origin alone: the edge requests
// no transfer coding, and the field that names it is hop-by-hop.

/** `none`: besides `chunked`; `unknown`: one that the edge cannot remove, or several in another order than theirs. */
export type TransferCoding = 'none' | 'gzip' | 'deflate' | 'unknown';

const CODINGS: ReadonlyMap<string, TransferCoding> = new Map([
  ['', 'none'],
  ['identity', 'none'],
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate', 'deflate'],
]);

/** The coding of a body besides `chunked`, which is the last one or absent. */
export function transferCodingOf(headers: HeaderList): TransferCoding {
  const sent = headerOf(headers, 'transfer-encoding');
  if (sent === null || sent === 'chunked') return 'none';
  const names = sent
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (names.at(-1) === 'chunked') names.pop();
  return names.length > 1 ? 'unknown' : (CODINGS.get(names[0] ?? '') ?? 'unknown');
}

/** Whether a body ends with its connection (RFC 9112 §6.3), since it has neither a length nor chunks. */
export function endsByClose(headers: HeaderList): boolean {
  if (headerOf(headers, 'content-length') !== null) return false;
  const coding = headerOf(headers, 'transfer-encoding');
  return coding === null || !/chunked\s*$/i.test(coding);
}

/** Where a decoder pushes the body: later than its coded octets are written. */
export interface DecodedBody {
  data(chunk: Uint8Array): void;
  end(trailers: HeaderList): void;
  /** The coding is broken, or ends early. */
  fault(reason: string): void;
  /** The decoder takes octets again. */
  onRoom(): void;
}

/** Removes a coding from a body. */
export interface TransferDecoder {
  /** @returns `false`: no more octets until `onRoom` */
  write(chunk: Uint8Array): boolean;
  end(trailers: HeaderList): void;
  pause(): void;
  resume(): void;
  close(): void;
}

export function createTransferDecoder(coding: 'gzip' | 'deflate', body: DecodedBody): TransferDecoder {
  const inflater = coding === 'gzip' ? createGunzip() : createInflate();
  let trailers: HeaderList = [];
  inflater.on('data', (chunk: Buffer) => body.data(chunk));
  inflater.on('end', () => body.end(trailers));
  inflater.on('error', (error) => body.fault(`the transfer coding ${coding} is broken: ${error.message}`));
  inflater.on('drain', () => body.onRoom());
  return {
    write: (chunk) => inflater.write(chunk),
    end(sent) {
      trailers = sent;
      inflater.end();
    },
    pause: () => void inflater.pause(),
    resume: () => void inflater.resume(),
    close: () => void inflater.destroy(),
  };
}
