/**
 * Attacks a proxy that has an agent beside it, from outside. In: a URL that the plan blocks, and one of the same site that it
 * forwards. Out: for each attack whether the block holds. One connection for each, over raw sockets.
 */
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type AttackTarget, doorAttacks, request } from './attacks.ts';

/** What is checked. */
export interface DoorCheckOptions {
  /** A URL that the plan blocks: http or https. */
  readonly blocked: string;
  /** A URL of the same site that it forwards. */
  readonly open: string;
  /** Where to connect; default: host and port of the URL. */
  readonly connectTo?: { readonly host: string; readonly port: number };
  /** Accepts any certificate. Default: `false`. */
  readonly anyCertificate?: boolean;
  /** Milliseconds for one response. Default: 10,000. */
  readonly timeoutMs?: number;
}

/** The outcome of one attack. */
export interface DoorCheckLine {
  readonly name: string;
  /** The block holds: no response lets the request through. */
  readonly holds: boolean;
  /** `403`, `403, 200`, `no response`, `the connection broke: …`. */
  readonly outcome: string;
}

/** The outcome of a check. */
export interface DoorCheck {
  /** Why the attacks would show nothing, with the remedy; `null`: they were made. */
  readonly unusable: string | null;
  readonly lines: readonly DoorCheckLine[];
}

const TIMEOUT_MS = 10_000;
/** Octets of a response that are read: its statuses are at its start. */
const MAX_RESPONSE_OCTETS = 256 * 1024;

/** Checks the proxy; rejects for a URL that is none, and where nobody accepts connections. */
export async function checkDoor(options: DoorCheckOptions): Promise<DoorCheck> {
  const blocked = new URL(options.blocked);
  const open = new URL(options.open);
  const target = { host: blocked.host, blocked: targetOf(blocked), open: targetOf(open) };
  const unusable =
    blocked.origin === open.origin ? await baseline(options, target) : 'both URLs must be of one site';
  if (unusable !== null) return { unusable, lines: [] };
  const lines: DoorCheckLine[] = [];
  for (const { name, octets } of doorAttacks(target)) {
    const { statuses, error } = await exchange(options, octets);
    // The request before the last one, on the attacks that send two, is the open one.
    const counted = name === 'a request behind the open one' ? statuses.slice(1) : statuses;
    lines.push({ name, holds: counted.every(isRefusal), outcome: outcomeOf(counted, error) });
  }
  return { unusable: null, lines };
}

function targetOf({ pathname, search }: URL): string {
  return `${pathname}${search}`;
}

/** Whether the block and the open path are what the caller says. @returns why not; `null`: they are */
async function baseline(
  options: DoorCheckOptions,
  { host, blocked, open }: AttackTarget,
): Promise<string | null> {
  const plain = async (target: string): Promise<Exchange> =>
    exchange(options, request(`GET ${target} HTTP/1.1`, host, []));
  const first = await plain(blocked);
  if (first.statuses.length === 0) {
    throw new Error(`no response from ${options.blocked}: ${first.error ?? 'the connection was closed'}`);
  }
  if (!first.statuses.every(isRefusal)) {
    return `${options.blocked} is not blocked: it answers ${outcomeOf(first.statuses, null)}; name a path that a rule blocks`;
  }
  const second = await plain(open);
  if (second.statuses.length > 0 && !second.statuses.some(isRefusal)) return null;
  return `${options.open} is not open: it answers ${outcomeOf(second.statuses, second.error)}; name a path that is forwarded`;
}

/** 1xx is no response yet, but 101 lets a request through; so do 2xx and 3xx. */
function isRefusal(status: number): boolean {
  return status === 100 || status === 103 || status >= 400;
}

function outcomeOf(statuses: readonly number[], error: string | null): string {
  if (statuses.length > 0) return statuses.join(', ');
  return error === null ? 'no response' : `no response: ${error}`;
}

interface Exchange {
  /** The status of each response on the connection. */
  readonly statuses: readonly number[];
  readonly error: string | null;
}

/** Sends octets, and reads what comes until the connection ends or the time is over. */
function exchange(options: DoorCheckOptions, octets: string): Promise<Exchange> {
  const { timeoutMs = TIMEOUT_MS } = options;
  return new Promise((resolve) => {
    const socket = connectTo(options);
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

function connectTo({ blocked, connectTo: other, anyCertificate = false }: DoorCheckOptions): Socket {
  const { protocol, hostname, port } = new URL(blocked);
  const isTls = protocol === 'https:';
  const name = hostname.replace(/^\[|\]$/g, '');
  const place = other ?? { host: name, port: port === '' ? (isTls ? 443 : 80) : Number(port) };
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
