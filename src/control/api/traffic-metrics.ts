/** The metrics of traffic at the control plane: what waits to be merged, and how long a round of the roll-up takes. */
import { Gauge, Histogram, type Registry } from 'prom-client';
import { declared } from '../../base/telemetry/metrics/declared.ts';
import type { Store } from '../store/store.ts';
import type { RollUpRound } from '../traffic/roll-up.ts';

/** Seconds: a small installation takes milliseconds, a round that takes ten minutes is late. */
const BUCKETS = [0.01, 0.1, 1, 5, 15, 60, 180, 600];

/** Adds the metrics; each scrape reads what waits. Returns the function that records a round. */
export function addTrafficMetrics(
  registry: Registry,
  { store, clock }: { readonly store: Pick<Store, 'latest'>; readonly clock: () => number },
): (round: RollUpRound) => void {
  const rounds = new Histogram({
    ...declared('edgeplan_traffic_roll_up_seconds'),
    buckets: BUCKETS,
    registers: [registry],
  });
  // Each gauge reads the backlog itself, as in `health-listener.ts`.
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
