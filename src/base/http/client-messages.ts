/** The message types of Node's servers, HTTP/1.1 or HTTP/2. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';

/** A request; `'stream' in request` is true for HTTP/2. */
export type ClientRequest = IncomingMessage | Http2ServerRequest;
/** A response; `'stream' in response` is true for HTTP/2. */
export type ClientResponse = ServerResponse | Http2ServerResponse;
