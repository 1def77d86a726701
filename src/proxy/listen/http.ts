/**
 * The node's listeners. In: addresses and a handler. Out: connections served within bounds (how long a head may take,
 * how large it may be, how long anything may stall), and a drain that lets requests in flight end.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ClientRequest } from '../../http/client-messages.ts';
import { HEAD_MS, IDLE_MS, MAX_HEAD_OCTETS, REQUEST_MS, STALL_MS } from '../limits.ts';
import { lingerOver } from '../linger.ts';
import type { Incoming } from '../request-context.ts';
import type { Handler } from '../serve-request.ts';
import {
  type ConnectionFacts,
  type Listener,
  plainAddress,
  readVisitor,
  type TrustedProxies,
} from '../visitor.ts';
import {
  type Acceptor,
  type ConnectionAdmission,
  createAcceptor,
  listenWith,
  type RunningListener,
} from './acceptor.ts';
import { createSilentConnections } from './unused-connections.ts';
import { isWebSocket, readUnsupportedUpgrade } from './upgrade.ts';

export interface HttpServerOptions {
  readonly handler: Handler;
  readonly trusted: TrustedProxies;
  /** Milliseconds a connection that is in a request may send and take nothing. Default: `STALL_MS`. */
  readonly stallMs?: number;
  /** Milliseconds a connection of HTTP/2 may be without any traffic. Default: `IDLE_MS`. */
  readonly idleMs?: number;
  /** Milliseconds for a whole head to arrive. Default: `HEAD_MS`. */
  readonly headMs?: number;
  /** Milliseconds for a whole request to arrive. Default: `REQUEST_MS`. */
  readonly requestMs?: number;
}

export type { RunningListener } from './acceptor.ts';

/** What a connection told before its first request. */
export interface ConnectionOrigin extends ConnectionFacts {
  /** The fingerprint of its TLS client; `null` unknown. */
  readonly ja4: string | null;
}

export interface HttpFrontOptions extends HttpServerOptions {
  readonly listener: Listener;
}

/** HTTP/1.1 on connections that somebody else makes. */
export interface HttpFront {
  take(socket: Socket, arrival: ConnectionOrigin): void;
  /** Ends each connection with its next answer (`Connection: close`, RFC 9112 §9.6). */
  retire(): void;
  /** Closes connections that have answered and wait for another request. */
  closeIdle(): void;
  /** The same, and those that never asked for anything. */
  drain(): void;
  /** Ends what it does beside connections. */
  close(): void;
}

/** What a request's connection told, and what may be asked of it. */
export interface Arrived extends Pick<Incoming, 'proceed' | 'last'> {
  readonly listener: Listener;
  readonly facts: ConnectionOrigin;
}

/** A request as the handler takes it. */
export function incomingOf(
  message: ClientRequest,
  { listener, facts, proceed, last, trusted }: Arrived & Pick<HttpServerOptions, 'trusted'>,
): Incoming {
  const visitor = readVisitor(message, { listener, facts, trusted });
  // A proxy's own TLS tells nothing of whom it speaks for.
  return { message, visitor, ja4: visitor.trusted ? null : facts.ja4, proceed, last };
}

/** Has every request on the connections it is given handled. */
export function createHttpFront(options: HttpFrontOptions): HttpFront {
  const arrivals = new WeakMap<object, ConnectionOrigin>();
  const silent = createSilentConnections();
  const state = { retiring: false };
  const server = createHttpServer(options, {
    factsOf: (socket) => arrivals.get(socket) ?? null,
    retiring: () => state.retiring,
  });
  // Node watches for heads and requests that come too slowly once a server is listening, which this one never is.
  server.emit('listening');
  return {
    take(socket, arrival) {
      arrivals.set(socket, arrival);
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
    },
    close: () => void server.close(),
  };
}

interface HttpServerState {
  readonly factsOf: (socket: object) => ConnectionOrigin | null;
  /** Whether every answer is its connection's last. */
  readonly retiring: () => boolean;
}

function createHttpServer(options: HttpFrontOptions, { factsOf, retiring }: HttpServerState): Server {
  const { handler, stallMs = STALL_MS, headMs = HEAD_MS, requestMs = REQUEST_MS } = options;
  const server = createServer({
    maxHeaderSize: MAX_HEAD_OCTETS,
    headersTimeout: headMs,
    requestTimeout: requestMs,
    keepAliveTimeout: IDLE_MS,
    connectionsCheckingInterval: Math.min(1_000, headMs),
    insecureHTTPParser: false,
    // Node's own check answers by itself; a Host that is missing or doubled is refused by `readRequest`.
    requireHostHeader: false,
  });
  // Node would leave out what is beyond without a word; too many are refused by `readRequest`.
  server.maxHeadersCount = 0;
  /** The last exchange of each connection. */
  const exchanges = new WeakMap<Socket, Exchanged>();
  server.setTimeout(stallMs, (socket: Socket) => {
    const last = exchanges.get(socket);
    if (last !== undefined && isAnswerDue(last)) socket.setTimeout(stallMs);
    else socket.destroy();
  });
  const serve = (message: IncomingMessage, response: ServerResponse, proceed: () => void): void => {
    const before = exchanges.get(message.socket);
    if (before === undefined) exchanges.set(message.socket, { message, response });
    else {
      // Node goes on reading behind a request that was to be the connection's last.
      if (!before.response.shouldKeepAlive) return;
      before.message = message;
      before.response = response;
    }
    if (hasBody(message)) lingerOver(message, response);
    const last = (): void => {
      response.shouldKeepAlive = false;
    };
    if (retiring()) last();
    handler.request(incoming(message, { proceed, last }), response);
  };
  const incoming = (message: IncomingMessage, asking: Pick<Incoming, 'proceed' | 'last'>): Incoming => {
    const facts = factsOf(message.socket) ?? {
      peer: plainAddress(message.socket.remoteAddress),
      serverName: null,
      ja4: null,
    };
    const { proceed, last } = asking;
    return incomingOf(message, {
      listener: options.listener,
      facts,
      proceed,
      last,
      trusted: options.trusted,
    });
  };
  server.on('request', (message, response) => serve(message, response, nothing));
  server.on('checkContinue', (message: IncomingMessage, response: ServerResponse) => {
    serve(message, response, () => response.writeContinue());
  });
  // Other expectations than 100-continue may be ignored (RFC 9110 §10.1.1).
  server.on('checkExpectation', (message, response) => serve(message, response, nothing));
  const upgrade = (message: IncomingMessage, socket: Duplex, rest: Uint8Array): void => {
    // Node took its own listeners off; a connection that breaks is told by `close`.
    socket.on('error', nothing);
    const last = exchanges.get(message.socket);
    const isDue = last !== undefined && !last.response.closed;
    if (message.method === 'CONNECT' || isWebSocket(message)) {
      // What is written on the connection now would stand before the answer that is still due.
      if (isDue) socket.destroy();
      else handler.upgrade(incoming(message, { proceed: nothing, last: nothing }), socket, rest);
      return;
    }
    const read = (): void => {
      if (socket.writable) readUnsupportedUpgrade(server, { message, socket, rest });
    };
    if (isDue) last.response.once('close', read);
    else read();
  };
  server.on('upgrade', upgrade);
  // Node knows nobody who tunnels, and would end the connection without a word.
  server.on('connect', upgrade);
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    // Nobody is there to be refused; a request under way tells itself that its client left.
    if (socket.destroyed) return;
    const refuse = (): void => handler.unreadable(socket, STATUS_OF[error.code ?? ''] ?? 400);
    const last = exchanges.get(socket);
    if (last === undefined) refuse();
    // The same, said politely: the body has no end.
    else if (!last.message.complete && error.code === 'HPE_INVALID_EOF_STATE') socket.destroy();
    else refuseAfter(last, socket, refuse);
  });
  return server;
}

/**
 * Refuses what came on a connection after another request, where the client can tell to which of the two the refusal
 * belongs: never within an answer, nor before one that is still due.
 */
function refuseAfter({ message, response }: Exchanged, socket: Socket, refuse: () => void): void {
  if (!message.complete) {
    // It is this request's own body.
    if (response.headersSent) socket.destroy();
    else refuse();
  } else if (!response.writableFinished) {
    response.once('finish', () => refuseAfter({ message, response }, socket, refuse));
  } else if (response.shouldKeepAlive) refuse();
}

/** The last exchange of a connection. PERF: changed with each, since to put one into a weak map is dear. */
interface Exchanged {
  message: IncomingMessage;
  response: ServerResponse;
}

/** Whether it is the origin that is waited for: its record's own timer ends that, which may run for half an hour. */
function isAnswerDue({ message, response }: Exchanged): boolean {
  return message.complete && !response.headersSent;
}

function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

const STATUS_OF: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

function nothing(): void {}

export interface ListenOptions extends HttpServerOptions, ConnectionAdmission {
  readonly host: string;
  readonly port: number;
  /** The port as visitors know it; `null`: the one listened on. */
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

/** Takes connections that somebody else listens for, whose proxies may say whom they speak for. */
export function createHttpAcceptor(options: HttpFrontOptions & ConnectionAdmission): Acceptor {
  const front = createHttpFront(options);
  return createAcceptor({
    ...options,
    ...front,
    begin: (socket, peer) => front.take(socket, { peer, serverName: null, ja4: null }),
  });
}
