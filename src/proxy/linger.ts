/**
 * Answers that come before their requests have ended: an upload that is refused, or that its origin does not want whole.
 * A connection that is closed while its client still sends is reset by the kernel, and takes the answer with it
 * (RFC 9112 §9.6): so what is still sent is read and thrown away for a while, then the connection ends.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { LINGER_MS } from './limits.ts';

/** Sees to it that a client that sends a body gets to read its answer. */
export function lingerOver(message: IncomingMessage, response: ServerResponse): void {
  const { socket } = message;
  // Node's own end of a connection, once its last answer is handed to the kernel, does not wait for the client.
  socket.destroySoon = () => {
    Reflect.deleteProperty(socket, 'destroySoon');
    if (message.complete) return socket.destroySoon();
    socket.end();
    message.once('end', () => socket.destroy());
  };
  response.once('finish', () => {
    if (message.complete) return;
    message.unpipe();
    message.resume();
    const late = setTimeout(() => socket.destroy(), LINGER_MS);
    message.once('end', () => clearTimeout(late));
    message.once('close', () => clearTimeout(late));
  });
  message.once('end', () => Reflect.deleteProperty(socket, 'destroySoon'));
}

/** Ends a connection within `ms` whose last octets are written, and that no server watches any more. */
export function endSoon(socket: Duplex, ms = LINGER_MS): void {
  // What a client still sends, its end included, would not be seen.
  socket.resume();
  const late = setTimeout(() => socket.destroy(), ms);
  socket.once('close', () => clearTimeout(late));
}
