/** What every process of ours says of itself: prom-client's own metrics, and stalls of its event loop. */
import { collectDefaultMetrics, type Registry } from 'prom-client';
import { addHistogram, createSeries, observe, type Series } from './histogram.ts';

/** Milliseconds between two looks at the clock: 20 a second cost a ten-thousandth of a processor. */
const LOOK_MS = 50;
/** Seconds by which a look may be late before it counts: timers and other processes account for less. */
const STALL_SECONDS = 0.02;
const BOUNDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;

/** One event loop, one tally, whatever reads it. */
let stalls: Series | null = null;

/** Adds the metrics of the process; the stalls counted are those since the first call. */
export function addProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  stalls ??= watchStalls();
  const series = [stalls];
  addHistogram(registry, {
    name: 'edgeplan_stall_seconds',
    help: 'Times that the event loop was late by more than 20 ms, and by how much: nothing was answered meanwhile',
    bounds: BOUNDS,
    series: () => series,
  });
}

function watchStalls(): Series {
  const series = createSeries(BOUNDS);
  let expected = performance.now() + LOOK_MS;
  setInterval(() => {
    const now = performance.now();
    const late = (now - expected) / 1_000;
    if (late > STALL_SECONDS) observe(series, BOUNDS, late);
    expected = now + LOOK_MS;
  }, LOOK_MS).unref();
  return series;
}
