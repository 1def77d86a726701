/** The exchange: a request with its decision, as response filters and logs use it; and its visitor. */
import type { Decided } from '../answers/decided.ts';
import type { ServedDomain } from '../following/served-domain.ts';

/** The visitor who sent a request, as far as the connection and trusted proxies show. */
export interface Visitor {
  /** The address that rules see; `null` unknown. */
  readonly ip: string | null;
  /** The address of the connection's peer; `null` unknown. */
  readonly peer: string | null;
  readonly scheme: 'http' | 'https';
  /** The port under which visitors reach the listener. */
  readonly port: number;
  /** Whether the peer is a trusted proxy, whose forwarding headers are used. */
  readonly trusted: boolean;
  /** The nodes that trusted proxies report, in the form of `X-Forwarded-For`, the visitor's side first; empty: none. */
  readonly hops: readonly string[];
  /** The name in the TLS handshake (SNI); `null`: none. */
  readonly serverName: string | null;
}

/** The ports that a URL leaves out (RFC 9110 §4.2). */
export const DEFAULT_PORTS = { http: 80, https: 443 } as const;

/** What a decision needs of the domain that owns the request's host. */
export type DecidingDomain = Pick<ServedDomain, 'name' | 'evaluator' | 'settings'>;

/** One request with its decision. */
export interface Exchange<Domain extends DecidingDomain = ServedDomain> extends Decided {
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly visitor: Visitor;
  readonly domain: Domain;
}
