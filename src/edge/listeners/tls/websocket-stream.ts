/**
 * A WebSocket over HTTP/2 (RFC 8441): a stream of an extended CONNECT as the client of a switched connection. In: the stream.
 * Out: the form that HTTP/1.1 connections have, too: a 101 of the origin becomes 200, an end becomes END_STREAM, a reset
 * becomes RST_STREAM with CANCEL (§5).
 */
import { constants, type Http2ServerRequest, type ServerHttp2Stream } from 'node:http2';
import { endToEnd } from '../../../base/http/header-fields.ts';
import type { HeaderList } from '../../../base/http/response.ts';
import { createKey } from '../../proxy/origin/websocket-frames.ts';
import type { SwitchingClient } from '../../proxy/switching-client.ts';
import { byName } from '../../proxy/write-response.ts';

/** The protocol of WebSockets, in `:protocol` and for origins in `Upgrade`. */
const WEBSOCKET = 'websocket';
const NO_OCTETS = new Uint8Array(0);

/** Whether a request opens a WebSocket; other protocols of an extended CONNECT are not served. */
export function isWebSocketConnect({ method, headers }: Http2ServerRequest): boolean {
  return method === 'CONNECT' && headers[':protocol'] === WEBSOCKET;
}

/** The client of a stream. @param onRefused called before a response that does not switch */
export function createStreamClient(stream: ServerHttp2Stream, onRefused: () => void): SwitchingClient {
  // A reset is also reported by `close`.
  stream.on('error', () => undefined);
  const respond = (status: number, headers: HeaderList): void => {
    if (stream.destroyed || stream.closed) return;
    try {
      stream.respond({ ':status': status, ...byName(headers) });
    } catch {
      // Headers that HTTP/2 does not allow, such as two dates.
      reset(stream, constants.NGHTTP2_INTERNAL_ERROR);
    }
  };
  return {
    socket: stream,
    head: NO_OCTETS,
    protocol: WEBSOCKET,
    key: createKey(),
    switched: (headers) => respond(200, endToEnd(headers, isOfKey)),
    refused(status, headers) {
      onRefused();
      respond(status, headers);
    },
    // What the client still sends is refused behind the response, as that of any stream.
    finish: () => undefined,
    answer({ status, headers, body }) {
      onRefused();
      const octets = body === null ? NO_OCTETS : Buffer.from(body);
      respond(status, [...headers, 'Content-Length', String(octets.length)]);
      if (!stream.destroyed && !stream.writableEnded) stream.end(octets);
    },
    end: () => reset(stream, constants.NGHTTP2_CANCEL),
  };
}

/** The answer to a key that the client has not sent, and the length that a response to CONNECT may not have. */
function isOfKey(name: string): boolean {
  return name === 'sec-websocket-accept' || name === 'content-length';
}

/** Resets a stream; one that is closed alone waits for the reader of what has arrived. */
function reset(stream: ServerHttp2Stream, code: number): void {
  RESET.add(stream);
  if (!stream.closed) stream.close(code);
  stream.destroy();
}

/** The streams that the node has reset. Node reports the reset of either side by the same event. */
const RESET = new WeakSet<ServerHttp2Stream>();

/** Whether the node, and not the client, has reset a WebSocket. */
export function isResetByNode(stream: ServerHttp2Stream): boolean {
  return RESET.has(stream);
}
