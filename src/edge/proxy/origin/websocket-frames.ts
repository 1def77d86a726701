/**
 * The octets of WebSockets that a proxy has to know (RFC 6455). In: octets of one direction. Out: where its frames end, and
 * whether a Close was among them; payloads are skipped unread. Also the frames and handshake values that the edge sends.
 */
import { createHash, randomBytes } from 'node:crypto';

/** Follows the frames of one direction (RFC 6455 §5.2). */
export interface FrameReader {
  /**
   * Reads octets up to the end of a frame, or of the chunk.
   * @param at the first octet to read
   * @returns the position behind the octets read
   */
  next(chunk: Uint8Array, at: number): number;
  /** Whether the next octet begins a frame: another one may be sent here, also between the fragments of a message (§5.4). */
  isBetween(): boolean;
  /** Whether a Close has passed: nothing may follow it (§5.5.1). */
  isClosed(): boolean;
}

const CLOSE = 8;
const OPCODE = 0x0f;
const MASKED = 0x80;
const LENGTH = 0x7f;
/** Values of the 7-bit length that announce 2 and 8 octets of length. */
const LENGTH_16 = 126;
const LENGTH_64 = 127;
const MASK_OCTETS = 4;
/** Octets of the longest head: two, eight of length, four of a mask. */
const MAX_HEAD = 14;

/** A reader before the first frame. */
export function createFrameReader(): FrameReader {
  const head = new Uint8Array(MAX_HEAD);
  /** Octets of the head so far, and all that it has; 2 until the second octet is read. */
  let read = 0;
  let wanted = 2;
  /** Octets of the payload that are still to come; infinite: a length that no frame may have. */
  let payload = 0;
  let closed = false;

  /** Adds an octet of the head. @returns whether the head is complete */
  function readHead(octet: number): boolean {
    head[read++] = octet;
    if (read === 2) wanted = 2 + lengthOctets(octet & LENGTH) + ((octet & MASKED) === 0 ? 0 : MASK_OCTETS);
    if (read < wanted) return false;
    payload = payloadOf(head);
    return true;
  }

  /** The frame has ended. */
  function end(): void {
    closed ||= (head[0]! & OPCODE) === CLOSE;
    read = 0;
    wanted = 2;
  }

  return {
    next(chunk, from) {
      let at = from;
      while (read < wanted && at < chunk.length) {
        if (readHead(chunk[at++]!) && payload === 0) {
          end();
          return at;
        }
      }
      if (at === chunk.length) return at;
      const skipped = Math.min(payload, chunk.length - at);
      payload -= skipped;
      if (payload === 0) end();
      return at + skipped;
    },
    isBetween: () => read === 0,
    isClosed: () => closed,
  };
}

/** Octets of the extended length. */
function lengthOctets(length: number): number {
  if (length === LENGTH_16) return 2;
  return length === LENGTH_64 ? 8 : 0;
}

/** The length of the payload by the head of a frame. */
function payloadOf(head: Uint8Array): number {
  const length = head[1]! & LENGTH;
  const octets = lengthOctets(length);
  if (octets === 0) return length;
  let total = 0;
  for (let at = 2; at < 2 + octets; at++) total = total * 256 + head[at]!;
  // The frame would last for ever: nothing is inserted into what follows it.
  return Number.isSafeInteger(total) ? total : Number.POSITIVE_INFINITY;
}

/** Going away: a server goes down (§7.4.1). */
const GOING_AWAY = [1001 >> 8, 1001 & 0xff] as const;

/** A Close with status 1001. @param masked as frames of clients are (§5.3) */
export function goingAway(masked: boolean): Uint8Array {
  if (!masked) return Uint8Array.of(0x80 | CLOSE, GOING_AWAY.length, ...GOING_AWAY);
  const mask = randomBytes(MASK_OCTETS);
  const payload = GOING_AWAY.map((octet, at) => octet ^ mask[at]!);
  return Uint8Array.of(0x80 | CLOSE, MASKED | GOING_AWAY.length, ...mask, ...payload);
}

/** A Sec-WebSocket-Key for a client that sends none (§4.1). */
export function createKey(): string {
  return randomBytes(16).toString('base64');
}

/** The Sec-WebSocket-Accept by which a server confirms a key (§4.2.2). */
export function acceptOf(key: string): string {
  return createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
}
