/**
 * Lingering close, for responses before the end of their request: an upload that is refused, or that its origin does not
 * read to the end. The kernel resets a connection that is closed while its client still sends, and the client loses the
 * response (RFC 9112 §9.6). So what the client still sends is read and discarded for a while before the connection ends.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { LINGER_MS } from './limits.ts';

/** Lets a client that sends a body read its response before the connection closes. */
export function lingerOver(message: IncomingMessage, response: ServerResponse): void {
  const { socket } = message;
  // Node itself ends a connection once the kernel has its last response, without waiting for the client.
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
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    message.once('end', () => clearTimeout(timer));
    message.once('close', () => clearTimeout(timer));
  });
  message.once('end', () => Reflect.deleteProperty(socket, 'destroySoon'));
}

/** Ends a connection within `ms`, once its last octets are written and no server handles it any more. */
export function endSoon(socket: Duplex, ms = LINGER_MS): void {
  // A paused socket would not report what the client still sends, nor its end.
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), ms);
  socket.once('close', () => clearTimeout(timer));
}
