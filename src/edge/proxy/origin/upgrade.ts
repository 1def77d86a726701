/**
 * Connects a client that switches protocols (WebSocket, RFC 6455) to an origin. In: the request and the client's socket. Out:
 * all octets both ways, or the origin's own answer if it does not switch.
 */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import { endToEnd, hasNoLength } from '../../../base/http/header-fields.ts';
import { GONE, type ResponseFault } from '../../../base/http/response.ts';
import type { ClientOutcome } from '../client-response.ts';
import { CONNECT_MS, MAX_ORIGIN_HEAD_OCTETS, ORIGIN_MS } from '../limits.ts';
import type { OriginPlace } from './connections.ts';
import type { OriginGuard } from './guard.ts';
import type { OutgoingRequest, UpgradedClient } from './request.ts';
import { openTunnel, type Tunnel } from './tunnel.ts';
import { acceptOf } from './websocket-frames.ts';

export interface UpgradeOptions {
  readonly place: OriginPlace;
  readonly request: OutgoingRequest;
  readonly upgraded: UpgradedClient;
  readonly anyCertificate: boolean;
  readonly guard: OriginGuard;
  /** Milliseconds without an octet either way after which a connection that was switched ends. */
  readonly idleMs: number;
  /** Called with the connection once it is switched, and when it has ended. */
  readonly opened: (tunnel: Tunnel) => void;
  readonly ended: (tunnel: Tunnel) => void;
}

/** Sends the request, and calls `done` or `fail` of the client exactly once. */
export function upgradeTo(options: UpgradeOptions): void {
  const { place, request, upgraded, anyCertificate, guard } = options;
  const { client } = upgraded;
  // `close` was emitted before there was a listener for it.
  if (client.socket.destroyed) return void upgraded.done(GONE_BEFORE);
  if (guard.refusal(place.address, place.port) !== null) return void upgraded.fail(502);
  const isTls = place.scheme === 'https';
  const headMs = request.origin.timeoutSec === null ? ORIGIN_MS : request.origin.timeoutSec * 1_000;
  const outgoing = (isTls ? httpsRequest : httpRequest)({
    host: place.address,
    port: place.port,
    method: request.method,
    path: request.path,
    headers: [...request.headers, 'Connection', 'Upgrade', 'Upgrade', client.protocol] as unknown as Record<
      string,
      string
    >,
    agent: false,
    lookup: guard.lookupFor(place.port),
    maxHeaderSize: MAX_ORIGIN_HEAD_OCTETS,
    ...(isTls ? { servername: place.serverName, rejectUnauthorized: !anyCertificate } : {}),
  });
  // Node would drop the headers beyond its limit silently.
  outgoing.maxHeadersCount = 0;
  const { use } = request;
  use.begun = true;
  let sentAt = performance.now();
  /** The client has its response, or is about to get the origin's. */
  let answered = false;
  const connectTimer = setTimeout(() => fail(504), Math.min(CONNECT_MS, headMs));
  const headTimer = setTimeout(() => {
    if (answered) outgoing.destroy();
    else fail(504);
  }, headMs);
  /** @returns `false`: the request has been answered before */
  const settle = (): boolean => {
    const first = !answered;
    answered = true;
    clearTimeout(connectTimer);
    return first;
  };
  /** Answers the client with the edge's page. */
  const fail = (status: number): void => {
    if (!settle()) return;
    clearTimeout(headTimer);
    outgoing.destroy();
    use.result = 'failed';
    upgraded.fail(status);
  };
  /** Records how the origin treated the request. */
  const record = ({ statusCode = 502 }: IncomingMessage): void => {
    use.ms = performance.now() - sentAt;
    use.result = statusCode >= 500 ? 'failed' : 'answered';
  };
  client.socket.once('close', () => {
    clearTimeout(headTimer);
    if (!answered) outgoing.destroy();
    if (settle()) upgraded.done(GONE_BEFORE);
  });
  outgoing.on('socket', (socket) => {
    socket.once(isTls ? 'secureConnect' : 'connect', () => {
      sentAt = performance.now();
      clearTimeout(connectTimer);
    });
  });
  outgoing.on('error', () => fail(502));
  outgoing.on('response', (response) => {
    // A 101 whose `Connection` does not name `Upgrade` has switched nothing (RFC 9110 §7.8, RFC 6455 §4.1).
    if (response.statusCode === 101) return fail(502);
    settle();
    record(response);
    client.socket.once('close', () => outgoing.destroy());
    response.once('close', () => clearTimeout(headTimer));
    answerInstead(response, upgraded);
  });
  outgoing.on('upgrade', (response, socket, head) => {
    socket.on('error', () => undefined);
    // The client of HTTP/2 has no key by which it could check the origin's answer itself (RFC 6455 §4.1).
    if (client.key !== null && response.headers['sec-websocket-accept'] !== acceptOf(client.key)) {
      socket.destroy();
      return fail(502);
    }
    settle();
    record(response);
    clearTimeout(headTimer);
    switchOver(options, { response, socket, head });
  });
  outgoing.end();
}

const LEFT: ResponseFault = { code: 'aborted', reason: 'the client went away' };
/** The outcome for a client that left before any response. */
export const GONE_BEFORE: ClientOutcome = { status: GONE, octets: 0, headAt: null, fault: LEFT };

/** The origin does not switch: forwards its response to the client, and ends the connection. */
function answerInstead(
  response: IncomingMessage,
  { client, done, isDropped, finished }: UpgradedClient,
): void {
  const status = response.statusCode ?? 502;
  const lengthless = hasNoLength(status);
  const forwarded = endToEnd(
    response.rawHeaders,
    (name) => (lengthless && name === 'content-length') || isDropped(name),
  );
  const headAt = performance.now();
  client.refused(status, finished(forwarded));
  let octets = 0;
  /** Node sets `complete` for a response without a length, however it ends. */
  let whole = false;
  response.on('data', (chunk: Buffer) => {
    octets += chunk.length;
  });
  response.once('end', () => {
    whole = true;
    client.finish();
  });
  // `close` follows every error.
  response.on('error', () => undefined);
  response.once('close', () => {
    const fault = client.socket.destroyed ? LEFT : CUT;
    if (!whole) client.end(true);
    done({ status, octets, headAt, fault: whole ? null : fault });
  });
  response.pipe(client.socket);
}

const CUT: ResponseFault = { code: 'cut', reason: 'the origin ended its refusal too early' };

/** What Node hands over of an origin that has switched. */
interface Switched {
  readonly response: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

/** Forwards octets both ways until both sides have ended, or neither sends any for `idleMs`. */
function switchOver({ upgraded, idleMs, opened, ended }: UpgradeOptions, switched: Switched): void {
  const { client, finished } = upgraded;
  const headAt = performance.now();
  client.switched(finished(switched.response.rawHeaders));
  const tunnel = openTunnel({
    client,
    origin: switched.socket,
    head: switched.head,
    idleMs,
    done(sent) {
      ended(tunnel);
      upgraded.done({ status: 101, octets: sent.origin, headAt, fault: null }, sent.client);
    },
  });
  opened(tunnel);
}
