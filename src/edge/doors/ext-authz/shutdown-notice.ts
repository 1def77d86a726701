/**
 * The first GOAWAY of a graceful shutdown (RFC 9113 §6.8): it names the highest stream, so that calls on their way are served.
 *
 * `session.goaway()` of Node cannot send it: nghttp2 ignores every stream that comes after a GOAWAY of its own, unless it was
 * submitted as a shutdown notice, which Node does not offer. So the frame goes to the socket past the session.
 */
import { writeSync } from 'node:fs';
import type { Socket } from 'node:net';

/** Eight octets of the type GOAWAY on stream 0: the highest stream, and NO_ERROR. */
const NOTICE = Buffer.from([0, 0, 8, 7, 0, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0]);

/** What Node's handle of a socket has and its types lack. */
interface SocketInternals {
  readonly _handle: { readonly fd?: number; readonly writeQueueSize?: number } | null;
}

/**
 * Sends the notice on a socket without TLS whose session has sent its settings.
 * @returns `false`: nothing was sent, because the client does not read or the socket has no file descriptor
 */
export function sendShutdownNotice(socket: Socket): boolean {
  const { _handle: handle } = socket as unknown as SocketInternals;
  const { fd = -1, writeQueueSize } = handle ?? {};
  // INVARIANT: a session writes whole frames, so the notice falls between two frames unless a part of one is queued.
  if (fd < 0 || writeQueueSize !== 0) return false;
  let written = 0;
  try {
    written = writeSync(fd, NOTICE);
  } catch {
    // The buffer is full (EAGAIN), or the connection has ended.
  }
  if (written > 0 && written < NOTICE.length) socket.destroy();
  return written > 0;
}
