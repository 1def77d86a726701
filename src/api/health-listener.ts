/**
 * The API server's metrics, and its health and metrics listener (`metrics/operations-server.ts`): ready while the store
 * answers, changes are published, and the server is not draining.
 */
import type { Server } from 'node:http';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { JobDone } from '../compute/job.ts';
import { addComputeTimes } from '../compute/times.ts';
import { addAccountTimes } from '../metrics/account-times.ts';
import { createOperationsServer } from '../metrics/operations-server.ts';
import { addProcessMetrics } from '../metrics/process.ts';
import type { RevisionRow } from '../store/rows.ts';
import type { Store } from '../store/store.ts';
import { type AnswerKind, addAnswerTimes, type NoteAnswer } from './answer-times.ts';
import { MAX_UNPUBLISHED_MS } from './limits.ts';

export interface Metrics {
  readonly registry: Registry;
  /** Answers of the API are noted by their kind. */
  answersOf(kind: AnswerKind): NoteAnswer;
  /** Notes an answered request of an account, and the seconds it took. */
  answered(account: number, seconds: number): void;
  /** Notes a computation, answered or not. */
  computed(done: JobDone): void;
  /** Notes a revision, and the milliseconds since the oldest write it covers. */
  published(revision: Pick<RevisionRow, 'digest'>, sinceWriteMs: number): void;
  /** Notes a report of a node that was refused. */
  reportRefused(): void;
  /** Whether the publisher works: it published lately, or it tries and reports domains that fail. */
  publishes(): boolean;
}

export interface ApiMetricsOptions {
  readonly store: Store;
  readonly clock: () => number;
  /** How many domains this process could not publish when it tried last. */
  readonly failing: () => number;
  /** How many current plans are of an older version than this process writes. */
  readonly older: () => number;
}

/** Metrics of one process. The store's backlog is asked for whenever somebody scrapes. */
export function createMetrics({ store, clock, failing, older }: ApiMetricsOptions): Metrics {
  const registry = new Registry();
  addProcessMetrics(registry);
  const publications = new Counter({
    name: 'edgeplan_publications_total',
    help: 'Revisions published by this process',
    labelNames: ['kind'],
    registers: [registry],
  });
  const refusedReports = new Counter({
    name: 'edgeplan_node_reports_refused_total',
    help: 'Reports of nodes that were refused since they cannot be true; the log names the node and the field',
    registers: [registry],
  });
  const delay = new Histogram({
    name: 'edgeplan_publication_seconds',
    help: 'Seconds from the oldest write a revision covers to its commit',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 60],
    registers: [registry],
  });
  new Gauge({
    name: 'edgeplan_publications_failing',
    help: 'Domains that this process could not publish when it tried last; the log says why',
    registers: [registry],
    collect() {
      this.set(failing());
    },
  });
  new Gauge({
    name: 'edgeplan_plans_of_older_version',
    help: 'Domains whose current plan has an older version than this process writes; it publishes them again',
    registers: [registry],
    collect() {
      this.set(older());
    },
  });
  addBacklog(registry, store, clock);
  let publishedAt = Number.NEGATIVE_INFINITY;
  return {
    registry,
    answersOf: addAnswerTimes(registry),
    answered: addAccountTimes(registry, { prefix: 'edgeplan_api_account', what: 'requests' }),
    computed: addComputeTimes(registry),
    published(revision, sinceWriteMs) {
      publishedAt = clock();
      publications.inc({ kind: revision.digest === null ? 'tombstone' : 'plan' });
      delay.observe(sinceWriteMs / 1_000);
    },
    reportRefused: () => refusedReports.inc(),
    // One domain that cannot be published must not take the API away from all others.
    publishes: () => failing() > 0 || clock() - publishedAt <= MAX_UNPUBLISHED_MS,
  };
}

function addBacklog(registry: Registry, store: Store, clock: () => number): void {
  // Each asks for itself: a value set while another one is collected would be told a scrape late.
  new Gauge({
    name: 'edgeplan_outbox_rows',
    help: 'Accepted changes that no revision covers yet',
    registers: [registry],
    async collect() {
      this.set((await store.latest.outbox.backlog()).rows);
    },
  });
  new Gauge({
    name: 'edgeplan_outbox_age_seconds',
    help: 'Seconds the oldest of them has waited',
    registers: [registry],
    async collect() {
      const { since } = await store.latest.outbox.backlog();
      this.set(since === null ? 0 : Math.max(0, clock() - since) / 1_000);
    },
  });
}

export interface HealthListenerOptions {
  readonly store: Store;
  readonly metrics: Metrics;
  readonly clock: () => number;
  /** Whether the server has begun to drain, so that no more traffic should be sent. */
  readonly draining: () => boolean;
}

/** The listener; the caller binds it to loopback and closes it. */
export function createHealthListener(options: HealthListenerOptions): Server {
  return createOperationsServer({
    unwell: () => null,
    unready: () => unready(options),
    registry: () => options.metrics.registry,
    metricsFault: () => 'the store does not answer',
  });
}

/** Why no traffic should be sent here; `null`: it should. */
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

function unpublished(waitedMs: number): string {
  const [waited, most] = [waitedMs, MAX_UNPUBLISHED_MS].map((ms) => Math.floor(ms / 1_000));
  return `an accepted change has waited ${waited} s to be published, more than ${most} s; the log says why`;
}
