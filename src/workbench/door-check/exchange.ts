/**
 * Raw exchanges with a proxy under check. In: octets for a connection of their own, or for one that had a response before. Out:
 * the statuses of what came back. No client normalises what is sent.
 */
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** Where the proxy listens, and how long it may take. */
export interface ProxyPlace {
  /** A URL at the proxy, http or https: its host is the name in the TLS handshake. */
  readonly blocked: string;
  /** Where to connect; default: host and port of the URL. */
  readonly connectTo?: { readonly host: string; readonly port: number };
  /** Accepts any certificate. Default: `false`. */
  readonly anyCertificate?: boolean;
  /** Milliseconds for one response. Default: `TIMEOUT_MS`. */
  readonly timeoutMs?: number;
}

/** What came back. */
export interface DoorExchange {
  /** The status of each response. */
  readonly statuses: readonly number[];
  /** Why no more came; `null`: the connection ended. */
  readonly error: string | null;
}

/** The outcome of one attack. */
export interface DoorCheckLine {
  /** What the agent was meanwhile; `continued`: after it was stopped. */
  readonly agent: 'deciding' | 'stopped' | 'continued' | 'away';
  readonly name: string;
  /** Whether the proxy does what it should: `result` is `holds`. */
  readonly holds: boolean;
  /** `passed`: a response lets the request through. `unanswered`: no response in time, which only attacks may get. */
  readonly result: 'holds' | 'passed' | 'unanswered';
  /** `403`, `403, 200`, `no response`, `the connection broke: …`. */
  readonly outcome: string;
}

/** A connection that had a response, on which a second request can be sent. */
export interface UsedConnection {
  /** Sends a request, and reads what comes until the connection ends or the time is over. */
  send(octets: string): Promise<DoorExchange>;
  close(): void;
}

/**
 * Milliseconds for one response: twice the longest that a proxy waits for the agent by the files of `fixtures/proxies` (5 s:
 * nginx, Caddy). Traefik's forwardAuth waits 30 s, which cannot be set.
 */
export const TIMEOUT_MS = 10_000;
/** Octets of a response that are read: its statuses are at its start. */
const MAX_RESPONSE_OCTETS = 256 * 1024;

/** Sends octets on a connection of their own. */
export function exchange(place: ProxyPlace, octets: string): Promise<DoorExchange> {
  return readAll(openTo(place), place, octets);
}

/**
 * Opens a connection, and waits for the first response on it; rejects when none comes.
 * @param octets a request that leaves the connection open
 */
export async function openUsed(place: ProxyPlace, octets: string): Promise<UsedConnection> {
  const socket = openTo(place);
  const { timeoutMs = TIMEOUT_MS } = place;
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(
      () => socket.destroy(new Error(`no response within ${timeoutMs} ms`)),
      timeoutMs,
    );
    const settle = (): void => {
      clearTimeout(timer);
      socket.off('close', broke).off('error', reject);
      resolve();
    };
    const broke = (): void => reject(new Error('the proxy closed the connection before a response'));
    socket.once('data', settle).once('close', broke).once('error', reject);
    socket.write(octets, 'latin1');
  });
  // What is left of the first response is no part of the second one; a connection that breaks meanwhile is found by `send`.
  socket.on('error', () => undefined).resume();
  return {
    send: (second) => readAll(socket, place, second),
    close: () => void socket.destroy(),
  };
}

function readAll(
  socket: Socket,
  { timeoutMs = TIMEOUT_MS }: ProxyPlace,
  octets: string,
): Promise<DoorExchange> {
  if (socket.destroyed) return Promise.resolve({ statuses: [], error: 'the connection was closed' });
  return new Promise((resolve) => {
    let text = '';
    let error: string | null = null;
    const timer = setTimeout(() => {
      error = `none within ${timeoutMs} ms`;
      socket.destroy();
    }, timeoutMs);
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (text.length > MAX_RESPONSE_OCTETS) socket.destroy();
    });
    socket.on('error', (fault) => {
      error = fault.message;
    });
    socket.on('close', () => {
      clearTimeout(timer);
      resolve({ statuses: statusesIn(text), error });
    });
    socket.write(octets, 'latin1');
  });
}

function openTo({ blocked, connectTo, anyCertificate = false }: ProxyPlace): Socket {
  const { protocol, hostname, port } = new URL(blocked);
  const isTls = protocol === 'https:';
  const name = hostname.replace(/^\[|\]$/g, '');
  const place = connectTo ?? { host: name, port: port === '' ? (isTls ? 443 : 80) : Number(port) };
  if (!isTls) return connectTcp(place);
  return connectTls({
    ...place,
    servername: name,
    rejectUnauthorized: !anyCertificate,
    ALPNProtocols: ['http/1.1'],
  });
}

/** The statuses of the responses in what came, by their status lines. */
function statusesIn(text: string): number[] {
  return [...text.matchAll(/(?:^|\n)HTTP\/1\.[01] (\d{3})\b/g)].map(([, status]) => Number(status));
}

/** 1xx is no response yet, but 101 lets a request through; so do 2xx and 3xx. */
export function isRefusal(status: number): boolean {
  return status === 100 || status === 103 || status >= 400;
}

/** `403`, `403, 200`, `no response: none within 10000 ms`. */
export function outcomeOf({ statuses, error }: DoorExchange): string {
  if (statuses.length > 0) return statuses.join(', ');
  return error === null ? 'no response' : `no response: ${error}`;
}
