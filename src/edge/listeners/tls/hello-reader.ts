/**
 * Assembles a ClientHello from TLS records (RFC 8446 §5.1). In: the first octets of a connection. Out: the handshake message,
 * which may be spread over any number of records, and each record over any number of segments.
 */
import { MAX_HELLO_OCTETS } from '../../proxy/limits.ts';
import type { PreambleStep } from '../preamble.ts';

/** Octets of a record's header: type, version, length. */
const RECORD_HEADER = 5;
const HANDSHAKE = 22;
/** Octets of a record's content at most. */
const MAX_RECORD = 16_384;
const CLIENT_HELLO = 1;
/** Octets of a handshake message's header: type, length. */
const MESSAGE_HEADER = 4;

/** A reader for one connection: returns the handshake message with its header, and uses no octet of the connection. */
export function createHelloReader(): (octets: Buffer) => PreambleStep<Uint8Array> {
  /** The start of the first record that is not assembled yet. */
  let at = 0;
  /** The message so far: the first `length` octets of the buffer. */
  let length = 0;
  let message: Buffer = Buffer.alloc(0);

  function add(content: Buffer): void {
    if (length === 0) message = content;
    else {
      if (length + content.length > message.length) {
        const room = Buffer.allocUnsafe(Math.max(2 * message.length, length + content.length));
        message.copy(room, 0, 0, length);
        message = room;
      }
      content.copy(message, length);
    }
    length += content.length;
  }

  return (octets) => {
    while (octets.length - at >= RECORD_HEADER) {
      const size = octets.readUInt16BE(at + 3);
      if (octets[at] !== HANDSHAKE || octets[at + 1] !== 3) return refuse('this is not TLS');
      if (size === 0 || size > MAX_RECORD) return refuse('a TLS record has a length that none may have');
      if (octets.length - at < RECORD_HEADER + size) break;
      add(octets.subarray(at + RECORD_HEADER, at + RECORD_HEADER + size));
      at += RECORD_HEADER + size;
      if (message[0] !== CLIENT_HELLO) return refuse('the first message is no ClientHello');
      if (length < MESSAGE_HEADER) continue;
      const whole = MESSAGE_HEADER + message.readUIntBE(1, 3);
      if (whole > MAX_HELLO_OCTETS)
        return refuse(`the ClientHello is longer than ${MAX_HELLO_OCTETS} octets`);
      if (length >= whole) return { ok: true, value: message.subarray(0, whole), used: 0 };
    }
    return octets[0] === HANDSHAKE ? 'more' : refuse('this is not TLS');
  };
}

function refuse(reason: string): PreambleStep<Uint8Array> {
  return { ok: false, reason };
}
