/** The metrics of a node that follows a control plane, for Prometheus. */
import type { Registry } from 'prom-client';
import type { MetricName } from '../../../base/telemetry/metrics/declared.ts';
import type { TrafficState } from '../../following/traffic/traffic.ts';
import { addCount, addGauge } from './metrics.ts';

/** The state of a node's sync with the control plane. */
export interface SyncProgress {
  /** Whether the manifest is being followed now, by stream or by poll. */
  readonly connected: boolean;
  /** Milliseconds since the last message of the control plane, or since the start. */
  readonly silentMs: number;
  /** Names whose plan is not yet the manifest's. */
  readonly pending: number;
  /** Whether the first manifest is not installed yet. */
  readonly filling: boolean;
  /** Names whose newest plan was refused. */
  readonly refused: number;
  /** Why changes cannot be stored, as a phrase; `null`: they can be stored. */
  readonly disk: string | null;
  /** Domains whose certificates are not the manifest's yet. */
  readonly pendingCertificates: number;
  /** The certificates of the feed: how many, and when the first expires (milliseconds since the epoch; `null`: none). */
  readonly certificates: { readonly count: number; readonly firstExpiry: number | null };
  /** Reports about plans that the control plane has not received. */
  readonly unreported: number;
  readonly traffic: TrafficState;
}

/** Why a node that follows should get no traffic, as a sentence; `null`: it is ready. */
export function unreadySync({ disk, filling, pending }: SyncProgress): string | null {
  if (filling) return `the first plans are being fetched: ${pending} names are not served yet`;
  return disk === null ? null : `changes cannot be stored, so that what is served grows old: ${disk}`;
}

/** Adds the metrics; `read` is called at each scrape. */
export function addSyncMetrics(registry: Registry, read: () => SyncProgress): void {
  const add = (name: MetricName, value: (following: SyncProgress) => number): void =>
    // Of a node's processes one follows the control plane.
    addGauge(registry, { name, read: () => value(read()), aggregator: 'max' });
  add('edgeplan_node_following', ({ connected }) => (connected ? 1 : 0));
  add('edgeplan_node_control_silent_seconds', ({ silentMs }) => silentMs / 1_000);
  add('edgeplan_node_plans_pending', ({ pending }) => pending);
  add('edgeplan_node_plans_refused', ({ refused }) => refused);
  add('edgeplan_node_certificates', ({ certificates }) => certificates.count);
  add('edgeplan_node_certificates_pending', ({ pendingCertificates }) => pendingCertificates);
  add('edgeplan_node_certificate_expiry_timestamp_seconds', ({ certificates: { firstExpiry } }) =>
    firstExpiry === null ? 0 : firstExpiry / 1_000,
  );
  add('edgeplan_node_reports_waiting', ({ unreported }) => unreported);
  add('edgeplan_node_disk_failing', ({ disk }) => (disk === null ? 0 : 1));
  add('edgeplan_node_traffic_files', ({ traffic }) => traffic.files);
  add('edgeplan_node_traffic_file_bytes', ({ traffic }) => traffic.octets);
  add('edgeplan_node_traffic_in_memory', ({ traffic }) => (traffic.disk === null ? 0 : 1));
  const count = (name: MetricName, value: (traffic: TrafficState) => number): void =>
    addCount(registry, { name, read: () => value(read().traffic) });
  count('edgeplan_node_traffic_batches_dropped_total', ({ droppedBatches }) => droppedBatches);
  count('edgeplan_node_traffic_tops_dropped_total', ({ droppedTops }) => droppedTops);
  count('edgeplan_node_traffic_lost_spans_total', ({ lostSpans }) => lostSpans);
}
