/**
 * Transfer codings of an origin's response (RFC 9112 §7). In: its headers, and its body as undici pushes it, without
 * `chunked`. Out: the body without `gzip` or `deflate`, which belong to the connection to the origin alone: the edge requests
 * no transfer coding, and the field that names it is hop-by-hop.
 */
import { createGunzip, createInflate } from 'node:zlib';
import { type HeaderList, headerOf } from '../../../base/http/response.ts';

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
