/** Metrics of a process: prom-client's defaults, and stalls of the event loop. */
import { collectDefaultMetrics, type Registry } from 'prom-client';
import { addHistogram, createSeries, observe, type Series } from './histogram.ts';

/** Milliseconds between two samples of the clock: 20 a second cost a ten-thousandth of a processor. */
const SAMPLE_MS = 50;
/** A sample at most this many seconds late is not counted as a stall; timer jitter and other processes cause less. */
const STALL_SECONDS = 0.02;
const BOUNDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;

/** The stalls of this process's event loop, whichever registries they are added to. */
let stalls: Series | null = null;

/** Adds the metrics of the process to a registry. Stalls are counted from the first call in the process. */
export function addProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  stalls ??= watchStalls();
  const series = [stalls];
  addHistogram(registry, {
    name: 'edgeplan_stall_seconds',
    help: 'Stalls of the event loop of more than 20 ms, in seconds; the process handled nothing meanwhile',
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
