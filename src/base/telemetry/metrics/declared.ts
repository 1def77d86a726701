/**
 * All metrics of this project's own: type, labels, where they appear, and the `# HELP` text. Metrics are created from here by
 * name, and `METRICS.md` is generated from here. Names follow Prometheus' conventions: base units (seconds, bytes) as a
 * suffix, `_total` for counters.
 */
import type { Counter } from 'prom-client';

/** What a metric is. */
export interface MetricDeclaration {
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** The processes that have it. `workers`: a node with `--workers` only; `agent`: an agent, which has those of a node too. */
  readonly at: readonly ('server' | 'node' | 'workers' | 'agent')[];
  readonly labels: readonly string[];
  /**
   * All values of each label, if they are known. The series of such a counter begin at 0, as Prometheus' "Avoid missing metrics"
   * demands: `rate()` of a series that appears with 1 does not see its first event.
   */
  readonly values?: Readonly<Record<string, readonly string[]>>;
  /** The option that the process needs for it; absent: none. */
  readonly needs?: '--control' | '--log' | '--zones' | '--acme';
  /** Meaning and unit; one sentence without a full stop. */
  readonly help: string;
}

/** The metrics by name, in the order of `METRICS.md`. */
export const METRICS = {
  edgeplan_build_info: {
    type: 'gauge',
    at: ['server', 'node'],
    labels: ['version', 'node', 'plan_format'],
    help: 'Always 1; the labels are the version of edgeplan, of Node, and of the plans that are written and read',
  },
  edgeplan_stall_seconds: {
    type: 'histogram',
    at: ['server', 'node'],
    labels: [],
    help: 'Seconds of each stall of the event loop above 0.02; the process handled nothing meanwhile',
  },
  edgeplan_api_requests_total: {
    type: 'counter',
    at: ['server'],
    labels: ['method', 'path', 'status'],
    help: 'Answered requests of the management API, by method, path of the route (empty: no route) and status',
  },
  edgeplan_api_request_duration_seconds: {
    type: 'histogram',
    at: ['server'],
    labels: ['method', 'path'],
    help: 'Seconds from the first byte of a request of the management API to the last byte of its answer',
  },
  edgeplan_api_account_requests_total: {
    type: 'counter',
    at: ['server'],
    labels: ['account'],
    help: 'Requests of an account, by its id; `other`: all accounts beyond the first 1000',
  },
  edgeplan_api_account_seconds_total: {
    type: 'counter',
    at: ['server'],
    labels: ['account'],
    help: 'Seconds that the requests of an account took, by its id; `other`: all accounts beyond the first 1000',
  },
  edgeplan_compute_duration_seconds: {
    type: 'histogram',
    at: ['server'],
    labels: ['kind'],
    help: 'Seconds that computations (analysis, diff, simulate, hits, traffic, recommend) took in their thread, those past a limit included',
  },
  edgeplan_compute_account_computations_total: {
    type: 'counter',
    at: ['server'],
    labels: ['account'],
    help: 'Computations of an account, by its id; `other`: all accounts beyond the first 1000',
  },
  edgeplan_compute_account_seconds_total: {
    type: 'counter',
    at: ['server'],
    labels: ['account'],
    help: 'Seconds that the computations of an account took, by its id; `other`: all accounts beyond the first 1000',
  },
  edgeplan_publications_total: {
    type: 'counter',
    at: ['server'],
    labels: ['kind'],
    values: { kind: ['plan', 'tombstone'] },
    help: 'Revisions published by this process: plans, and tombstones of names that must not be served',
  },
  edgeplan_publication_delay_seconds: {
    type: 'histogram',
    at: ['server'],
    labels: [],
    help: 'Seconds from the oldest write that a revision covers to its commit',
  },
  edgeplan_publications_failing: {
    type: 'gauge',
    at: ['server'],
    labels: [],
    help: 'Domains that this process could not publish at its last attempt; the log has the reasons',
  },
  edgeplan_plans_of_older_version: {
    type: 'gauge',
    at: ['server'],
    labels: [],
    help: 'Domains whose current plan has an older format than this process writes; it publishes them again',
  },
  edgeplan_notification_deliveries_total: {
    type: 'counter',
    at: ['server'],
    labels: ['channel', 'outcome'],
    values: {
      channel: ['email', 'sms', 'webhook'],
      outcome: ['delivered', 'retry', 'refused', 'skipped'],
    },
    help: 'Attempts to deliver a notification, by channel (`email`, `sms`, `webhook`) and outcome; `retry`: it is attempted again',
  },
  edgeplan_notifications_waiting: {
    type: 'gauge',
    at: ['server'],
    labels: [],
    help: 'Deliveries of notifications that wait for their next attempt, those of all servers',
  },
  edgeplan_zones: {
    type: 'gauge',
    at: ['server'],
    labels: [],
    needs: '--zones',
    help: 'Zones that name servers can transfer',
  },
  edgeplan_zones_waiting: {
    type: 'gauge',
    at: ['server'],
    labels: [],
    needs: '--zones',
    help: 'Zones with changes that are in no version yet',
  },
  edgeplan_zone_delay_seconds: {
    type: 'histogram',
    at: ['server'],
    labels: [],
    needs: '--zones',
    help: 'Seconds from the oldest change of a zone to the version that has it',
  },
  edgeplan_zone_answers_total: {
    type: 'counter',
    at: ['server'],
    labels: ['kind'],
    values: { kind: ['soa', 'axfr', 'ixfr', 'error', 'refused'] },
    needs: '--zones',
    help: 'Requests to the server of zones, by what they were answered with; `refused`: no valid signature',
  },
  edgeplan_zone_notify_waiting: {
    type: 'gauge',
    at: ['server'],
    labels: ['secondary'],
    needs: '--zones',
    help: 'Zones whose NOTIFY a name server has not accepted yet',
  },
  edgeplan_certificates_due: {
    type: 'gauge',
    at: ['server'],
    labels: [],
    needs: '--acme',
    help: 'Certificates whose order at the CA is due or under way',
  },
  edgeplan_certificate_orders_total: {
    type: 'counter',
    at: ['server'],
    labels: ['outcome'],
    values: { outcome: ['issued', 'refused', 'failed'] },
    needs: '--acme',
    help: 'Orders at the CA that have ended, by `outcome`: `issued`; `refused`: for some of the names; `failed`',
  },
  edgeplan_outbox_rows: {
    type: 'gauge',
    at: ['server'],
    labels: [],
    help: 'Accepted changes that no revision covers yet',
  },
  edgeplan_outbox_age_seconds: {
    type: 'gauge',
    at: ['server'],
    labels: [],
    help: 'Seconds since the oldest accepted change that no revision covers yet; 0 without one',
  },
  edgeplan_node_reports_refused_total: {
    type: 'counter',
    at: ['server'],
    labels: [],
    help: 'Reports of nodes that were refused since they cannot be true; the log names node, field and limit',
  },
  edgeplan_traffic_waiting_parts: {
    type: 'gauge',
    at: ['server'],
    labels: [],
    help: 'Traffic counts of a domain and minute that nodes reported and no roll-up has merged yet',
  },
  edgeplan_traffic_waiting_seconds: {
    type: 'gauge',
    at: ['server'],
    labels: [],
    help: 'Seconds since the oldest of them was accepted; a roll-up follows each ten minutes, so some 720 are usual; 0 without one',
  },
  edgeplan_traffic_roll_up_seconds: {
    type: 'histogram',
    at: ['server'],
    labels: [],
    help: 'Time of a round of the roll-up that merges traffic counts into minutes, hours and days',
  },
  edgeplan_log_entries_total: {
    type: 'counter',
    at: ['server'],
    labels: ['outcome'],
    values: { outcome: ['stored', 'repeated', 'dropped'] },
    help: 'Entries of decision logs that nodes shipped: `stored`, `repeated` (stored before), `dropped` (too old, of no domain, or beyond the bound of their domain and day)',
  },
  edgeplan_log_batches_failed_total: {
    type: 'counter',
    at: ['server'],
    labels: ['code'],
    values: { code: ['full', 'busy', 'unavailable'] },
    help: 'Batches of log entries that could not be stored, by the reason: `full`, `busy`, `unavailable`; nodes send them again',
  },
  edgeplan_node_requests_total: {
    type: 'counter',
    at: ['node'],
    labels: ['action', 'status'],
    values: {
      action: ['forward', 'block', 'challenge', 'redirect', 'respond', 'refuse', 'none'],
      status: ['1xx', '2xx', '3xx', '4xx', '5xx'],
    },
    help: 'Requests, by decided action (`forward`, `block`, `challenge`, `redirect`, `respond`, `refuse`; `none`: refused before any plan was evaluated) and class of the status (`2xx`; `0xx`: forwarded by a proxy that asks an agent, which has the response)',
  },
  edgeplan_node_request_duration_seconds: {
    type: 'histogram',
    at: ['node'],
    labels: [],
    help: 'Seconds from the head of a request to the last byte of its response, WebSockets excluded',
  },
  edgeplan_node_response_bytes_total: {
    type: 'counter',
    at: ['node'],
    labels: [],
    help: 'Bytes of response bodies sent to visitors',
  },
  edgeplan_node_cache_requests_total: {
    type: 'counter',
    at: ['node'],
    labels: ['result'],
    values: {
      result: ['hit', 'stale', 'miss', 'revalidated', 'shared', 'pass', 'bypass', 'unavailable'],
    },
    help: 'Requests that reached the cache, by result: `hit`, `stale`, `miss`, `revalidated`, `shared`, `pass`, `bypass`, `unavailable`',
  },
  edgeplan_node_markdown_requests_total: {
    type: 'counter',
    at: ['node'],
    labels: ['result'],
    values: {
      result: [
        ...['rendered', 'size', 'coding', 'no-transform', 'busy', 'late', 'depth', 'growth', 'address'],
        ...['empty', 'failed'],
      ],
    },
    help: 'Requests for Markdown, by result: `rendered`, or why HTML was sent: `size`, `coding`, `no-transform`, `busy`, `late`, `depth`, `growth`, `address`, `empty`, `failed`',
  },
  edgeplan_node_dry_run_requests_total: {
    type: 'counter',
    at: ['node'],
    labels: [],
    help: 'Requests whose decision would differ if rules in dry_run were enforced',
  },
  edgeplan_node_faults_total: {
    type: 'counter',
    at: ['node'],
    labels: ['fault'],
    help: 'Failed requests, by fault (`aborted`: the client closed the connection); `edgeplan codes` explains each; `other`: words beyond the first 32',
  },
  edgeplan_node_connections: {
    type: 'gauge',
    at: ['node'],
    labels: [],
    help: 'Open connections of clients',
  },
  edgeplan_node_connections_refused_total: {
    type: 'counter',
    at: ['node'],
    labels: ['bound'],
    values: { bound: ['all', 'address'] },
    help: 'Connections closed at a limit: of all connections (`all`), or of one address (`address`)',
  },
  edgeplan_node_handshakes_refused_total: {
    type: 'counter',
    at: ['node'],
    labels: ['reason'],
    values: {
      reason: ['unknown', 'suspended', 'no_certificate', 'no_name', 'bad_name', 'plain_http'],
    },
    help: 'Refused TLS handshakes, by reason: `unknown` (no domain has the name), `suspended`, `no_certificate`, `no_name` (none was sent), `bad_name` (no host name), `plain_http` (HTTP without TLS, answered with 400)',
  },
  edgeplan_agent_door_events: {
    type: 'gauge',
    at: ['agent'],
    labels: ['door', 'event'],
    help: 'What the doors of an agent count since the start, by door (`SPOP`, `HTTP`, `ext_authz`) and event; of an event with reasons, `event.reason`',
  },
  edgeplan_node_websockets: {
    type: 'gauge',
    at: ['node'],
    labels: [],
    help: 'WebSockets open or being opened',
  },
  edgeplan_node_websockets_refused_total: {
    type: 'counter',
    at: ['node'],
    labels: [],
    help: 'WebSockets answered with 503 at the limit of WebSockets',
  },
  edgeplan_node_buffer_memory_bytes: {
    type: 'gauge',
    at: ['node'],
    labels: [],
    help: 'Bytes of bodies buffered in memory for slow clients',
  },
  edgeplan_node_buffer_disk_bytes: {
    type: 'gauge',
    at: ['node'],
    labels: [],
    help: 'Bytes of bodies buffered in files for slow clients',
  },
  edgeplan_node_origins_down: {
    type: 'gauge',
    at: ['node'],
    labels: [],
    help: 'Origins of pools that get no requests, by probes or after failed requests',
  },
  edgeplan_node_plans_installed: {
    type: 'gauge',
    at: ['node'],
    labels: [],
    help: 'Installed names, those that must not be served included',
  },
  edgeplan_node_plans_opened: {
    type: 'gauge',
    at: ['node'],
    labels: [],
    help: 'Plans open in memory; with several workers, the sum of all',
  },
  edgeplan_node_plans_pending: {
    type: 'gauge',
    at: ['node'],
    labels: [],
    needs: '--control',
    help: 'Names whose plan is not yet the one of the control plane',
  },
  edgeplan_node_plans_refused: {
    type: 'gauge',
    at: ['node'],
    labels: [],
    needs: '--control',
    help: 'Names whose newest plan was refused; the previous one stays in use',
  },
  edgeplan_node_certificates: {
    type: 'gauge',
    at: ['node'],
    labels: [],
    needs: '--control',
    help: 'Certificates in use that came from the control plane, those of --certificates excluded',
  },
  edgeplan_node_certificates_pending: {
    type: 'gauge',
    at: ['node'],
    labels: [],
    needs: '--control',
    help: 'Domains whose certificates are not yet those of the control plane; the log has the reasons',
  },
  edgeplan_node_certificate_expiry_timestamp_seconds: {
    type: 'gauge',
    at: ['node'],
    labels: [],
    needs: '--control',
    help: 'When the first of these certificates expires, in seconds since 1970; 0 without one',
  },
  edgeplan_node_following: {
    type: 'gauge',
    at: ['node'],
    labels: [],
    needs: '--control',
    help: 'Whether the node follows the control plane now: 1 or 0',
  },
  edgeplan_node_control_silent_seconds: {
    type: 'gauge',
    at: ['node'],
    labels: [],
    needs: '--control',
    help: 'Seconds since the last message of the control plane, or since the start; it sends one every 15 seconds',
  },
  edgeplan_node_disk_failing: {
    type: 'gauge',
    at: ['node'],
    labels: [],
    needs: '--control',
    help: 'Whether the last change could not be stored, for lack of space or another disk failure: 1 or 0',
  },
  edgeplan_node_reports_waiting: {
    type: 'gauge',
    at: ['node'],
    labels: [],
    needs: '--control',
    help: 'Reports about plans that the control plane has not received',
  },
  edgeplan_node_traffic_files: {
    type: 'gauge',
    at: ['node'],
    labels: [],
    needs: '--control',
    help: 'Files with batches of traffic counts that the control plane has not accepted; one a minute',
  },
  edgeplan_node_traffic_file_bytes: {
    type: 'gauge',
    at: ['node'],
    labels: [],
    needs: '--control',
    help: 'Bytes of these files',
  },
  edgeplan_node_traffic_in_memory: {
    type: 'gauge',
    at: ['node'],
    labels: [],
    needs: '--control',
    help: 'Whether traffic counts are in memory only, since they cannot be written to the disk: 1 or 0',
  },
  edgeplan_node_traffic_batches_dropped_total: {
    type: 'counter',
    at: ['node'],
    labels: [],
    needs: '--control',
    help: 'Batches of traffic counts that are lost: refused by the control plane, damaged, or beyond the limit of files',
  },
  edgeplan_node_traffic_tops_dropped_total: {
    type: 'counter',
    at: ['node'],
    labels: [],
    needs: '--control',
    help: 'Top lists dropped for a limit of memory or disk, those of a domain and minute as one; counts are never dropped',
  },
  edgeplan_node_traffic_lost_spans_total: {
    type: 'counter',
    at: ['node'],
    labels: [],
    needs: '--control',
    help: 'Times that a process was killed: the requests of up to its last second are not counted',
  },
  edgeplan_node_log_lines_total: {
    type: 'counter',
    at: ['node'],
    labels: [],
    needs: '--log',
    help: 'Lines written to the decision log',
  },
  edgeplan_node_log_lines_dropped_total: {
    type: 'counter',
    at: ['node'],
    labels: [],
    needs: '--log',
    help: 'Lines missing from the decision log: not written fast enough, or not at all',
  },
  edgeplan_node_shipped_lines_dropped_total: {
    type: 'counter',
    at: ['node'],
    labels: [],
    needs: '--control',
    help: 'Lines of the decision log that are not shipped: of plain requests beyond the rate or the share of their domain, or not written to the queue on the disk',
  },
  edgeplan_node_shipped_requests_counted_total: {
    type: 'counter',
    at: ['node'],
    labels: [],
    needs: '--control',
    help: 'Blocks, challenges, dry_run hits and faults that are shipped as a number by action, rule and network in place of a line each (`--ship-lines`)',
  },
  edgeplan_node_log_failures_total: {
    type: 'counter',
    at: ['node'],
    labels: [],
    needs: '--log',
    help: 'Failed writes and opens of the decision log',
  },
  edgeplan_node_log_lines_waiting: {
    type: 'gauge',
    at: ['node'],
    labels: [],
    needs: '--log',
    help: 'Lines that wait to be written to the decision log',
  },
  edgeplan_node_workers_ready: {
    type: 'gauge',
    at: ['workers'],
    labels: [],
    help: 'Workers that take connections',
  },
  edgeplan_node_worker_up: {
    type: 'gauge',
    at: ['workers'],
    labels: ['worker'],
    help: 'Whether a worker takes connections: 1 or 0',
  },
  edgeplan_node_worker_restarts_total: {
    type: 'counter',
    at: ['workers'],
    labels: [],
    help: 'Workers that ended and were started again',
  },
} as const satisfies Readonly<Record<string, MetricDeclaration>>;

/** The name of a declared metric. */
export type MetricName = keyof typeof METRICS;

/** Name, help and labels of a metric, as prom-client and `addMetric` take them. */
export function declared(name: MetricName): {
  readonly name: MetricName;
  readonly help: string;
  readonly labelNames: readonly string[];
} {
  const { help, labels } = METRICS[name];
  return { name, help, labelNames: labels };
}

/** Adds the series of a counter at 0, one for each combination of the `values` of its labels. Without `values` it adds none. */
export function startAtZero(counter: Counter, name: MetricName): void {
  const { values }: MetricDeclaration = METRICS[name];
  if (values === undefined) return;
  let series: readonly Readonly<Record<string, string>>[] = [{}];
  for (const [label, known] of Object.entries(values))
    series = series.flatMap((labels) => known.map((value) => ({ ...labels, [label]: value })));
  for (const labels of series) counter.inc(labels, 0);
}
