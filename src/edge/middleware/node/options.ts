/** Options of an edge in a Node server, and the state of its sync. */
import type { ClientRequest } from '../../../base/http/client-messages.ts';
import type { KnownFacts } from '../../decide/request-context.ts';
import type { EdgeListeners } from '../../decide/verdict.ts';

/** Options of `createEdge`. */
export interface NodeEdgeOptions extends EdgeListeners {
  /** Sealed plans to start with (`edgeplan compile -o`, `seal`); `install` adds more. */
  readonly plans?: readonly Uint8Array[];
  /**
   * An edge file (`edge.yaml`) or a sealed plan to start with, installed again whenever it changes. Later errors of the
   * file go to `onFault`, and the plan before stays.
   */
  readonly file?: string;
  /** A control plane to follow, as `edgeplan node --control` does: published plans are installed at once. */
  readonly control?: ControlPlane;
  /**
   * Addresses and prefixes of trusted proxies, whose `X-Forwarded-For` and `X-Forwarded-Proto` are used. `Forwarded` and
   * `X-Forwarded-*` of other peers are removed from the request. Default: none.
   */
  readonly trustProxy?: readonly string[];
  /** The port in visitors' URLs. Default: the port of the connection; behind a proxy, the scheme's. */
  readonly publicPort?: number;
  /**
   * The secret that signs challenges, at least 16 octets: the same in every process of a domain, and after a restart.
   * Default: with `control` the control plane's, else a random one of this process.
   */
  readonly secret?: Uint8Array | string;
  /**
   * A sealed signature program for `waf` rules (`edgeplan waf compile -o`); `null` none. Compiled at once: a quarter of
   * a second for the starter set, which is the default.
   */
  readonly signatures?: Uint8Array | null;
  /**
   * A country database in MaxMind's format, read again when it changes. A missing file is an error of `createEdge`; one
   * that is no such database goes to `onFault`, and countries are unknown. Default: countries are unknown.
   */
  readonly countries?: string;
  /** A database of autonomous systems in the same format, in the same way. Default: `countries`, which may have them too. */
  readonly asns?: string;
  /** A folder of address ranges that bots' operators publish, `googlebot.json` and the like. */
  readonly botRanges?: string;
  /** Whether DNS verifies visitors that claim to be a bot. Default: true. */
  readonly botDns?: boolean;
  /** Facts about a visitor from a proxy in front, such as a CDN's country header; absent facts are looked up. */
  readonly facts?: (request: ClientRequest) => KnownFacts;
  /** Octets of rate counters. Default: 64 MiB. */
  readonly counterOctets?: number;
  /** Octets of opened plans; beyond, the least recently used are closed until their next request. Default: 64 MiB. */
  readonly openOctets?: number;
}

/** The control plane that an edge follows. */
export interface ControlPlane {
  /** The server's address, `http://` or `https://`. */
  readonly url: string;
  /** A node token (`edgeplan node-token create`), for this process alone. */
  readonly token: string;
  /** The server's public key, printed with the token. Default: trust on first use. */
  readonly trust?: string;
  /** Folder for plans, which a restart serves while the server is unreachable; no other process may use it. */
  readonly folder: string;
}

/** The state of sync. */
export interface SyncStatus {
  readonly connected: boolean;
  /** Milliseconds since the last octets of the server, or since the start. */
  readonly silentMs: number;
  /** Number of domains whose newest plan is not installed yet. */
  readonly pending: number;
  /** Number of domains whose newest plan was refused; they are served as before. */
  readonly refused: number;
  /** Why the server is not followed, as a sentence; `null`: it is followed. */
  readonly problem: string | null;
}
