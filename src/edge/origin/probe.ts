/** Asks origins small questions: is it well, and does it speak TLS. */
import { connect } from 'node:tls';
import type { PoolHealth, PoolOriginAddress, PoolSettings } from '../../evaluator/index.ts';
import { CONNECT_MS } from '../limits.ts';
import type { Connections } from './connections.ts';
import { FORBIDDEN, type OriginGuard } from './guard.ts';
import { hostOf } from './host-name.ts';
import { UNRESOLVED } from './names.ts';

/** Whether an origin answers its probe path with a status below 400 in time. */
export function createProbe(connections: Connections) {
  return async (origin: PoolOriginAddress, pool: PoolSettings, health: PoolHealth): Promise<boolean> => {
    const host = health.host || pool.hostHeader || origin.address;
    try {
      const { pool: asked } = connections.to({ ...origin, serverName: hostOf(host) });
      const { statusCode, body } = await asked.request({
        method: 'GET',
        path: health.path,
        headers: { host, 'user-agent': 'edgeplan-probe' },
        signal: AbortSignal.timeout(health.timeoutSec * 1_000),
      });
      body.destroy();
      return statusCode < 400;
    } catch {
      // Whatever went wrong is the answer.
      return false;
    }
  };
}

/** How long what was found out about an origin is believed. */
const REMEMBERED_MS = 10 * 60_000;
/** The same where TLS did not answer, which may have been a bad moment: it is asked for again, behind requests. */
const DOUBTED_MS = 30_000;
/** Origins remembered; a node with more asks again. */
const MAX_REMEMBERED = 10_000;

type Scheme = 'http' | 'https';

export interface SchemeProbe {
  /** The scheme an `Auto` record's origin speaks: TLS on 443 if a handshake works there, else HTTP on 80. */
  schemeOf(address: string, port: number | null, serverName: string): Promise<Scheme>;
}

interface Known {
  scheme: Promise<Scheme>;
  /** When it was asked for. */
  readonly at: number;
  /** How long `scheme` is taken as it is. */
  believedMs: number;
}

export interface SchemeProbeOptions {
  /** In milliseconds, from wherever, that never jumps. */
  readonly clock: () => number;
  readonly guard: OriginGuard;
}

export function createSchemeProbe({ clock, guard }: SchemeProbeOptions): SchemeProbe {
  const known = new Map<string, Known>();
  return {
    schemeOf(address, port, serverName) {
      const key = `${address} ${port}`;
      const before = known.get(key);
      const age = before === undefined ? Number.POSITIVE_INFINITY : clock() - before.at;
      if (before !== undefined && age < before.believedMs) return before.scheme;
      const to = { host: address, port: port ?? 443, servername: serverName };
      const found = askScheme(to, guard);
      const asked = found.then((one): Scheme | Promise<Scheme> => one ?? before?.scheme ?? 'http');
      const scheme = before !== undefined && age < REMEMBERED_MS ? before.scheme : asked;
      const next: Known = { scheme, at: clock(), believedMs: REMEMBERED_MS };
      void found.then((one) => {
        next.scheme = asked;
        if (one === 'http') next.believedMs = DOUBTED_MS;
        // Nothing was learnt where there was nobody to ask.
        if (one === null) next.believedMs = 0;
      });
      if (known.size >= MAX_REMEMBERED) known.clear();
      known.set(key, next);
      return scheme;
    },
  };
}

/** @returns `null` where its name has no address now that may be asked */
function askScheme(
  to: { readonly host: string; readonly port: number; readonly servername: string },
  guard: OriginGuard,
): Promise<Scheme | null> {
  if (guard.refusal(to.host, to.port) !== null) return Promise.resolve(null);
  return new Promise((resolve) => {
    const lookup = guard.lookupFor(to.port);
    const socket = connect({ ...to, lookup, rejectUnauthorized: false, timeout: CONNECT_MS });
    const settle = (found: Scheme | null): void => {
      socket.destroy();
      resolve(found);
    };
    socket.once('secureConnect', () => settle('https'));
    socket.once('error', ({ code }: NodeJS.ErrnoException) =>
      settle(code === UNRESOLVED || code === FORBIDDEN ? null : 'http'),
    );
    socket.once('timeout', () => settle('http'));
  });
}
