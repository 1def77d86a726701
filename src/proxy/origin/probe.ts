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
      // To undici, a body that is left before its end is an error, also one that has come whole.
      body.on('error', () => undefined).destroy();
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
  /**
   * The scheme an `Auto` record's origin speaks: TLS on 443 if a handshake works there, else HTTP on 80. Rejects with the
   * error of the lookup, of the guard or of the connection where there is nobody to ask and the scheme is not known: what
   * answers there a moment later may speak TLS, and a request must not go to it in clear.
   */
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
      const found = askScheme(to, { guard, mayBeElsewhere: port === null });
      const asked = before === undefined ? found : found.catch(() => before.scheme);
      const scheme = before !== undefined && age < REMEMBERED_MS ? before.scheme : asked;
      const next: Known = { scheme, at: clock(), believedMs: REMEMBERED_MS };
      found.then(
        (one) => {
          next.scheme = asked;
          if (one === 'http') next.believedMs = DOUBTED_MS;
        },
        () => {
          // Nothing was learnt, so the next request waits for what is found out then.
          next.scheme = asked;
          next.believedMs = 0;
          if (before === undefined && known.get(key) === next) known.delete(key);
        },
      );
      if (known.size >= MAX_REMEMBERED) known.clear();
      known.set(key, next);
      return scheme;
    },
  };
}

interface AskOptions {
  readonly guard: OriginGuard;
  /** HTTP has a port of its own, so that a TLS port where nobody listens means HTTP. */
  readonly mayBeElsewhere: boolean;
}

/** Rejects where there is nobody to ask now. */
function askScheme(
  to: { readonly host: string; readonly port: number; readonly servername: string },
  { guard, mayBeElsewhere }: AskOptions,
): Promise<Scheme> {
  const refusal = guard.refusal(to.host, to.port);
  if (refusal !== null) return Promise.reject(refusal);
  return new Promise((resolve, reject) => {
    const lookup = guard.lookupFor(to.port);
    const socket = connect({ ...to, lookup, rejectUnauthorized: false, timeout: CONNECT_MS });
    let isConnected = false;
    const settle = (found: Scheme): void => {
      socket.destroy();
      resolve(found);
    };
    // An origin that accepted the connection, or whose HTTP has a port of its own, is taken to speak HTTP.
    const fail = (error: NodeJS.ErrnoException): void => {
      const hasAddress = error.code !== UNRESOLVED && error.code !== FORBIDDEN;
      if (isConnected || (hasAddress && mayBeElsewhere)) {
        settle('http');
        return;
      }
      socket.destroy();
      reject(error);
    };
    socket.once('connect', () => {
      isConnected = true;
    });
    socket.once('secureConnect', () => settle('https'));
    socket.once('error', fail);
    socket.once('timeout', () =>
      fail(Object.assign(new Error(`no connection within ${CONNECT_MS} ms`), { code: 'ETIMEDOUT' })),
    );
  });
}
