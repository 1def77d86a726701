/** Adds up the metrics of all workers and of the primary, and counts workers that are ready or were restarted. */
import { AggregatorRegistry, Counter, Gauge, type Registry } from 'prom-client';
import { declared } from '../../base/telemetry/metrics/declared.ts';
import { describeMessage, type MetricMessage } from './messages.ts';
import type { WorkerProcess } from './worker-process.ts';

/** The metrics of the node. */
export interface Totals {
  /** Retains counters and histograms of an ended worker: a Prometheus counter must not fall. */
  retire(metrics: readonly MetricMessage[]): void;
  /** A registry with the sums at this moment. */
  registry(): Promise<Registry>;
}

/** @param workers the worker processes; filled during the start @param own the primary's own series */
export function createTotals(workers: readonly WorkerProcess[], own: Registry): Totals {
  new Gauge({
    ...declared('edgeplan_node_workers_ready'),
    registers: [own],
    collect() {
      this.set(workers.filter((worker) => worker.ready()).length);
    },
  });
  new Gauge({
    ...declared('edgeplan_node_worker_up'),
    registers: [own],
    collect() {
      for (const [index, worker] of workers.entries())
        this.set({ worker: String(index) }, worker.ready() ? 1 : 0);
    },
  });
  new Counter({
    ...declared('edgeplan_node_worker_restarts_total'),
    registers: [own],
    collect() {
      this.reset();
      this.inc(workers.reduce((sum, worker) => sum + worker.restarts(), 0));
    },
  });
  /** Metrics of ended workers: one part, or several until `fold` has added them up. */
  let retired: readonly (readonly MetricMessage[])[] = [];
  let folding = false;

  async function fold(): Promise<void> {
    if (folding) return;
    folding = true;
    while (retired.length > 1) {
      const parts = retired;
      const one = await describeMessage(sum(parts));
      retired = [one, ...retired.slice(parts.length)];
    }
    folding = false;
  }

  return {
    retire(metrics) {
      const lasting = metrics.filter(({ type }) => type === 'counter' || type === 'histogram');
      if (lasting.length === 0) return;
      retired = [...retired, lasting];
      void fold();
    },
    async registry() {
      const [primary] = await Promise.all([
        describeMessage(own),
        ...workers.map((worker) => worker.refreshMetrics()),
      ]);
      // INVARIANT: read synchronously. A worker that ends between its reply and another's would count twice, or never.
      return sum([primary, ...workers.map((worker) => worker.metrics()), ...retired]);
    },
  };
}

function sum(parts: readonly (readonly object[])[]): Registry {
  return AggregatorRegistry.aggregate(parts as object[]);
}
