/** What an edge before a `fetch` handler is made with, and what it is told of a visitor. */
import type { EdgeRequest } from '../../evaluator/index.ts';
import type { EdgeListeners, EdgeVerdict } from '../verdict.ts';

export interface FetchEdgeOptions extends EdgeListeners {
  /** Sealed plans to begin with (`edgeplan compile -o`, `seal`); more by `install`. */
  readonly plans?: readonly Uint8Array[];
  /**
   * What challenges are signed with, at least 16 octets: the same in every isolate, process and region. Default: a random
   * one of this isolate's own, which is enough for one process.
   */
  readonly secret?: Uint8Array | string;
  /** A sealed signature program for `waf` rules (`edgeplan waf compile -o`). Default: such rules match and do nothing. */
  readonly signatures?: Uint8Array | null;
  /** Octets of rate counters. Default: 16 MiB, an eighth of what a Worker has. */
  readonly counterOctets?: number;
}

/** What a `Request` does not say about who sent it. */
export interface FetchFacts extends Pick<EdgeRequest, 'country' | 'bot' | 'ja4' | 'ja4h'> {
  /** The visitor's address; `null` unknown. */
  readonly ip: string | null;
  /** `HTTP/1.1`, `HTTP/2`; signatures look at it. Default: `HTTP/1.1`. */
  readonly protocol?: string | undefined;
  /** The port as visitors know it. Default: the scheme's. */
  readonly port?: number | undefined;
  /**
   * The request's `Forwarded` and `X-Forwarded-*` headers come from a proxy that is believed, so the application gets
   * them. Default: false.
   */
  readonly trusted?: boolean | undefined;
}

/** The application: answers the request that the edge hands on. */
export type Next = (request: Request, verdict: EdgeVerdict) => Response | Promise<Response>;
