/** The interface of the proxy to origins: requests, switched connections, the health of pools. */
import type { ClientBody } from '../../../base/buffers/client-body.ts';
import type { HeaderList } from '../../../base/http/header-fields.ts';
import type { ResponseSink, ResponseSource } from '../../../base/http/response.ts';
import type { Origin, RuleRef } from '../../../engine/evaluator/decision.ts';
import type { OriginStates } from '../../../engine/evaluator/run.ts';
import type { ServedDomain } from '../../following/served-domain.ts';
import type { ClientOutcome } from '../client-response.ts';
import type { SwitchingClient } from '../switching-client.ts';

/** How an origin treated a request. `failed`: it did not answer (connection, TLS, time-out), or with a status of at least 500. */
export const ORIGIN_RESULTS = ['answered', 'failed', 'abandoned'] as const;
/** One of ORIGIN_RESULTS; `abandoned`: the client left or failed first, or no connection was free. */
export type OriginResult = (typeof ORIGIN_RESULTS)[number];

/** A request's way to its origins, several attempts in one. */
export interface OriginUse {
  /** Whether an attempt has begun. */
  begun: boolean;
  /** Of the last attempt. `abandoned` until it is known. */
  result: OriginResult;
  /** Milliseconds from the end of the request to the head of the response; `null`: no origin answered. */
  ms: number | null;
  /** Whether the last attempt was written to a connection that had served others, and nothing has come back since. */
  reused: boolean;
}

/** A request in the form that an origin gets. */
export interface OutgoingRequest {
  readonly domain: ServedDomain;
  readonly origin: Origin;
  /** The rule that chose the origin; `null`: the host's own records. */
  readonly rule: RuleRef | null;
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** End-to-end headers with `Host`, without hop-by-hop ones. */
  readonly headers: HeaderList;
  /** Octets if inspection has read all of it; `null`: the request has no body. */
  readonly body: ClientBody | Uint8Array | null;
  /** Where its way is recorded. */
  readonly use: OriginUse;
  /** The network of the client (`networkOf`), whose clients share one portion of connections and buffers. */
  readonly network: string;
  /** Called with each origin that the request is sent to, in their order. */
  readonly tried?: (origin: Origin) => void;
}

/** A client that switches protocols, with what its request is answered by. */
export interface UpgradedClient {
  readonly client: SwitchingClient;
  /** The origin cannot be reached: sends the edge's page for a status and closes. */
  fail(status: number): void;
  /**
   * Called once, when the connection has ended. `status` is 101, over HTTP/2 too, or the origin's own if it did not switch.
   * @param received octets that the client sent after its head; absent: nothing was switched
   */
  done(outcome: ClientOutcome, received?: number): void;
  /** Whether a header of the origin's refusal is removed, by its lower-case name. */
  isDropped(name: string): boolean;
  /** The headers of the origin's response as the client gets them: with those that the edge adds, and changed by rules. */
  finished(headers: HeaderList): HeaderList;
}

export interface Origins {
  /** Health and load of a domain's pools, for its evaluator. */
  states(domain: string): OriginStates;
  /** Sends a request and pushes the response; fails over to another origin of the pool if that is allowed. */
  send(request: OutgoingRequest, sink: ResponseSink): ResponseSource;
  /** Switches a connection (WebSocket): all octets both ways until either side ends it. */
  upgrade(request: OutgoingRequest, client: UpgradedClient): void;
  /** Ends all WebSockets in their closing handshake, also those that are opened later: the node drains. */
  leaveWebsockets(): void;
  /** WebSockets open or being opened now, and refused since the start. */
  websockets(): { readonly open: number; readonly refused: number };
  /** The pools of a domain have changed, or the domain is no longer served (`null`): starts and stops probes. */
  updateProbes(name: string, domain: ServedDomain | null): void;
  /** The number of origins whose first probe has no result yet. */
  unprobed(): number;
  /** The number of origins of pools that take no requests now. */
  down(): number;
  close(): Promise<void>;
}
