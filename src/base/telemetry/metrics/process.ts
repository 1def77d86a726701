/** Metrics of a process: its versions, prom-client's defaults, and stalls of the event loop. */
import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';
import { addHistogram, createSeries, observe, type Series } from './computed.ts';
import { declared } from './declared.ts';

/** Milliseconds between two samples of the clock: 20 a second cost a ten-thousandth of a processor. */
const SAMPLE_MS = 50;
/** A sample at most this many seconds late is not counted as a stall; timer jitter and other processes cause less. */
const STALL_SECONDS = 0.02;
const BOUNDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;

/**
 * Gauges of prom-client whose names end in `_total`, as only counters' may; the same numbers by type are in
 * `nodejs_active_resources`, `nodejs_active_handles` and `nodejs_active_requests`.
 */
const MISNAMED = [
  'nodejs_active_resources_total',
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
];

/** The stalls of this process's event loop, whichever registries they are added to. */
let stalls: Series | null = null;

/** Adds the metrics of the process to a registry. Stalls are counted from the first call in the process. */
export function addProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  stalls ??= watchStalls();
  const series = [stalls];
  addHistogram(registry, {
    ...declared('edgeplan_stall_seconds'),
    bounds: BOUNDS,
    series: () => series,
  });
}

/** Starts to sample the clock. */
function watchStalls(): Series {
  const series = createSeries(BOUNDS);
  let expected = performance.now() + SAMPLE_MS;
  setInterval(() => {
    const now = performance.now();
    const late = (now - expected) / 1_000;
    if (late > STALL_SECONDS) observe(series, BOUNDS, late);
    expected = now + SAMPLE_MS;
  }, SAMPLE_MS).unref();
  return series;
}

/** The versions of a process. */
export interface BuildInfo {
  /** Of edgeplan, as in `package.json`. */
  readonly version: string;
  /** Of the plans that this process writes and reads. */
  readonly planFormat: number;
}

/** Adds the metric to a registry. Of several processes of a node one has to add it. */
export function addBuildInfo(registry: Registry, { version, planFormat }: BuildInfo): void {
  const labels = { version, node: process.versions.node, plan_format: String(planFormat) };
  new Gauge({
    ...declared('edgeplan_build_info'),
    aggregator: 'max',
    registers: [registry],
    collect() {
      this.set(labels, 1);
    },
  });
}
