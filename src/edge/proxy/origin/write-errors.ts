/**
 * A server that refuses an upload early responds, closes, and resets the connection for what still arrives (RFC 9112 §9.6).
 * Which of the two a client finds first is a race: Node destroys a connection at the first failed write, with the response
 * unread in the kernel. Here a failed write waits until the connection is read to its end.
 */
import type { Socket } from 'node:net';
import { LINGER_MS } from '../limits.ts';

type WriteDone = (error?: Error | null) => void;

/** The method of Node's sockets behind `write`, for one chunk and for several. */
interface GenericWriter extends Socket {
  _writeGeneric(isSeveral: boolean, data: unknown, encoding: string, done: WriteDone): void;
}

/** Postpones the write errors of a connection until its end, its own error, or a time without an octet. */
export function postponeWriteErrors(socket: Socket): void {
  const writer = socket as GenericWriter;
  const write = writer._writeGeneric;
  // PERF: Node passes one function with all writes of a socket.
  let passed: WriteDone | null = null;
  let judged: WriteDone = nothing;
  writer._writeGeneric = (isSeveral, data, encoding, done) => {
    if (done !== passed) {
      passed = done;
      judged = (error) => {
        if (error instanceof Error && !socket.readableEnded) postpone(socket, error);
        else done(error);
      };
    }
    write.call(writer, isSeveral, data, encoding, judged);
  };
}

/** The write stays pending, so that nothing more is written. The reader of the socket destroys it at its end. */
function postpone(socket: Socket, error: Error): void {
  socket.setTimeout(LINGER_MS, () => socket.destroy(error));
}

function nothing(): void {}
