/** The metrics of all workers together, and of the primary beside them. */
import { AggregatorRegistry, Counter, Gauge, type Registry } from 'prom-client';
import { describeMessage, type MetricMessage } from './messages.ts';
import type { WorkerProcess } from './worker-process.ts';

export interface Totals {
  /** Keeps what a worker counted that is gone, or sums would fall with its end. */
  retire(counted: readonly MetricMessage[]): void;
  registry(): Promise<Registry>;
}

/** @param own the primary's own series */
export function createTotals(slots: readonly WorkerProcess[], own: Registry): Totals {
  new Gauge({
    name: 'edgeplan_node_workers_ready',
    help: 'Workers that take connections',
    registers: [own],
    collect() {
      this.set(slots.filter((slot) => slot.ready()).length);
    },
  });
  new Gauge({
    name: 'edgeplan_node_worker_up',
    help: 'Whether a worker takes connections: 1 or 0',
    labelNames: ['worker'],
    registers: [own],
    collect() {
      for (const [index, slot] of slots.entries()) this.set({ worker: String(index) }, slot.ready() ? 1 : 0);
    },
  });
  new Counter({
    name: 'edgeplan_node_worker_restarts_total',
    help: 'Workers that ended and were started again',
    registers: [own],
    collect() {
      this.reset();
      this.inc(slots.reduce((sum, slot) => sum + slot.restarts(), 0));
    },
  });
  /** What dead workers had counted, in one part or, for a moment, more. */
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
    retire(counted) {
      const lasting = counted.filter(({ type }) => type === 'counter' || type === 'histogram');
      if (lasting.length === 0) return;
      retired = [...retired, lasting];
      void fold();
    },
    async registry() {
      const [primary] = await Promise.all([describeMessage(own), ...slots.map((slot) => slot.recount())]);
      // INVARIANT: read at one moment. A worker that ends between its answer and another's would count twice, or not.
      return sum([primary, ...slots.map((slot) => slot.counted()), ...retired]);
    },
  };
}

function sum(parts: readonly (readonly object[])[]): Registry {
  return AggregatorRegistry.aggregate(parts as object[]);
}
