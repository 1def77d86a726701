/**
 * The metrics of a node, for Prometheus. In: every finished request. Out: series, computed at each scrape. PERF: a request
 * costs a few additions into arrays. No label has a value that a visitor can choose.
 */
import { Counter, Gauge, Registry } from 'prom-client';
import {
  addHistogram,
  createSeries,
  observe,
  type Series,
} from '../../../base/telemetry/metrics/computed.ts';
import { declared, type MetricName, startAtZero } from '../../../base/telemetry/metrics/declared.ts';
import { addProcessMetrics } from '../../../base/telemetry/metrics/process.ts';
import { ACTIONS, type Action } from '../../../engine/evaluator/decision.ts';
import type { TrafficState } from '../../following/traffic/traffic.ts';
import { MAX_WORDS } from '../limits.ts';
import type { WriterStats } from './line-writer.ts';
import type { RequestLog, RequestLogEntry } from './request-log.ts';

/** The metrics, as a request log that counts. */
export interface NodeMetrics extends RequestLog {
  readonly registry: Registry;
}

export interface NodeMetricsOptions {
  /** Names installed, and plans open in memory. */
  readonly plans: () => { readonly installed: number; readonly opened: number };
  /** Origins of pools that take no requests. */
  readonly originsDown: () => number;
  /** The decision log; `null`: none is written. */
  readonly log: (() => WriterStats) | null;
}

/** The action of a request that was refused before any plan was evaluated. */
const UNDECIDED = 'none';
/** Classes `1xx` to `5xx`; anything else counts as the first, `0xx`. */
const CLASSES = 6;
/** Upper bounds in seconds; the last bucket has everything longer. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;
/** The label for values beyond `MAX_WORDS`. */
const OTHER = 'other';

/** The counts since the start. */
interface Tally {
  readonly statuses: Readonly<Record<Action | typeof UNDECIDED, Float64Array>>;
  readonly caches: Map<string, number>;
  readonly markdown: Map<string, number>;
  readonly faults: Map<string, number>;
  readonly durations: Series;
  octets: number;
  /** Requests with a shadow decision. */
  shadowed: number;
}

function createTally(): Tally {
  const names = [...ACTIONS, UNDECIDED];
  const rows = Object.fromEntries(names.map((name) => [name, new Float64Array(CLASSES)]));
  return {
    statuses: rows as Tally['statuses'],
    caches: new Map(),
    markdown: new Map(),
    faults: new Map(),
    durations: createSeries(BOUNDS),
    octets: 0,
    shadowed: 0,
  };
}

export function createNodeMetrics(options: NodeMetricsOptions): NodeMetrics {
  const registry = new Registry();
  const tally = createTally();
  addProcessMetrics(registry);
  addAnswers(registry, tally);
  addDurations(registry, tally);
  addState(registry, options);
  if (options.log !== null) addLog(registry, options.log);
  return { registry, done: (entry) => count(tally, entry) };
}

function count(tally: Tally, entry: RequestLogEntry): void {
  const { exchange, status, octets, durationMs, cache, markdown, fault } = entry;
  const action = exchange === null ? UNDECIDED : exchange.decision.action;
  const row = tally.statuses[action];
  const group = (status / 100) | 0;
  row[group < CLASSES ? group : 0]!++;
  tally.octets += octets;
  if (cache !== null) countWord(tally.caches, cache);
  if (markdown !== null) countWord(tally.markdown, markdown);
  if (fault !== null) countWord(tally.faults, fault);
  if (exchange !== null && exchange.decision.shadow !== null) tally.shadowed++;
  // A switched connection lasts as long as its two ends keep it open, which is no measure of the node.
  if (status === 101) return;
  observe(tally.durations, BOUNDS, durationMs / 1_000);
}

function countWord(words: Map<string, number>, word: string): void {
  const before = words.get(word);
  if (before === undefined && words.size >= MAX_WORDS) words.set(OTHER, (words.get(OTHER) ?? 0) + 1);
  else words.set(word, (before ?? 0) + 1);
}

function addAnswers(registry: Registry, tally: Tally): void {
  const registers = [registry];
  new Counter({
    ...declared('edgeplan_node_requests_total'),
    registers,
    collect() {
      this.reset();
      startAtZero(this, 'edgeplan_node_requests_total');
      for (const [action, row] of Object.entries(tally.statuses)) {
        row.forEach((value, group) => {
          if (value > 0) this.inc({ action, status: `${group}xx` }, value);
        });
      }
    },
  });
  new Counter({
    ...declared('edgeplan_node_cache_requests_total'),
    registers,
    collect() {
      this.reset();
      startAtZero(this, 'edgeplan_node_cache_requests_total');
      for (const [result, value] of tally.caches) this.inc({ result }, value);
    },
  });
  new Counter({
    ...declared('edgeplan_node_markdown_requests_total'),
    registers,
    collect() {
      this.reset();
      startAtZero(this, 'edgeplan_node_markdown_requests_total');
      for (const [result, value] of tally.markdown) this.inc({ result }, value);
    },
  });
  new Counter({
    ...declared('edgeplan_node_faults_total'),
    registers,
    collect() {
      this.reset();
      for (const [fault, value] of tally.faults) this.inc({ fault }, value);
    },
  });
  addCount(registry, {
    name: 'edgeplan_node_response_bytes_total',
    read: () => tally.octets,
  });
  addCount(registry, {
    name: 'edgeplan_node_dry_run_requests_total',
    read: () => tally.shadowed,
  });
}

interface MetricReading {
  readonly name: MetricName;
  readonly read: () => number;
}

interface GaugeReading extends MetricReading {
  /** How the values of a node's workers are combined. */
  readonly aggregator: 'sum' | 'max';
}

/** Adds a counter whose value is read at each scrape. */
export function addCount(registry: Registry, { name, read }: MetricReading): void {
  new Counter({
    ...declared(name),
    registers: [registry],
    collect() {
      this.reset();
      this.inc(read());
    },
  });
}

/** Adds a gauge whose value is read at each scrape. */
export function addGauge(registry: Registry, { name, read, aggregator }: GaugeReading): void {
  new Gauge({
    ...declared(name),
    aggregator,
    registers: [registry],
    collect() {
      this.set(read());
    },
  });
}

function addDurations(registry: Registry, { durations }: Tally): void {
  const series = [durations];
  addHistogram(registry, {
    ...declared('edgeplan_node_request_duration_seconds'),
    bounds: BOUNDS,
    series: () => series,
  });
}

function addState(registry: Registry, { plans, originsDown }: NodeMetricsOptions): void {
  addGauge(registry, {
    name: 'edgeplan_node_plans_installed',
    read: () => plans().installed,
    aggregator: 'max',
  });
  addGauge(registry, {
    name: 'edgeplan_node_plans_opened',
    read: () => plans().opened,
    aggregator: 'sum',
  });
  addGauge(registry, {
    name: 'edgeplan_node_origins_down',
    read: originsDown,
    aggregator: 'max',
  });
}

/** Adds the metrics of the decision log. */
export function addLog(registry: Registry, log: () => WriterStats): void {
  addCount(registry, {
    name: 'edgeplan_node_log_lines_total',
    read: () => log().written,
  });
  addCount(registry, {
    name: 'edgeplan_node_log_lines_dropped_total',
    read: () => log().dropped,
  });
  addCount(registry, {
    name: 'edgeplan_node_log_failures_total',
    read: () => log().failures,
  });
  addGauge(registry, {
    name: 'edgeplan_node_log_lines_waiting',
    read: () => log().queued,
    aggregator: 'sum',
  });
}

/** The counts of decisions that are not shipped as lines to the control plane. */
export interface ShippedCounts {
  dropped(): number;
  counted(): number;
}

/** Adds the metrics of what is shipped to the control plane. */
export function addShippedLog(registry: Registry, { dropped, counted }: ShippedCounts): void {
  addCount(registry, { name: 'edgeplan_node_shipped_lines_dropped_total', read: dropped });
  addCount(registry, { name: 'edgeplan_node_shipped_requests_counted_total', read: counted });
}

// The metrics of a node that follows a control plane, for Prometheus.

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
