/** What the proxy asks of origins: requests, upgraded connections, pool states. */
import type { Duplex } from 'node:stream';
import type { ClientBody } from '../../buffers/client-body.ts';
import type { Origin, RuleRef } from '../../evaluator/decision.ts';
import type { OriginStates } from '../../evaluator/run.ts';
import type { HeaderList } from '../../http/answer.ts';
import type { ResponseSink, ResponseSource } from '../../http/response.ts';
import type { ServedDomain } from '../../sync/plan-table.ts';
import type { ClientOutcome } from '../client-response.ts';

/** A request as an origin gets it. */
export interface OutgoingRequest {
  readonly domain: ServedDomain;
  readonly origin: Origin;
  /** The rule that chose the origin; `null`: the host's own records. */
  readonly rule: RuleRef | null;
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** End-to-end headers, `Host` included, hop-by-hop ones taken out. */
  readonly headers: HeaderList;
  /** Octets where all of it was read already. */
  readonly body: ClientBody | Uint8Array | null;
  /** The network of the client, which shares in connections and buffers as one. */
  readonly network: string;
}

/** The client's side of a connection to be passed on. */
export interface UpgradedClient {
  readonly socket: Duplex;
  /** What the client asks to switch to, `websocket`. */
  readonly protocol: string;
  /** What the client sent after its head. */
  readonly head: Uint8Array;
  /** Answers with the edge's page for a status and closes: the origin cannot be reached. */
  fail(status: number): void;
  /** Told once, when the connection is over. `status` is 101, or what the origin answered instead. */
  done(outcome: ClientOutcome): void;
  /** Names and values of the headers to add to the origin's answer. */
  readonly ownHeaders: HeaderList;
}

export interface Origins {
  /** Health and load of a domain's pools, for its evaluator. */
  states(domain: string): OriginStates;
  /** Sends a request and pushes the answer; failing over to another origin of the pool is its own affair. */
  send(request: OutgoingRequest, sink: ResponseSink): ResponseSource;
  /** Passes a connection on (WebSocket): everything both ways until either side ends it. */
  upgrade(request: OutgoingRequest, client: UpgradedClient): void;
  /** WebSockets that are open or being opened, and those refused ever. */
  websockets(): { readonly open: number; readonly refused: number };
  /** The pools of a domain changed, or the domain is gone (`null`): starts and stops probes. */
  updateProbes(name: string, domain: ServedDomain | null): void;
  /** Origins of pools that take no requests now. */
  down(): number;
  close(): Promise<void>;
}
