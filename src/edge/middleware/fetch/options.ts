/** Options of an edge in front of a `fetch` handler, and the facts about a visitor. */
import type { EdgeRequest } from '../../../engine/evaluator/index.ts';
import type { EdgeListeners, EdgeVerdict } from '../verdict.ts';

/** Options of `createEdge`. */
export interface FetchEdgeOptions extends EdgeListeners {
  /** Sealed plans to start with (`edgeplan compile -o`, `seal`); `install` adds more. */
  readonly plans?: readonly Uint8Array[];
  /**
   * The secret that signs challenges, at least 16 octets: the same in every isolate, process and region. Default: a
   * random one of this isolate, which is enough for one process.
   */
  readonly secret?: Uint8Array | string;
  /** A sealed signature program for `waf` rules (`edgeplan waf compile -o`). Default: such rules match and do nothing. */
  readonly signatures?: Uint8Array | null;
  /** Octets of rate counters. Default: 16 MiB, an eighth of what a Worker has. */
  readonly counterOctets?: number;
}

/** Facts about the visitor that a `Request` does not contain. */
export interface FetchFacts extends Pick<EdgeRequest, 'country' | 'bot' | 'ja4' | 'ja4h'> {
  /** The visitor's address; `null` unknown. */
  readonly ip: string | null;
  /** `HTTP/1.1`, `HTTP/2`; `waf` signatures inspect it. Default: `HTTP/1.1`. */
  readonly protocol?: string | undefined;
  /** The port in the visitor's URL. Default: the scheme's. */
  readonly port?: number | undefined;
  /**
   * The request's `Forwarded` and `X-Forwarded-*` headers are from a trusted proxy, so the application gets them.
   * Default: false.
   */
  readonly trusted?: boolean | undefined;
}

/** The application: answers a forwarded request. */
export type Next = (request: Request, verdict: EdgeVerdict) => Response | Promise<Response>;
