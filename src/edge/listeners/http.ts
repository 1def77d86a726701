/**
 * The node's listeners for HTTP/1.1. In: addresses and a handler. Out: connections served within limits (the size of a head,
 * the time that a head or a request may take to arrive, the time without traffic), and a drain that lets requests in flight
 * finish.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ClientRequest } from '../../base/http/client-messages.ts';
import type { ClientCertificate } from '../credentials/client-certificates.ts';
import type { Incoming } from '../decide/request-context.ts';
import type { ListenPlace } from '../handover/sockets.ts';
import { HEAD_MS, IDLE_MS, MAX_HEAD_OCTETS, REQUEST_MS, STALL_MS } from '../proxy/limits.ts';
import type { Handler } from '../proxy/serve-request.ts';
import { createConnectionClient } from '../proxy/switching-client.ts';
import {
  type ConnectionFacts,
  type Listener,
  plainAddress,
  readVisitor,
  type TrustedProxies,
} from '../proxy/visitor.ts';
import { EarlyEnd, lingerOver, UNREAD } from '../proxy/write-response.ts';
import {
  type Acceptor,
  type ConnectionAdmission,
  createAcceptor,
  listenWith,
  type RunningListener,
} from './acceptor.ts';
import { createSilentConnections } from './preamble.ts';
import {
  isWebSocket,
  type ParserError,
  rawTargetOf,
  readAgain,
  readUnsupportedUpgrade,
} from './unparsed-requests.ts';

export interface HttpServerOptions {
  readonly handler: Handler;
  readonly trusted: TrustedProxies;
  /** Milliseconds that a connection within a request may be without traffic. Default: `STALL_MS`. */
  readonly stallMs?: number;
  /** Milliseconds that a connection of HTTP/2 may be without traffic. Default: `IDLE_MS`. */
  readonly idleMs?: number;
  /** Milliseconds for a whole head to arrive. Default: `HEAD_MS`. */
  readonly headMs?: number;
  /** Milliseconds for a whole request to arrive. Default: `REQUEST_MS`. */
  readonly requestMs?: number;
}

export type { RunningListener } from './acceptor.ts';

/** What is known of a connection before its first request. */
export interface ConnectionOrigin extends ConnectionFacts {
  /** The fingerprint of its TLS client; `null` unknown. */
  readonly ja4: string | null;
  /** What its TLS client has sent; `null`: it was not asked for a certificate. */
  readonly certificate: ClientCertificate | null;
}

export interface HttpFrontOptions extends HttpServerOptions {
  readonly listener: Listener;
}

/** Serves HTTP/1.1 on connections that an acceptor or TLS hands over. */
export interface HttpFront {
  take(socket: Socket, arrival: ConnectionOrigin): void;
  /** Ends each connection with its next response (`Connection: close`, RFC 9112 §9.6). */
  retire(): void;
  /** Closes connections that have been answered and wait for another request. */
  closeIdle(): void;
  /** Closes those and connections that have not sent any request, and ends WebSockets in their closing handshake. */
  drain(): void;
  /** Ends the time limits of heads and requests; connections continue. */
  close(): void;
}

/** The connection of a request, and what the handler may do with it. */
export interface Arrived extends Pick<Incoming, 'proceed' | 'last' | 'renew'> {
  readonly listener: Listener;
  readonly facts: ConnectionOrigin;
}

/** What is known of a client whose TLS ends elsewhere. */
const NO_TLS = { ja4: null, certificate: null } as const;

/** A request in the form that the handler takes. */
export function incomingOf(
  message: ClientRequest,
  { listener, facts, proceed, last, renew = last, trusted }: Arrived & Pick<HttpServerOptions, 'trusted'>,
): Incoming<ClientRequest> {
  const visitor = readVisitor(message, { listener, facts, trusted });
  // Fingerprint and certificate of a trusted proxy are not those of the visitor behind it.
  const { ja4, certificate } = visitor.trusted ? NO_TLS : facts;
  return { message, visitor, ja4, certificate, proceed, last, renew };
}

interface ServerState {
  readonly options: HttpFrontOptions;
  readonly arrivals: WeakMap<object, ConnectionOrigin>;
  /** The last exchange of each connection. */
  readonly exchanges: WeakMap<Socket, LastExchange>;
  /** Octets of connections that are read again once the response before is out. */
  readonly pending: WeakMap<Socket, Buffer[]>;
  /** Every response is the last of its connection. */
  retiring: boolean;
}

/** The last exchange of a connection. PERF: overwritten with each, since adding to a weak map is expensive. */
interface LastExchange {
  message: IncomingMessage;
  response: ServerResponse;
}

/** A front for one listener. */
export function createHttpFront(options: HttpFrontOptions): HttpFront {
  const state: ServerState = {
    options,
    arrivals: new WeakMap(),
    exchanges: new WeakMap(),
    pending: new WeakMap(),
    retiring: false,
  };
  const silent = createSilentConnections();
  const server = createHttpServer(state);
  // Node starts to check for slow heads and requests when a server listens, which this one never does.
  server.emit('listening');
  return {
    take(socket, arrival) {
      state.arrivals.set(socket, arrival);
      silent.watch(socket);
      server.emit('connection', socket);
    },
    retire() {
      state.retiring = true;
    },
    closeIdle: () => server.closeIdleConnections(),
    drain() {
      server.closeIdleConnections();
      silent.end();
      options.handler.leave();
    },
    close: () => void server.close(),
  };
}

function createHttpServer(state: ServerState): Server {
  const { stallMs = STALL_MS, headMs = HEAD_MS, requestMs = REQUEST_MS } = state.options;
  const server = createServer({
    maxHeaderSize: MAX_HEAD_OCTETS,
    headersTimeout: headMs,
    requestTimeout: requestMs,
    keepAliveTimeout: IDLE_MS,
    connectionsCheckingInterval: Math.min(1_000, headMs),
    insecureHTTPParser: false,
    // Node's own check sends a bare 400; `readRequest` refuses a missing or doubled Host with a page.
    requireHostHeader: false,
  });
  // Node would drop the headers beyond its limit silently; `readRequest` refuses a request with too many.
  server.maxHeadersCount = 0;
  server.setTimeout(stallMs, (socket: Socket) => {
    const last = state.exchanges.get(socket);
    if (last !== undefined && isOriginAwaited(last)) socket.setTimeout(stallMs);
    else if (last === undefined || !isUnread(last)) socket.destroy();
    else socket.destroy(new EarlyEnd(UNREAD));
  });
  server.on('request', (message, response) => serve(state, { message, response, proceed: nothing }));
  server.on('checkContinue', (message: IncomingMessage, response: ServerResponse) => {
    serve(state, { message, response, proceed: () => response.writeContinue() });
  });
  // Other expectations than 100-continue may be ignored (RFC 9110 §10.1.1).
  server.on('checkExpectation', (message, response) => serve(state, { message, response, proceed: nothing }));
  const upgrade = (message: IncomingMessage, socket: Duplex, rest: Uint8Array): void => {
    serveUpgrade(state, server, { message, socket, rest });
  };
  server.on('upgrade', upgrade);
  // Without a listener Node ends the connection of a CONNECT without a response.
  server.on('connect', upgrade);
  server.on('clientError', (error: ParserError, socket: Socket) => {
    if (!readRawTarget(state, { server, error, socket })) refuseUnreadable(state, error, socket);
  });
  return server;
}

interface ServedRequest {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  /** Sends `100 Continue`, if the client expects it. */
  readonly proceed: () => void;
}

function serve(state: ServerState, { message, response, proceed }: ServedRequest): void {
  const { exchanges, options } = state;
  const before = exchanges.get(message.socket);
  if (before === undefined) exchanges.set(message.socket, { message, response });
  else {
    // Node parses further requests behind one that ends its connection.
    if (!before.response.shouldKeepAlive) return;
    before.message = message;
    before.response = response;
  }
  if (hasBody(message)) lingerOver(message, response);
  const last = (): void => {
    response.shouldKeepAlive = false;
  };
  if (state.retiring) last();
  options.handler.request(arrivedRequest(state, message, { proceed, last }), response);
}

function arrivedRequest(
  { options, arrivals }: ServerState,
  message: IncomingMessage,
  { proceed, last }: Pick<Incoming, 'proceed' | 'last'>,
): Incoming<ClientRequest> {
  const { listener, trusted } = options;
  const facts = arrivals.get(message.socket) ?? {
    peer: plainAddress(message.socket.remoteAddress),
    serverName: null,
    ja4: null,
    certificate: null,
  };
  return incomingOf(message, { listener, facts, proceed, last, trusted });
}

interface UpgradeRequest {
  readonly message: IncomingMessage;
  readonly socket: Duplex;
  /** The octets after the head. */
  readonly rest: Uint8Array;
}

/** Hands a WebSocket or CONNECT to the handler; has any other upgrade read again as a plain request. */
function serveUpgrade(state: ServerState, server: Server, { message, socket, rest }: UpgradeRequest): void {
  // Node has removed its own listeners. A broken connection is also reported by `close`.
  socket.on('error', nothing);
  const last = state.exchanges.get(message.socket);
  const isDue = last !== undefined && !last.response.closed;
  if (message.method === 'CONNECT' || isWebSocket(message)) {
    // Octets written now would arrive before the response that is still due.
    if (isDue) return void socket.destroy();
    const request = arrivedRequest(state, message, { proceed: nothing, last: nothing });
    const protocol = String(message.headers.upgrade ?? 'websocket');
    state.options.handler.upgrade(request, createConnectionClient(socket, { head: rest, protocol }));
    return;
  }
  const read = (): void => {
    if (socket.writable) readUnsupportedUpgrade(server, { message, socket, rest });
  };
  if (isDue) last.response.once('close', read);
  else read();
}

interface RefusedTarget {
  readonly server: Server;
  readonly error: ParserError;
  readonly socket: Socket;
}

/** Has a request with octets above 0x7F in its target read again. @returns `false`: the error is another one */
function readRawTarget(state: ServerState, { server, error, socket }: RefusedTarget): boolean {
  const { pending, exchanges } = state;
  const waiting = pending.get(socket);
  if (waiting !== undefined) {
    // The refused parser goes on to report what it is given.
    if (error.rawPacket !== undefined) waiting.push(error.rawPacket);
    return true;
  }
  const octets = rawTargetOf(error);
  const last = exchanges.get(socket);
  if (octets === null || socket.destroyed || last?.response.shouldKeepAlive === false) return false;
  const refuse = (): void => refuseUnreadable(state, error, socket);
  if (last === undefined || last.response.closed) return readAgain(server, socket, { octets, refuse });
  const parts = [octets];
  pending.set(socket, parts);
  socket.pause();
  last.response.once('close', () => {
    pending.delete(socket);
    if (socket.destroyed || !last.response.shouldKeepAlive) return;
    if (!readAgain(server, socket, { octets: Buffer.concat(parts), refuse })) refuse();
  });
  return true;
}

/** Refuses octets that are no request, or that did not arrive in time. */
function refuseUnreadable(
  { exchanges, options }: ServerState,
  error: NodeJS.ErrnoException,
  socket: Socket,
): void {
  // The client has left; a request in flight notices that itself.
  if (socket.destroyed) return;
  const refuse = (): void => options.handler.unreadable(socket, STATUS_OF[error.code ?? ''] ?? 400);
  const last = exchanges.get(socket);
  if (last === undefined) refuse();
  // The client has closed its side within a body: the same as leaving.
  else if (!last.message.complete && error.code === 'HPE_INVALID_EOF_STATE') socket.destroy();
  else refuseAfter(last, socket, refuse);
}

/**
 * Refuses octets that came on a connection after a request, if the client can see which of the two the refusal is for:
 * never within a response, nor before one that is still due.
 */
function refuseAfter({ message, response }: LastExchange, socket: Socket, refuse: () => void): void {
  if (!message.complete) {
    // The octets are this request's own body.
    if (response.headersSent) socket.destroy();
    else refuse();
  } else if (!response.writableFinished) {
    response.once('finish', () => refuseAfter({ message, response }, socket, refuse));
  } else if (response.shouldKeepAlive) refuse();
}

/**
 * Whether the connection waits for an origin, before or within a response: the time limits of origins apply, which may be
 * half an hour. A response behind others on its connection (pipelining) has no socket yet.
 */
function isOriginAwaited({ message, response }: LastExchange): boolean {
  if (!message.complete || response.writableFinished) return false;
  return response.socket === null || (!response.writableEnded && response.writableLength === 0);
}

/** Whether the connection waits for the client to take octets of a response. */
function isUnread({ message, response }: LastExchange): boolean {
  return message.complete && response.writableLength > 0;
}

function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** The status for a parser error or time-out by its code; 400 for all others. */
const STATUS_OF: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

function nothing(): void {}

export interface ListenOptions extends HttpServerOptions, ConnectionAdmission, ListenPlace {
  /** The port under which visitors reach the listener; `null`: the one that it listens on. */
  readonly publicPort: number | null;
}

/** Listens for HTTP without TLS. */
export async function listenHttp(options: ListenOptions): Promise<RunningListener> {
  const listener = { scheme: 'http' as const, port: options.publicPort ?? options.port };
  const acceptor = createHttpAcceptor({ ...options, listener });
  const running = await listenWith(acceptor, { ...options, allowHalfOpen: true });
  if (options.publicPort === null) listener.port = running.address.port;
  return running;
}

/** Accepts connections from another listener; trusted peers may state their client's address (PROXY protocol). */
export function createHttpAcceptor(options: HttpFrontOptions & ConnectionAdmission): Acceptor {
  const front = createHttpFront(options);
  return createAcceptor({
    ...options,
    ...front,
    begin: (socket, peer) => front.take(socket, { peer, serverName: null, ...NO_TLS }),
  });
}
