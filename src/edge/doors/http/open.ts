/**
 * The HTTP door: one keep-alive server on TCP or a unix socket, at which nginx (`auth_request`), Caddy (`forward_auth`), Traefik
 * (ForwardAuth) and Envoy (ext_authz over HTTP) ask for decisions, and fetch the pages of tickets. In: an address, the decider of
 * each flavour, tickets and secrets. Out: a running door with its counts. Each connection is bounded in octets and time by itself.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import { type DoorPlace, listenAt, type RunningDoor } from '../listener.ts';
import { refusalReply } from './answers.ts';
import {
  DOOR_BODY_OCTETS,
  DOOR_HEAD_MS,
  DOOR_IDLE_MS,
  DOOR_REQUEST_MS,
  DOOR_STALL_MS,
  MAX_DOOR_CONNECTIONS,
  MAX_DOOR_HEAD_OCTETS,
} from './limits.ts';
import { type ContractFault, createContractRefusals } from './refusals.ts';
import { type Serving, serveDoorRequest } from './serve.ts';

/** What the HTTP door opens with. */
export interface HttpDoorOptions extends DoorPlace, Pick<Serving, 'decide' | 'tickets' | 'secrets'> {
  /** Receives sentences for the operator. */
  readonly log: (sentence: string) => void;
  /** Default: 0, `X-Forwarded-For` has one address. */
  readonly trustedHops?: number;
  /** Default: `DOOR_BODY_OCTETS`. */
  readonly maxBodyOctets?: number;
  /** Whether Traefik (`forwardBody`) and Envoy (`with_request_body`) pass bodies on. Default: `false`. */
  readonly passesBodies?: boolean;
}

/** Plain numbers since the start. */
export interface HttpDoorCounts {
  /** Connections that are open now. */
  readonly connections: number;
  /** Connections beyond `MAX_DOOR_CONNECTIONS`, which were closed at once. */
  readonly dropped: number;
  /** Decisions that were asked for. */
  readonly decisions: number;
  /** Octets that were no request, or did not arrive in time. */
  readonly protocolErrors: number;
  /** Requests that broke the contract, by reason. */
  readonly refusals: Readonly<Record<ContractFault, number>>;
}

/** Opens the door; rejects with the fault of the system where it cannot listen. */
export async function openHttpDoor(options: HttpDoorOptions): Promise<RunningDoor<HttpDoorCounts>> {
  const { decide, tickets, secrets, log } = options;
  const refusals = createContractRefusals(log);
  const counts = { dropped: 0, decisions: 0, protocolErrors: 0 };
  let connections = 0;
  let retiring = false;
  const serving: Serving = {
    decide,
    tickets,
    secrets,
    refusals,
    trustedHops: options.trustedHops ?? 0,
    maxBodyOctets: options.maxBodyOctets ?? DOOR_BODY_OCTETS,
    passesBodies: options.passesBodies ?? false,
    onDecision: () => void counts.decisions++,
  };
  const server = createDoorServer((message, response) => {
    // The proxy opens its next connection at the process that takes over. Behind an Upgrade, which is served as any other
    // request, Node's parser reads no further one.
    if (retiring || message.headers.upgrade !== undefined) response.shouldKeepAlive = false;
    void serveDoorRequest(serving, message, response).catch((error: unknown) => fail(response, error, log));
  });
  server.on('connection', (socket) => {
    connections++;
    socket.once('close', () => connections--);
  });
  server.on('drop', () => counts.dropped++);
  server.on('clientError', (_error, socket) => {
    counts.protocolErrors++;
    if (socket.writable)
      socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
    else socket.destroy();
  });
  const listening = await listenAt(server, options);
  const closed = new Promise<void>((resolve) => server.once('close', resolve));

  function retire(): void {
    if (retiring) return;
    retiring = true;
    // Node's own `close` of an HTTP server ends idle connections too, on which a proxy may just be sending a request.
    NetServer.prototype.close.call(server);
    listening.remove();
  }

  return {
    address: listening.address,
    socket: listening,
    retire,
    async stop(graceMs) {
      retire();
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), graceMs);
      await closed;
      clearTimeout(timer);
      // Ends the interval by which Node looks for slow requests.
      server.close();
    },
    counts: () => ({ ...counts, connections, refusals: refusals.counts() }),
  };
}

function createDoorServer(serve: (message: IncomingMessage, response: ServerResponse) => void): Server {
  const server = createServer({
    maxHeaderSize: MAX_DOOR_HEAD_OCTETS,
    headersTimeout: DOOR_HEAD_MS,
    requestTimeout: DOOR_REQUEST_MS,
    keepAliveTimeout: DOOR_IDLE_MS,
    connectionsCheckingInterval: 1_000,
    insecureHTTPParser: false,
    noDelay: true,
    // The Host is a fact of the visitor at some endpoints, and none at others.
    requireHostHeader: false,
  });
  // Node would drop the headers beyond its limit silently; the contract refuses a request with too many.
  server.maxHeadersCount = 0;
  server.maxConnections = MAX_DOOR_CONNECTIONS;
  server.setTimeout(DOOR_STALL_MS);
  // Without a listener for `upgrade` Node serves such a request as any other: an upgrade of the visitor is the origin's.
  server.on('request', serve);
  server.on('checkExpectation', serve);
  server.on('checkContinue', (message: IncomingMessage, response: ServerResponse) => {
    // The visitor's own Expect, which a proxy copies, awaits nothing; a proxy that sends a body may wait.
    if (
      message.headers['content-length'] !== undefined ||
      message.headers['transfer-encoding'] !== undefined
    ) {
      response.writeContinue();
    }
    serve(message, response);
  });
  return server;
}

/** A bug of ours: the proxy gets what it gets of an agent that is away. */
function fail(response: ServerResponse, error: unknown, log: (sentence: string) => void): void {
  log(`the HTTP door failed on a request: ${error instanceof Error ? error.message : String(error)}`);
  if (response.headersSent) return void response.destroy();
  const { status, headers, body } = refusalReply(503, 'the agent failed on this request');
  response.writeHead(status, headers as string[]);
  response.end(body);
}
