/** The settings that the primary of a node sends to each worker at its start, as JSON. */
import type { NodeTelemetryOptions } from './node-telemetry.ts';
import type { ShippedOptions } from './options.ts';
import type { ResourceShare } from './resource-shares.ts';

export interface WorkerSettings {
  /** The share of one worker. */
  readonly share: ResourceShare;
  /** Ports in the URLs of visitors; `https` is `null` without TLS. */
  readonly ports: { readonly http: number; readonly https: number | null };
  /** Ports that the node listens on, the health and metrics listener's included: no origin may have them. */
  readonly ownPorts: readonly number[];
  /** The node's folder, which has the plans of a control plane. */
  readonly data: string;
  /** Whether clients on this machine get the hosts that are served with a 421. */
  readonly listsHosts: boolean;
  /** A sealed signature program in base64; `null`: `waf` rules match and inspect nothing. */
  readonly signatures: string | null;
  /** TLS session ticket keys, 48 octets in base64: any worker resumes a session of any other. */
  readonly ticketKeys: string;
  /** The share of plain responses in the decision log, 0 to 1; `null`: there is no decision log. */
  readonly logRate: number | null;
  /** Which decisions are shipped to the control plane; `null`: none. */
  readonly shipped: ShippedOptions | null;
  /** The number of workers, which share the bounds of what is shipped. */
  readonly workers: number;
  readonly logLevel: string;
  /** Whether traffic is counted, and the cache reported, for a control plane. */
  readonly counted: boolean;
  /** What the worker exports its spans with; `null`: no collector is configured. */
  readonly exported: NodeTelemetryOptions | null;
}
