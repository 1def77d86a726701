/** Metrics of zones: how many there are, what waits, how long versions take, transfers, and secondaries without an answer. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { declared, startAtZero } from '../../base/telemetry/metrics/declared.ts';
import type { Store } from '../store/store.ts';

/** The functions that record events of zones. */
export interface ZoneMetrics {
  /** A version was written, so many milliseconds after the oldest change in it. */
  published(sinceChangeMs: number): void;
  /** A request of a name server was answered, or refused. */
  answered(kind: string): void;
}

/** What scrapes read. */
export interface ZoneMetricsOptions {
  readonly store: Store;
  /** Secondaries and the number of zones whose NOTIFY each has not answered. */
  readonly waiting: () => readonly { readonly secondary: string; readonly zones: number }[];
}

/** Adds the metrics to a registry. */
export function addZoneMetrics(registry: Registry, { store, waiting }: ZoneMetricsOptions): ZoneMetrics {
  const registers = [registry];
  new Gauge({
    ...declared('edgeplan_zones'),
    registers,
    async collect() {
      this.set(await store.latest.zones.count());
    },
  });
  new Gauge({
    ...declared('edgeplan_zones_waiting'),
    registers,
    async collect() {
      this.set((await store.latest.zones.waiting()).zones);
    },
  });
  new Gauge({
    ...declared('edgeplan_zone_notify_waiting'),
    registers,
    collect() {
      for (const { secondary, zones } of waiting()) this.set({ secondary }, zones);
    },
  });
  const delay = new Histogram({
    ...declared('edgeplan_zone_delay_seconds'),
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 60],
    registers,
  });
  const answers = new Counter({ ...declared('edgeplan_zone_answers_total'), registers });
  startAtZero(answers, 'edgeplan_zone_answers_total');
  return {
    published: (sinceChangeMs) => delay.observe(Math.max(0, sinceChangeMs) / 1_000),
    answered: (kind) => answers.inc({ kind }),
  };
}
