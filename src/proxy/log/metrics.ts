/**
 * The metrics of a node, for Prometheus. In: every finished request. Out: series, computed at each scrape. PERF: a request
 * costs a few additions into arrays. No label has a value that a visitor can choose.
 */
import { Counter, Gauge, Registry } from 'prom-client';
import { ACTIONS, type Action } from '../../evaluator/decision.ts';
import { addHistogram, createSeries, observe, type Series } from '../../metrics/histogram.ts';
import { addProcessMetrics } from '../../metrics/process.ts';
import { MAX_WORDS } from './limits.ts';
import type { WriterStats } from './line-writer.ts';
import type { RequestLog, RequestLogEntry } from './request-log.ts';

/** The metrics, as a request log that counts. */
export interface NodeMetrics extends RequestLog {
  readonly registry: Registry;
}

export interface NodeMetricsOptions {
  /** Names installed, and plans open in memory. */
  readonly plans: () => { readonly held: number; readonly opened: number };
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
    name: 'edgeplan_node_requests_total',
    help: 'Requests, by decided action (none: refused before any plan was evaluated) and class of the status',
    labelNames: ['action', 'status'],
    registers,
    collect() {
      this.reset();
      for (const [action, row] of Object.entries(tally.statuses)) {
        row.forEach((value, group) => {
          if (value > 0) this.inc({ action, status: `${group}xx` }, value);
        });
      }
    },
  });
  new Counter({
    name: 'edgeplan_node_cache_total',
    help: 'Requests that reached the cache, by result',
    labelNames: ['result'],
    registers,
    collect() {
      this.reset();
      for (const [result, value] of tally.caches) this.inc({ result }, value);
    },
  });
  new Counter({
    name: 'edgeplan_node_markdown_total',
    help: 'Requests for Markdown: rendered, or why HTML was sent',
    labelNames: ['result'],
    registers,
    collect() {
      this.reset();
      for (const [result, value] of tally.markdown) this.inc({ result }, value);
    },
  });
  new Counter({
    name: 'edgeplan_node_faults_total',
    help: 'Failed requests, by fault (aborted: the client left)',
    labelNames: ['fault'],
    registers,
    collect() {
      this.reset();
      for (const [fault, value] of tally.faults) this.inc({ fault }, value);
    },
  });
  addCount(registry, {
    name: 'edgeplan_node_octets_total',
    help: 'Octets of response bodies sent to visitors',
    read: () => tally.octets,
  });
  addCount(registry, {
    name: 'edgeplan_node_dry_run_total',
    help: 'Requests whose decision rules under dry_run would have changed',
    read: () => tally.shadowed,
  });
}

interface MetricReading {
  readonly name: string;
  readonly help: string;
  readonly read: () => number;
}

interface GaugeReading extends MetricReading {
  /** How the values of a node's workers are combined. */
  readonly aggregator: 'sum' | 'max';
}

/** Adds a counter whose value is read at each scrape. */
export function addCount(registry: Registry, { name, help, read }: MetricReading): void {
  new Counter({
    name,
    help,
    registers: [registry],
    collect() {
      this.reset();
      this.inc(read());
    },
  });
}

/** Adds a gauge whose value is read at each scrape. */
export function addGauge(registry: Registry, { name, help, read, aggregator }: GaugeReading): void {
  new Gauge({
    name,
    help,
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
    name: 'edgeplan_node_request_seconds',
    help: 'Seconds from the head of a request to the last octet of its response',
    bounds: BOUNDS,
    series: () => series,
  });
}

function addState(registry: Registry, { plans, originsDown }: NodeMetricsOptions): void {
  addGauge(registry, {
    name: 'edgeplan_node_plans_held',
    help: 'Names installed, those that must not be served included',
    read: () => plans().held,
    aggregator: 'max',
  });
  addGauge(registry, {
    name: 'edgeplan_node_plans_opened',
    help: 'Plans open in memory',
    read: () => plans().opened,
    aggregator: 'sum',
  });
  addGauge(registry, {
    name: 'edgeplan_node_origins_down',
    help: 'Origins of pools that take no requests, by probes or after failed requests',
    read: originsDown,
    aggregator: 'max',
  });
}

/** Adds the metrics of the decision log. */
export function addLog(registry: Registry, log: () => WriterStats): void {
  addCount(registry, {
    name: 'edgeplan_node_log_lines_total',
    help: 'Lines written to the decision log',
    read: () => log().written,
  });
  addCount(registry, {
    name: 'edgeplan_node_log_dropped_total',
    help: 'Lines missing from the decision log: not written fast enough, or not at all',
    read: () => log().dropped,
  });
  addCount(registry, {
    name: 'edgeplan_node_log_failures_total',
    help: 'Failed writes and opens of the decision log',
    read: () => log().failures,
  });
  addGauge(registry, {
    name: 'edgeplan_node_log_waiting',
    help: 'Lines waiting to be written to the decision log',
    read: () => log().queued,
    aggregator: 'sum',
  });
}
