/**
 * Reads request bodies. In: a client's message. Out: the octets that rules inspect, inflated if they are compressed, and
 * the body for the origin or application.
 */
import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import { type BodyFault, brokenOff, tooSlow } from '../../base/buffers/client-body.ts';
import type { RateBounds } from '../../base/buffers/limits.ts';
import { createPace } from '../../base/buffers/pace.ts';
import type { ClientRequest } from '../../base/http/client-messages.ts';
import {
  type CodingFault,
  codedOctets,
  codingOf,
  type Inflated,
  inspectedPart,
} from '../decide/content-coding.ts';
import type { InspectedBody } from '../decide/request-context.ts';

/** The octets read of a body, and whether they are all of it. */
export interface ReadPart {
  readonly read: Buffer;
  readonly ended: boolean;
}

/**
 * Reads a body until `wanted` octets can be inspected, or all of it when it is shorter.
 * @throws BodyFault when the client breaks off or is too slow
 */
export async function inspectBody(
  message: ClientRequest,
  wanted: number,
  rate: RateBounds,
): Promise<InspectedBody & { readonly outgoing: ReadPart }> {
  const coding = codingOfMessage(message);
  const { chunks, ended } = await readUpTo(message, codedOctets(coding, wanted), rate);
  const read = Buffer.concat(chunks);
  const seen = await inspectedPart(read, coding, { wanted, ended, inflate });
  return { ...seen, outgoing: { read, ended } };
}

/**
 * As `inspectBody`, but puts the octets back: the next reader of the message gets the whole body.
 * @throws Error when the client breaks off
 */
export async function peekBody(
  message: ClientRequest,
  wanted: number,
): Promise<InspectedBody & { readonly outgoing: ClientRequest }> {
  // Octets that arrived with the head are parsed by then: reading an empty stream would emit its end at once.
  await Promise.resolve();
  const coding = codingOfMessage(message);
  const { read, ended } = await readAndPutBack(message, codedOctets(coding, wanted));
  return { ...(await inspectedPart(read, coding, { wanted, ended, inflate })), outgoing: message };
}

function codingOfMessage(message: ClientRequest): string {
  return codingOf(String(message.headers['content-encoding'] ?? ''));
}

/**
 * Reads by `readable` and never past the last octet: after a stream has emitted its end nothing can be put back, and a read
 * of an empty stream emits the end at once.
 */
function readAndPutBack(message: ClientRequest, wanted: number): Promise<ReadPart> {
  const length = Number(message.headers['content-length'] ?? Number.POSITIVE_INFINITY);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let octets = 0;
    const isRead = (): boolean =>
      octets >= Math.min(wanted, length) || (hasArrived(message) && message.readableLength === 0);
    const stop = (): void => {
      message.off('readable', onReadable).off('error', onError).off('close', onClose);
    };
    const settle = (): void => {
      const read = Buffer.concat(chunks);
      const ended = octets >= length || (message.complete && message.readableLength === 0);
      if (read.length > 0) message.unshift(read);
      stop();
      resolve({ read, ended });
    };
    const onReadable = (): void => {
      while (octets < wanted && message.readableLength > 0) {
        const chunk: Buffer | null = message.read();
        if (chunk === null) break;
        chunks.push(chunk);
        octets += chunk.length;
      }
      if (isRead()) settle();
    };
    const onError = (error: Error): void => {
      stop();
      reject(error);
    };
    const onClose = (): void => onError(new Error('the client went away within its body'));
    if (message.destroyed) onClose();
    else if (isRead()) settle();
    else message.on('readable', onReadable).on('error', onError).on('close', onClose);
  });
}

/** The chunks read of a body, and whether they are all of it. */
export interface ReadChunks {
  readonly chunks: readonly Buffer[];
  readonly ended: boolean;
}

/** Whether all of a body has arrived, read or not; HTTP/2 sets `complete` only after the stream has emitted its end. */
function hasArrived(message: ClientRequest): boolean {
  return 'stream' in message ? message.stream.readableEnded : message.complete;
}

/** A whole body of at most `most` octets; `null`: it is longer, or the client broke off or is too slow. Never rejects. */
export async function readBody(
  message: ClientRequest,
  most: number,
  rate: RateBounds,
): Promise<Uint8Array | null> {
  if (message.readableEnded) return new Uint8Array(0);
  const part = await readUpTo(message, most + 1, rate).catch(() => null);
  if (part === null) return null;
  const read = Buffer.concat(part.chunks);
  return read.length > most ? null : read;
}

/** Reads at least `wanted` octets, or to the end. @throws BodyFault */
export function readUpTo(message: ClientRequest, wanted: number, rate: RateBounds): Promise<ReadChunks> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let octets = 0;
    const stop = (): void => {
      pace.end();
      message.off('data', onData).off('end', onEnd).off('error', onError).off('close', onError);
    };
    const settle = (ended: boolean): void => {
      stop();
      if (!ended) message.pause();
      resolve({ chunks, ended });
    };
    const fail = (fault: BodyFault): void => {
      stop();
      message.pause();
      // A further error of the stream without a listener would end the process.
      message.on('error', ignore);
      reject(fault);
    };
    const onData = (chunk: Buffer): void => {
      chunks.push(chunk);
      octets += chunk.length;
      pace.move(chunk.length);
      if (octets >= wanted) settle(message.readableEnded);
    };
    const onEnd = (): void => settle(true);
    const onError = (): void => fail(brokenOff());
    const pace = createPace({ bounds: rate, onSlow: (reason) => fail(tooSlow(reason)) });
    message.on('data', onData).on('end', onEnd).on('error', onError).on('close', onError);
    pace.wait();
  });
}

function ignore(): void {}

interface Inflater extends Transform {
  /** Octets of coded input that were consumed. */
  readonly bytesWritten: number;
}

type CreateInflater = () => Inflater;

/** Node has it from 22.15 on. */
const { createZstdDecompress } = zlib as { readonly createZstdDecompress?: CreateInflater };

/** By coding, what may inflate it, in order: `deflate` is sent in its zlib format (RFC 9110 §8.4.1.2) and without. */
const INFLATERS: Readonly<Record<string, readonly CreateInflater[]>> = {
  gzip: [zlib.createGunzip],
  'x-gzip': [zlib.createGunzip],
  deflate: [zlib.createInflate, zlib.createInflateRaw],
  br: [zlib.createBrotliDecompress],
  ...(createZstdDecompress === undefined ? {} : { zstd: [createZstdDecompress] }),
};

/** Inflates up to `most` octets of one coding; octets that do not inflate are returned as they are. */
export async function inflate(bytes: Buffer, coding: string, most: number): Promise<Inflated<Buffer>> {
  let found: Inflated<Buffer> = { octets: bytes, fault: 'unknown' };
  for (const create of Object.hasOwn(INFLATERS, coding) ? INFLATERS[coding]! : []) {
    found = await inflateWith(create(), bytes, most);
    if (found.fault !== 'broken') break;
  }
  return found;
}

function inflateWith(stream: Inflater, bytes: Buffer, most: number): Promise<Inflated<Buffer>> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let octets = 0;
    const settle = (fault: CodingFault | null): void => {
      stream.destroy();
      resolve({ octets: octets === 0 && fault !== null ? bytes : Buffer.concat(chunks), fault });
    };
    stream.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      octets += chunk.length;
      if (octets >= most) settle(null);
    });
    // zlib ignores octets after the end of the coded data, which an origin may read.
    stream.on('end', () => settle(stream.bytesWritten < bytes.length ? 'brokenOff' : null));
    stream.on('error', () => settle(octets === 0 ? 'broken' : 'brokenOff'));
    stream.end(bytes);
  });
}
