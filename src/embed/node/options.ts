/** What an edge in a Node server is made with. */
import type { ClientRequest } from '../../http/client-messages.ts';
import type { KnownFacts } from '../../proxy/request-context.ts';
import type { EdgeListeners } from '../verdict.ts';

export interface NodeEdgeOptions extends EdgeListeners {
  /** Sealed plans to begin with (`edgeplan compile -o`, `seal`); more by `install`. */
  readonly plans?: readonly Uint8Array[];
  /**
   * An edge file (`edge.yaml`) or a sealed plan to begin with, installed again whenever it changes. What is wrong with it
   * later is told to `onFault`, and the plan before stays.
   */
  readonly file?: string;
  /** A server to follow, as `edgeplan node --control` does: what it publishes is installed as it comes. */
  readonly control?: ControlPlane;
  /**
   * Addresses and prefixes of the proxies in front, whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed. Of
   * everybody else the application gets no `Forwarded` and no `X-Forwarded-*`. Default: none.
   */
  readonly trustProxy?: readonly string[];
  /** The port as visitors know it. Default: the one that the connection came in on; behind a proxy, its scheme's. */
  readonly publicPort?: number;
  /**
   * What challenges are signed with, at least 16 octets: the same in every process that serves a domain, and after a
   * restart. Default: with `control` the server's, else a random one of this process's own.
   */
  readonly secret?: Uint8Array | string;
  /**
   * A sealed signature program for `waf` rules (`edgeplan waf compile -o`); `null` none. Made ready at once: a quarter of
   * a second for the starter set, which is the default.
   */
  readonly signatures?: Uint8Array | null;
  /** A country database in MaxMind's format, read again when it changes. Default: countries are unknown. */
  readonly countries?: string;
  /** A folder of address ranges that bots' operators publish, `googlebot.json` and the like. */
  readonly botRanges?: string;
  /** Whether the DNS is asked about visitors that say they are a bot. Default: true. */
  readonly botDns?: boolean;
  /** What somebody in front has found out about a visitor, such as a CDN's country header; absent facts are looked up. */
  readonly facts?: (request: ClientRequest) => KnownFacts;
  /** Octets of rate counters. Default: 64 MiB. */
  readonly counterOctets?: number;
  /** Octets of opened plans; those beyond it, the least recently used, are opened again when asked for. Default: 64 MiB. */
  readonly openOctets?: number;
}

export interface ControlPlane {
  /** The server's address, `http://` or `https://`. */
  readonly url: string;
  /** A node token (`edgeplan node-token create`), for this process alone. */
  readonly token: string;
  /** The server's public key, printed with the token. Default: the first one met is held to. */
  readonly trust?: string;
  /** Where plans are kept, so that a restart serves them while the server is away; this process's alone. */
  readonly folder: string;
}

/** How a server is followed. */
export interface SyncStatus {
  readonly connected: boolean;
  /** Milliseconds since the server said anything, or since the start. */
  readonly silentMs: number;
  /** Domains that are not yet where the server wants them. */
  readonly pending: number;
  /** Domains whose newest plan was refused; they are served as before. */
  readonly refused: number;
  /** What keeps the edge from following, in a sentence; `null`: nothing. */
  readonly problem: string | null;
}
