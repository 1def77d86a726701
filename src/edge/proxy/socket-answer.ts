/** Responses on raw connections: those that Node's server hands over when a client requests another protocol. */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { EdgeAnswer } from '../../base/http/response.ts';
import { endSoon } from './linger.ts';

/** Writes a whole response of HTTP/1.1, and ends the connection. */
export function answerOnSocket(socket: Duplex, { status, headers, body }: EdgeAnswer): void {
  if (socket.destroyed) return;
  const bytes = typeof body === 'string' ? Buffer.from(body, 'utf8') : (body ?? Buffer.alloc(0));
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`];
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`);
  lines.push(`Content-Length: ${bytes.length}`, 'Connection: close', '', '');
  // An error means that the client has left.
  socket.on('error', () => undefined);
  socket.end(Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), bytes]));
  endSoon(socket);
}
