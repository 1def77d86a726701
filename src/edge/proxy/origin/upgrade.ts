/**
 * Connects a client that switches protocols (WebSocket, RFC 6455) to an origin. In: the request and the client's socket. Out:
 * all octets both ways, or the origin's own answer if it does not switch.
 */
import { request as httpRequest, type IncomingMessage, STATUS_CODES } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import { endToEnd, hasNoLength } from '../../../base/http/header-fields.ts';
import { GONE, type HeaderList, type ResponseFault } from '../../../base/http/response.ts';
import type { ClientOutcome } from '../client-response.ts';
import { CONNECT_MS, MAX_ORIGIN_HEAD_OCTETS, ORIGIN_MS, STALL_MS } from '../limits.ts';
import { breakOff, endSoon } from '../write-response.ts';
import type { OriginPlace } from './connections.ts';
import type { OriginGuard } from './guard.ts';
import type { OutgoingRequest, UpgradedClient } from './request.ts';

export interface UpgradeOptions {
  readonly place: OriginPlace;
  readonly request: OutgoingRequest;
  readonly client: UpgradedClient;
  readonly anyCertificate: boolean;
  readonly guard: OriginGuard;
  /** Milliseconds without an octet either way after which a connection that was switched ends. */
  readonly idleMs: number;
}

/** Sends the request, and calls `done` or `fail` of the client exactly once. */
export function upgradeTo({ place, request, client, anyCertificate, guard, idleMs }: UpgradeOptions): void {
  // `close` was emitted before there was a listener for it.
  if (client.socket.destroyed) return void client.done(GONE_BEFORE);
  if (guard.refusal(place.address, place.port) !== null) return void client.fail(502);
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
  const fail = (status: number): void => {
    if (!settle()) return;
    clearTimeout(headTimer);
    outgoing.destroy();
    use.result = 'failed';
    client.fail(status);
  };
  const record = ({ statusCode = 502 }: IncomingMessage): void => {
    use.ms = performance.now() - sentAt;
    use.result = statusCode >= 500 ? 'failed' : 'answered';
  };
  client.socket.once('close', () => {
    clearTimeout(headTimer);
    outgoing.destroy();
    if (settle()) client.done(GONE_BEFORE);
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
    response.once('close', () => clearTimeout(headTimer));
    answerInstead(response, client);
  });
  outgoing.on('upgrade', (response, socket, head) => {
    settle();
    record(response);
    clearTimeout(headTimer);
    switchOver({ response, socket, head, client, idleMs });
  });
  outgoing.end();
}

const LEFT: ResponseFault = { code: 'aborted', reason: 'the client went away' };
/** The outcome for a client that left before any response. */
export const GONE_BEFORE: ClientOutcome = { status: GONE, octets: 0, headAt: null, fault: LEFT };

/** The origin does not switch: forwards its response to the client, and ends the connection. */
function answerInstead(response: IncomingMessage, client: UpgradedClient): void {
  const status = response.statusCode ?? 502;
  const lengthless = hasNoLength(status);
  const forwarded = endToEnd(
    response.rawHeaders,
    (name) => (lengthless && name === 'content-length') || client.isDropped(name),
  );
  const headers = [...forwarded, ...client.ownHeaders, 'Connection', 'close'];
  const headAt = performance.now();
  client.socket.write(headOf(`${status} ${STATUS_CODES[status] ?? ''}`, headers), 'latin1');
  let octets = 0;
  /** Node sets `complete` for a response without a length, however it ends. */
  let whole = false;
  response.on('data', (chunk: Buffer) => {
    octets += chunk.length;
  });
  response.once('end', () => {
    whole = true;
    client.socket.once('finish', () => endSoon(client.socket));
    endSoon(client.socket, STALL_MS);
  });
  // `close` follows every error.
  response.on('error', () => undefined);
  response.once('close', () => {
    const fault = client.socket.destroyed ? LEFT : CUT;
    if (!whole) breakOff(client.socket);
    client.done({ status, octets, headAt, fault: whole ? null : fault });
  });
  response.pipe(client.socket);
}

const CUT: ResponseFault = { code: 'cut', reason: 'the origin ended its refusal too early' };

/** The octets of a response head. */
function headOf(status: string, headers: HeaderList): string {
  const lines = [`HTTP/1.1 ${status}`];
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** A connection whose origin has switched. */
interface Switched {
  readonly response: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly client: UpgradedClient;
  readonly idleMs: number;
}

/** Forwards octets both ways until either side ends the connection, or neither sends any for `idleMs`. */
function switchOver({ response, socket, head, client, idleMs }: Switched): void {
  const headers = [...response.rawHeaders, ...client.ownHeaders];
  const headAt = performance.now();
  client.socket.write(headOf('101 Switching Protocols', headers), 'latin1');
  if (head.length > 0) client.socket.write(head);
  if (client.head.length > 0) socket.write(client.head);
  let octets = head.length;
  let received = client.head.length;
  const end = once(() => {
    clearTimeout(idle);
    socket.destroy();
    client.socket.destroy();
    client.done({ status: 101, octets, headAt, fault: null }, received);
  });
  // A peer that has vanished sends nothing, not even the pongs that would keep the connection alive.
  const idle = setTimeout(end, idleMs);
  socket.on('data', (chunk: Buffer) => {
    octets += chunk.length;
    idle.refresh();
  });
  client.socket.on('data', (chunk: Buffer) => {
    received += chunk.length;
    idle.refresh();
  });
  for (const side of [socket, client.socket]) side.on('error', end).on('close', end);
  socket.pipe(client.socket);
  client.socket.pipe(socket);
}

function once(run: () => void): () => void {
  let ran = false;
  return () => {
    if (ran) return;
    ran = true;
    run();
  };
}
