/**
 * The API server's metrics, and its health and metrics listener (`base/telemetry/metrics/operations-server.ts`): ready while the store
 * answers, changes are published, and the server is not draining.
 */
import type { Server } from 'node:http';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import {
  addAccountTimes,
  addHistogram,
  addMetric,
  createSeries,
  observe,
  type Series,
} from '../../base/telemetry/metrics/computed.ts';
import { declared, startAtZero } from '../../base/telemetry/metrics/declared.ts';
import { createOperationsServer } from '../../base/telemetry/metrics/operations-server.ts';
import { addBuildInfo, addProcessMetrics, type BuildInfo } from '../../base/telemetry/metrics/process.ts';
import type { JobDone } from '../compute/job.ts';
import { addComputeTimes } from '../compute/times.ts';
import type { Appended } from '../logs/log-store.ts';
import type { Store } from '../store/store.ts';
import type { NotifyChannel } from '../store/tables/notifications.ts';
import type { RevisionRow } from '../store/tables/plans.ts';
import type { RollUpRound } from '../traffic/roll-up.ts';
import { MAX_UNPUBLISHED_MS } from './operation/limits.ts';

/** The metrics of the API server, and the functions that record events. */
export interface Metrics {
  /** The registry that a scrape reads. */
  readonly registry: Registry;
  /** The recorder of answers of a kind. */
  answersOf(kind: AnswerKind): NoteAnswer;
  /** Records an answered request of an account, and the seconds it took. */
  answered(account: number, seconds: number): void;
  /** Records a computation, successful or not. */
  computed(done: JobDone): void;
  /** Records a revision, and the milliseconds since the oldest write it covers. */
  published(revision: Pick<RevisionRow, 'digest'>, sinceWriteMs: number): void;
  /** Records a refused report of a node. */
  reportRefused(): void;
  /** Records a round of the roll-up of traffic. */
  rolledUp(round: RollUpRound): void;
  /** Records what became of a batch of log entries. */
  logged(result: Appended): void;
  /** Records a batch of log entries that could not be stored, by the code of its fault. */
  logFailed(code: string): void;
  /** Records an attempt to deliver a notification. */
  delivered(channel: NotifyChannel, outcome: string): void;
  /** Whether the publisher works: it published within `MAX_UNPUBLISHED_MS`, or it reports domains that fail. */
  publishes(): boolean;
}

/** The sources of the metrics. */
export interface ApiMetricsOptions {
  readonly store: Store;
  readonly clock: () => number;
  /** The number of domains that this process could not publish at its last attempt. */
  readonly failing: () => number;
  /** The number of current plans with an older version than this process writes. */
  readonly older: () => number;
  /** The versions for `edgeplan_build_info`. */
  readonly build: BuildInfo;
}

/** Creates the metrics of one process. Each scrape reads the store's backlog. */
export function createMetrics({ store, clock, failing, older, build }: ApiMetricsOptions): Metrics {
  const registry = new Registry();
  addBuildInfo(registry, build);
  addProcessMetrics(registry);
  const publications = new Counter({
    ...declared('edgeplan_publications_total'),
    registers: [registry],
  });
  startAtZero(publications, 'edgeplan_publications_total');
  const refusedReports = new Counter({
    ...declared('edgeplan_node_reports_refused_total'),
    registers: [registry],
  });
  const delay = new Histogram({
    ...declared('edgeplan_publication_delay_seconds'),
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 60],
    registers: [registry],
  });
  new Gauge({
    ...declared('edgeplan_publications_failing'),
    registers: [registry],
    collect() {
      this.set(failing());
    },
  });
  new Gauge({
    ...declared('edgeplan_plans_of_older_version'),
    registers: [registry],
    collect() {
      this.set(older());
    },
  });
  const deliveries = new Counter({
    ...declared('edgeplan_notification_deliveries_total'),
    registers: [registry],
  });
  startAtZero(deliveries, 'edgeplan_notification_deliveries_total');
  addBacklog(registry, store, clock);
  const rolledUp = addTrafficMetrics(registry, { store, clock });
  let publishedAt = Number.NEGATIVE_INFINITY;
  return {
    registry,
    answersOf: addAnswerTimes(registry),
    answered: addAccountTimes(registry, {
      count: 'edgeplan_api_account_requests_total',
      seconds: 'edgeplan_api_account_seconds_total',
    }),
    computed: addComputeTimes(registry),
    published(revision, sinceWriteMs) {
      publishedAt = clock();
      publications.inc({ kind: revision.digest === null ? 'tombstone' : 'plan' });
      delay.observe(sinceWriteMs / 1_000);
    },
    reportRefused: () => refusedReports.inc(),
    rolledUp,
    ...addLogCounts(registry),
    delivered: (channel, outcome) => deliveries.inc({ channel, outcome }),
    // A domain that cannot be published must not make the API unready for all others.
    publishes: () => failing() > 0 || clock() - publishedAt <= MAX_UNPUBLISHED_MS,
  };
}

/** Adds the counters of log entries, and returns what records them. */
function addLogCounts(registry: Registry): Pick<Metrics, 'logged' | 'logFailed'> {
  const entries = new Counter({ ...declared('edgeplan_log_entries_total'), registers: [registry] });
  const failed = new Counter({ ...declared('edgeplan_log_batches_failed_total'), registers: [registry] });
  startAtZero(entries, 'edgeplan_log_entries_total');
  startAtZero(failed, 'edgeplan_log_batches_failed_total');
  return {
    logged(result) {
      for (const [outcome, count] of Object.entries(result)) if (count > 0) entries.inc({ outcome }, count);
    },
    logFailed: (code) => failed.inc({ code }),
  };
}

/** Adds the gauges of what waits: accepted changes without a revision, the age of the oldest, and deliveries. */
function addBacklog(registry: Registry, store: Store, clock: () => number): void {
  // Each gauge reads the backlog itself: a value that another gauge's `collect` sets may appear only in the next
  // scrape.
  new Gauge({
    ...declared('edgeplan_outbox_rows'),
    registers: [registry],
    async collect() {
      this.set((await store.latest.outbox.backlog()).rows);
    },
  });
  new Gauge({
    ...declared('edgeplan_outbox_age_seconds'),
    registers: [registry],
    async collect() {
      const { since } = await store.latest.outbox.backlog();
      this.set(since === null ? 0 : Math.max(0, clock() - since) / 1_000);
    },
  });
  new Gauge({
    ...declared('edgeplan_notifications_waiting'),
    registers: [registry],
    async collect() {
      this.set(await store.latest.notifications.countWaiting());
    },
  });
}

/** The sources of the health checks. */
export interface HealthListenerOptions {
  readonly store: Store;
  readonly metrics: Metrics;
  readonly clock: () => number;
  /** Whether the server has begun to drain, so that no more traffic should be sent. */
  readonly draining: () => boolean;
}

/** Creates the listener; the caller binds it to loopback and closes it. */
export function createHealthListener(options: HealthListenerOptions): Server {
  return createOperationsServer({
    unwell: () => null,
    unready: () => unready(options),
    registry: () => options.metrics.registry,
    metricsFault: () => 'the store does not answer',
  });
}

/** Why the server is not ready, for `/readyz`; `null`: it is ready. */
async function unready({ store, metrics, clock, draining }: HealthListenerOptions): Promise<string | null> {
  if (draining()) return 'draining';
  try {
    await store.ping();
    const { since } = await store.latest.outbox.backlog();
    const waited = since === null ? 0 : clock() - since;
    return waited <= MAX_UNPUBLISHED_MS || metrics.publishes() ? null : unpublished(waited);
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown';
    return `the store does not answer or takes no writes: ${reason}`;
  }
}

/** The sentence for a change that has waited too long. */
function unpublished(waitedMs: number): string {
  const [waited, most] = [waitedMs, MAX_UNPUBLISHED_MS].map((ms) => Math.floor(ms / 1_000));
  return `an accepted change has waited ${waited} s to be published, more than ${most} s; the log says why`;
}

// The metrics of traffic at the control plane: what waits to be merged, and how long a round of the roll-up takes.

/** Seconds: a small installation takes milliseconds, a round that takes ten minutes is late. */
const BUCKETS = [0.01, 0.1, 1, 5, 15, 60, 180, 600];

/** Adds the metrics; each scrape reads what waits. Returns the function that records a round. */
function addTrafficMetrics(
  registry: Registry,
  { store, clock }: { readonly store: Pick<Store, 'latest'>; readonly clock: () => number },
): (round: RollUpRound) => void {
  const rounds = new Histogram({
    ...declared('edgeplan_traffic_roll_up_seconds'),
    buckets: BUCKETS,
    registers: [registry],
  });
  // Each gauge reads the backlog itself, as those of publications do.
  new Gauge({
    ...declared('edgeplan_traffic_waiting_parts'),
    registers: [registry],
    async collect() {
      this.set((await store.latest.traffic.backlog()).parts);
    },
  });
  new Gauge({
    ...declared('edgeplan_traffic_waiting_seconds'),
    registers: [registry],
    async collect() {
      const { since } = await store.latest.traffic.backlog();
      this.set(since === null ? 0 : Math.max(0, clock() - since) / 1_000);
    },
  });
  return ({ seconds }) => rounds.observe(seconds);
}

// Prometheus metrics of answered requests: their number and their seconds. PERF: prom-client's own counters and histograms
// look up their labels at every observation, a microsecond a request; here the caller has the series at hand.

/** The labels of one series. */
export interface AnswerKind {
  readonly method: string;
  /** The route's path; empty: no route matched. */
  readonly path: string;
  readonly status: number;
}

/** Records one answer of a kind, and the seconds it took. */
export type NoteAnswer = (seconds: number) => void;

/** Upper bounds of the histogram's buckets, in seconds. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 20] as const;

/** The counter of one kind. */
interface Count {
  readonly labels: { readonly method: string; readonly path: string; readonly status: string };
  answers: number;
}

/** Adds the metrics to a registry. Returns the function that returns the recorder of a kind, the same at each call. */
export function addAnswerTimes(registry: Registry): (kind: AnswerKind) => NoteAnswer {
  const counts: Count[] = [];
  const times = new Map<string, Series>();
  const known = new Map<string, NoteAnswer>();
  addMetric(registry, {
    ...declared('edgeplan_api_requests_total'),
    type: 'counter',
    values: () => counts.map(({ labels, answers }) => ({ labels, value: answers })),
  });
  addHistogram(registry, {
    ...declared('edgeplan_api_request_duration_seconds'),
    bounds: BOUNDS,
    series: () => times.values(),
  });
  function timesOf({ method, path }: AnswerKind): Series {
    const name = `${method} ${path}`;
    const found = times.get(name) ?? createSeries(BOUNDS, { method, path });
    times.set(name, found);
    return found;
  }
  function make(kind: AnswerKind): NoteAnswer {
    const { method, path, status } = kind;
    const count: Count = { labels: { method, path, status: String(status) }, answers: 0 };
    counts.push(count);
    const time = timesOf(kind);
    return (seconds) => {
      observe(time, BOUNDS, seconds);
      count.answers += 1;
    };
  }
  return (kind) => {
    const name = `${kind.status} ${kind.method} ${kind.path}`;
    const found = known.get(name) ?? make(kind);
    known.set(name, found);
    return found;
  };
}
