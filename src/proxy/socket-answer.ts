/** An answer on a connection that Node's server has handed over, as it does when a client asks to switch protocols. */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { EdgeAnswer } from '../http/response.ts';
import { endSoon } from './linger.ts';

export function answerOnSocket(socket: Duplex, { status, headers, body }: EdgeAnswer): void {
  if (socket.destroyed) return;
  const bytes = typeof body === 'string' ? Buffer.from(body, 'utf8') : (body ?? Buffer.alloc(0));
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`];
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`);
  lines.push(`Content-Length: ${bytes.length}`, 'Connection: close', '', '');
  // A client that is gone has nothing to be told.
  socket.on('error', () => undefined);
  socket.end(Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), bytes]));
  endSoon(socket);
}
