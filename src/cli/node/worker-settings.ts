/** What a node's primary tells its workers once, as JSON. */
import type { ResourceShare } from './resource-shares.ts';

export interface WorkerSettings {
  /** Each worker's share. */
  readonly serve: ResourceShare;
  /** The ports as visitors know them; `https` is `null` without TLS. */
  readonly ports: { readonly http: number; readonly https: number | null };
  /** Those that the node listens on, its operators' included. */
  readonly ownPorts: readonly number[];
  /** The node's own folder, where plans lie that come from a control plane. */
  readonly data: string;
  /** A sealed signature program in base64; `null`: waf rules match and do nothing. */
  readonly signatures: string | null;
  /** 48 octets in base64: sessions are resumed by whichever worker a client meets. */
  readonly ticketKeys: string;
  /** The share of plain answers that is written down; `null`: there is no decision log. */
  readonly logRate: number | null;
  readonly logLevel: string;
  /** Somebody is told of traffic. */
  readonly counted: boolean;
}

/** Names of the listeners, by which connections reach a worker. */
export const HTTP = 'http';
export const HTTPS = 'https';
