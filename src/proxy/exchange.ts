/** One request on its way through the node, and what the parts that handle it need of each other. */
import type { Decided } from '../answers/decided.ts';
import type { ServedDomain } from '../sync/plan-table.ts';

/** Who asks, as far as the connection and trusted proxies tell. */
export interface Visitor {
  /** The address that rules see; `null` unknown. */
  readonly ip: string | null;
  /** The peer of the connection itself. */
  readonly peer: string | null;
  readonly scheme: 'http' | 'https';
  /** The listener's port as visitors know it. */
  readonly port: number;
  /** The peer is a trusted proxy, so its forwarding headers are kept. */
  readonly trusted: boolean;
  /** The name asked for in the TLS handshake; `null` without one. */
  readonly serverName: string | null;
}

export interface Exchange extends Decided {
  readonly startedAt: number;
  readonly visitor: Visitor;
  readonly domain: ServedDomain;
}
