/** Octets as they go over a connection: what a client says that no client should, and origins that answer the same way. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** Everything that comes on a connection until it is closed, in Latin-1. */
export async function textOf(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  // A connection that breaks is told by `close`.
  socket.on('error', () => undefined);
  if (!socket.closed) await new Promise((resolve) => socket.on('close', resolve));
  return Buffer.concat(chunks).toString('latin1');
}

/** Sends, and reads what comes until the connection is closed. */
export function say(port: number, octets: string | Buffer): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const text = textOf(socket);
  socket.write(typeof octets === 'string' ? Buffer.from(octets, 'latin1') : octets);
  return text;
}

/** The status of each answer on a connection, in order; empty: none came. */
export function statusesOf(text: string): readonly number[] {
  return [...text.matchAll(/HTTP\/1\.[01] (\d{3}) /g)].map(([, status]) => Number(status));
}

/** A connection to an origin, whose first request's path is known. */
export interface Asked {
  readonly path: string;
  readonly method: string;
  readonly socket: Socket;
  /** What the origin was asked before, over all connections, for this path. */
  readonly before: number;
}

export interface RawOrigin {
  readonly port: number;
  /** Method and path of every request that came, in order. */
  readonly seen: string[];
  /** Connections that are open now. */
  readonly open: ReadonlySet<Socket>;
  /** Connections that were made, ever. */
  readonly made: () => number;
  close(): Promise<void>;
}

/** An origin that reads heads only and answers each with whatever octets the test gives it. */
export async function startRawOrigin(
  answer: (asked: Asked) => void,
  { port = 0, address = '127.0.0.1' }: { readonly port?: number; readonly address?: string } = {},
): Promise<RawOrigin> {
  const seen: string[] = [];
  const open = new Set<Socket>();
  let made = 0;
  const server: Server = createServer((socket) => {
    made++;
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => undefined);
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      for (let end = text.indexOf('\r\n\r\n'); end >= 0; end = text.indexOf('\r\n\r\n')) {
        const [, method = '', path = ''] = /^([A-Z]+) (\S+) HTTP\/1\.1\r\n/.exec(text) ?? [];
        text = text.slice(end + 4);
        if (method === '') continue;
        const one = `${method} ${path}`;
        const before = seen.filter((other) => other === one).length;
        seen.push(one);
        answer({ method, path, socket, before });
      }
      // Bodies are of no interest.
      if (text.length > 65_536) text = text.slice(-3);
    });
  });
  server.listen(port, address);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    seen,
    open,
    made: () => made,
    async close() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
