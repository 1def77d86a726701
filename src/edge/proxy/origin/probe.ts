/** Probes origins: the health check of a pool's origin, and whether an origin of scheme `auto` offers TLS. */
import { connect } from 'node:tls';
import type { PoolHealth, PoolOriginAddress, PoolSettings } from '../../../engine/evaluator/index.ts';
import { CONNECT_MS } from '../limits.ts';
import type { Connections } from './connections.ts';
import { FORBIDDEN, type OriginGuard } from './guard.ts';
import { hostOf } from './host-name.ts';
import { UNRESOLVED } from './names.ts';

/** Returns the health check: whether an origin answers its probe path in time with a status below 400. Never rejects. */
export function createProbe(connections: Connections) {
  return async (origin: PoolOriginAddress, pool: PoolSettings, health: PoolHealth): Promise<boolean> => {
    const host = health.host || pool.hostHeader || origin.address;
    try {
      const { pool: connection } = connections.to({ ...origin, serverName: hostOf(host) });
      const { statusCode, body } = await connection.request({
        method: 'GET',
        path: health.path,
        headers: { host, 'user-agent': 'edgeplan-probe' },
        signal: AbortSignal.timeout(health.timeoutSec * 1_000),
      });
      // undici reports an error for a body that is not read to its end, even if all of it has arrived.
      body.on('error', () => undefined).destroy();
      return statusCode < 400;
    } catch {
      // Any failure means that the origin is not healthy.
      return false;
    }
  };
}

/** Milliseconds for which the scheme of an origin is used without another probe. */
const REMEMBERED_MS = 10 * 60_000;
/** The same for `http`: TLS may have failed by chance, so it is probed again in the background. */
const DOUBTED_MS = 30_000;
/** Origins whose scheme is remembered; beyond it all are probed again. */
const MAX_REMEMBERED = 10_000;

type Scheme = 'http' | 'https';

export interface SchemeProbe {
  /**
   * The scheme for an `Auto` record's origin: TLS on 443 if a handshake works there, else HTTP on 80. Rejects with the error
   * of the lookup, the guard or the connection if no server answers and the scheme is not known: a server that answers a
   * moment later may offer TLS, and the request must not reach it in clear text.
   */
  schemeOf(address: string, port: number | null, serverName: string): Promise<Scheme>;
}

interface ProbedScheme {
  scheme: Promise<Scheme>;
  /** The time of the probe, on the clock. */
  readonly at: number;
  /** Milliseconds after which the scheme is probed again. */
  validMs: number;
}

export interface SchemeProbeOptions {
  /** Milliseconds, monotonic. */
  readonly clock: () => number;
  readonly guard: OriginGuard;
}

export function createSchemeProbe({ clock, guard }: SchemeProbeOptions): SchemeProbe {
  /** By address and port. */
  const probed = new Map<string, ProbedScheme>();
  return {
    schemeOf(address, port, serverName) {
      const key = `${address} ${port}`;
      const before = probed.get(key);
      const age = before === undefined ? Number.POSITIVE_INFINITY : clock() - before.at;
      if (before !== undefined && age < before.validMs) return before.scheme;
      const to = { host: address, port: port ?? 443, servername: serverName };
      const probe = probeScheme(to, { guard, hasHttpPort: port === null });
      const result = before === undefined ? probe : probe.catch(() => before.scheme);
      // Requests use the previous scheme until the probe ends, unless that is too old.
      const scheme = before !== undefined && age < REMEMBERED_MS ? before.scheme : result;
      const next: ProbedScheme = { scheme, at: clock(), validMs: REMEMBERED_MS };
      probe.then(
        (answer) => {
          next.scheme = result;
          if (answer === 'http') next.validMs = DOUBTED_MS;
        },
        () => {
          // The probe has failed: the next request waits for a probe of its own.
          next.scheme = result;
          next.validMs = 0;
          if (before === undefined && probed.get(key) === next) probed.delete(key);
        },
      );
      if (probed.size >= MAX_REMEMBERED) probed.clear();
      probed.set(key, next);
      return scheme;
    },
  };
}

interface SchemeProbing {
  readonly guard: OriginGuard;
  /** HTTP has a port of its own (80), so that a closed TLS port means HTTP. */
  readonly hasHttpPort: boolean;
}

/** Tries a TLS handshake. Rejects if the origin has no address that is allowed, or accepts no connection. */
function probeScheme(
  to: { readonly host: string; readonly port: number; readonly servername: string },
  { guard, hasHttpPort }: SchemeProbing,
): Promise<Scheme> {
  const refusal = guard.refusal(to.host, to.port);
  if (refusal !== null) return Promise.reject(refusal);
  return new Promise((resolve, reject) => {
    const lookup = guard.lookupFor(to.port);
    const socket = connect({ ...to, lookup, rejectUnauthorized: false, timeout: CONNECT_MS });
    let isConnected = false;
    const settle = (scheme: Scheme): void => {
      socket.destroy();
      resolve(scheme);
    };
    // An origin that has accepted the connection, or whose HTTP has a port of its own, counts as one of HTTP.
    const fail = (error: NodeJS.ErrnoException): void => {
      const hasAddress = error.code !== UNRESOLVED && error.code !== FORBIDDEN;
      if (isConnected || (hasAddress && hasHttpPort)) {
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
