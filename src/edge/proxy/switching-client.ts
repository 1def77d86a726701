/**
 * The client's end of a connection that switches protocols. In: a connection of HTTP/1.1 whose client requested another
 * protocol; one of HTTP/2 has a stream in its place (`listeners/tls/websocket-stream.ts`). Out: one interface for both.
 */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { EdgeAnswer, HeaderList } from '../../base/http/response.ts';
import { STALL_MS } from './limits.ts';
import { answerOnSocket, breakOff, endSoon } from './write-response.ts';

/** The node's end of a client that requests another protocol. */
export interface SwitchingClient {
  /** The octets of the client, once its request has ended. */
  readonly socket: Duplex;
  /** The octets that came with the request. */
  readonly head: Uint8Array;
  /** The protocol, as the origin gets it in `Upgrade`. */
  readonly protocol: string;
  /** The Sec-WebSocket-Key for the origin where the client's HTTP has none (RFC 8441 §5); `null`: the client's own. */
  readonly key: string | null;
  /** Writes the head of the origin's response that switches. @param headers all of them, those of one connection included */
  switched(headers: HeaderList): void;
  /** Writes the head of a response of the origin that does not switch. @param headers end-to-end ones */
  refused(status: number, headers: HeaderList): void;
  /** Called once the body of that response is written to the socket: ends the connection. */
  finish(): void;
  /** Writes a whole response, and ends the connection. */
  answer(answer: EdgeAnswer): void;
  /** Ends the connection at once. @param isReset the other side was reset, or a body broke off, and this shows the client */
  end(isReset: boolean): void;
}

/** The client of a connection of HTTP/1.1. */
export function createConnectionClient(
  socket: Duplex,
  { head, protocol }: Pick<SwitchingClient, 'head' | 'protocol'>,
): SwitchingClient {
  const writeHead = (status: string, headers: HeaderList): void => {
    const lines = [`HTTP/1.1 ${status}`];
    for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`);
    socket.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  };
  return {
    socket,
    head,
    protocol,
    key: null,
    switched: (headers) => writeHead('101 Switching Protocols', headers),
    refused(status, headers) {
      writeHead(`${status} ${STATUS_CODES[status] ?? ''}`, [...headers, 'Connection', 'close']);
    },
    finish() {
      socket.once('finish', () => endSoon(socket));
      endSoon(socket, STALL_MS);
    },
    answer: (answer) => answerOnSocket(socket, answer),
    end(isReset) {
      if (isReset) breakOff(socket);
      else socket.destroy();
    },
  };
}
