/**
 * Serves one TCP connection (RFC 7766): requests one after the other, each answer written as fast as the peer reads. A
 * request without a valid signature is answered and ends the connection.
 */
import type { Socket } from 'node:net';
import type { AdmittedRequest, ZoneAnswer } from './answer.ts';
import { FINISH_MS, FIRST_REQUEST_MS, IDLE_MS, MAX_REQUEST_OCTETS, STALLED_MS } from './limits.ts';
import { HEADER_OCTETS } from './wire/message.ts';

/** What a connection does with its requests. */
export interface ConnectionHandler {
  /** `null`: the request gets no answer. */
  admit(octets: Buffer): AdmittedRequest | null;
  answer(request: Extract<AdmittedRequest, { readonly kind: 'signed' }>['request']): Promise<ZoneAnswer>;
  /** Called after the last message of an answer is written. */
  onAnswered(answer: ZoneAnswer, octets: number): void;
  /** Called for an error that is not the peer's. */
  onFault(error: unknown): void;
}

/**
 * Resolves when the connection is over; never rejects. Requests that the peer sends ahead wait in the socket: it is read
 * again only after the answer to the last request is written.
 */
export async function serveConnection(socket: Socket, handler: ConnectionHandler): Promise<void> {
  // Every error closes the socket, which ends the loop below.
  socket.on('error', () => undefined);
  socket.setNoDelay(true);
  try {
    await answerAll(socket, handler);
    await finish(socket);
  } catch (error) {
    // On a closed socket the peer is gone or was too slow: there is nobody to answer.
    if (!socket.destroyed) handler.onFault(error);
  } finally {
    socket.destroy();
  }
}

/** Answers requests until the peer sends no more, or one that ends the connection. */
async function answerAll(socket: Socket, handler: ConnectionHandler): Promise<void> {
  // Octets do not extend it: a request that trickles in would occupy the place for ever.
  let deadline = destroyAfter(socket, FIRST_REQUEST_MS);
  let rest: Buffer = EMPTY;
  try {
    for await (const chunk of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      while (hasFrame(rest)) {
        const size = LENGTH_OCTETS + rest.readUInt16BE(0);
        clearTimeout(deadline);
        if (!(await exchange(socket, rest.subarray(LENGTH_OCTETS, size), handler))) return;
        deadline = destroyAfter(socket, IDLE_MS);
        rest = rest.subarray(size);
      }
      if (hasBadLength(rest)) return;
    }
  } finally {
    clearTimeout(deadline);
  }
}

const EMPTY = Buffer.alloc(0);
/** A message over TCP has its length before it (RFC 1035 §4.2.2). */
const LENGTH_OCTETS = 2;

/** Whether the first message is there as a whole. */
function hasFrame(octets: Buffer): boolean {
  const isComplete =
    octets.length >= LENGTH_OCTETS && octets.length >= LENGTH_OCTETS + octets.readUInt16BE(0);
  return isComplete && !hasBadLength(octets);
}

/** Whether the first message has a length that no request has. */
function hasBadLength(octets: Buffer): boolean {
  if (octets.length < LENGTH_OCTETS) return false;
  const length = octets.readUInt16BE(0);
  return length < HEADER_OCTETS || length > MAX_REQUEST_OCTETS;
}

/** Answers one request; false: the connection ends. */
async function exchange(socket: Socket, octets: Buffer, handler: ConnectionHandler): Promise<boolean> {
  const admitted = handler.admit(octets);
  if (admitted === null) return false;
  const answer = admitted.kind === 'answered' ? admitted.answer : await handler.answer(admitted.request);
  let sent = 0;
  for (const message of answer.messages) {
    const length = Buffer.from([message.length >> 8, message.length & 255]);
    await writeTo(socket, Buffer.concat([length, message]));
    sent += message.length;
  }
  handler.onAnswered(answer, sent);
  return admitted.kind === 'signed';
}

/** Resolves when the socket accepts more. @throws Error the connection is over */
function writeTo(socket: Socket, octets: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    if (socket.destroyed) return reject(new Error('the connection is closed'));
    const stalled = destroyAfter(socket, STALLED_MS);
    const settle = (): void => {
      clearTimeout(stalled);
      socket.off('drain', settle).off('close', settle);
      if (socket.destroyed) reject(new Error('the connection is closed'));
      else resolve();
    };
    socket.on('close', settle);
    if (socket.write(octets)) settle();
    else socket.on('drain', settle);
  });
}

/** Sends what is written and the end, and discards what the peer still sends: unread octets would reset the connection. */
async function finish(socket: Socket): Promise<void> {
  if (socket.destroyed) return;
  const deadline = destroyAfter(socket, FINISH_MS);
  await new Promise<void>((resolve) => {
    socket.once('close', () => resolve());
    socket.end();
    socket.resume();
  });
  clearTimeout(deadline);
}

function destroyAfter(socket: Socket, milliseconds: number): NodeJS.Timeout {
  return setTimeout(() => socket.destroy(), milliseconds);
}
