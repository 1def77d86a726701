/** An origin of WebSockets whose sockets a test has in its hands. */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { acceptOf } from './edge-tls.ts';
import { until } from './until.ts';

/** A connection that was switched, or is to be. */
export interface OriginWebSocket {
  readonly request: IncomingMessage;
  readonly socket: Socket;
  /** What came, all of it. */
  readonly received: () => Buffer;
  /** How many octets that is. */
  readonly octets: () => number;
  /** Whether the other side has ended its direction. */
  readonly ended: () => boolean;
  /** Whether both directions have ended. */
  readonly closed: () => boolean;
  /** The code of the error that broke the connection; `null`: none did. */
  readonly error: () => string | null;
}

export interface WebSocketOrigin {
  /** On 127.0.0.1. */
  readonly port: number;
  /** All connections that were switched. */
  readonly sockets: readonly OriginWebSocket[];
  /** The next connection that the test has not taken. */
  next(): Promise<OriginWebSocket>;
  close(): Promise<void>;
}

/** Answers a request in place of the switch. @returns `false`: the origin switches */
export type Refusal = (request: IncomingMessage, socket: Socket) => boolean;

/** Starts an origin that switches every request, but for those that `refuse` answers. */
export async function startWebSocketOrigin(refuse: Refusal = () => false): Promise<WebSocketOrigin> {
  const sockets: OriginWebSocket[] = [];
  let taken = 0;
  const server = createServer((_request, response) => response.end('plain'));
  server.on('upgrade', (request: IncomingMessage, duplex) => {
    const socket = duplex as Socket;
    // The test itself ends its direction.
    socket.allowHalfOpen = true;
    let error: string | null = null;
    socket.on('error', ({ code = '' }: NodeJS.ErrnoException) => {
      error = code;
    });
    if (refuse(request, socket)) return;
    const chunks: Buffer[] = [];
    let ended = false;
    let octets = 0;
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      octets += chunk.length;
    });
    socket.on('end', () => {
      ended = true;
    });
    const protocol = request.headers['sec-websocket-protocol'];
    const lines = [
      'HTTP/1.1 101 Switching Protocols',
      'Upgrade: websocket',
      'Connection: Upgrade',
      `Sec-WebSocket-Accept: ${acceptOf(String(request.headers['sec-websocket-key']))}`,
      'Set-Cookie: a=1',
      'Set-Cookie: b=2',
      ...(protocol === undefined ? [] : [`Sec-WebSocket-Protocol: ${protocol}`]),
    ];
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    sockets.push({
      request,
      socket,
      received: () => Buffer.concat(chunks),
      octets: () => octets,
      ended: () => ended,
      closed: () => socket.closed,
      error: () => error,
    });
  });
  const connections = new Set<Socket>();
  server.on('connection', (socket: Socket) => connections.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    sockets,
    next: () => until(() => sockets[taken] && sockets[taken++], 'a WebSocket at the origin'),
    async close() {
      for (const socket of connections) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
