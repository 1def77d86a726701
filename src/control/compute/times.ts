/** Prometheus metrics of computations: their seconds, by kind and by account. */
import type { Registry } from 'prom-client';
import {
  addAccountTimes,
  addHistogram,
  createSeries,
  observe,
  type Series,
} from '../../base/telemetry/metrics/computed.ts';
import { declared } from '../../base/telemetry/metrics/declared.ts';
import type { JobDone, JobKind } from './job.ts';

/** Upper bounds of the histogram's buckets, in seconds. */
const BOUNDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/** Adds the metrics to a registry. Returns the function that records an ended job. */
export function addComputeTimes(registry: Registry): (done: JobDone) => void {
  const kinds = new Map<JobKind, Series>();
  addHistogram(registry, {
    ...declared('edgeplan_compute_duration_seconds'),
    bounds: BOUNDS,
    series: () => kinds.values(),
  });
  const ofAccount = addAccountTimes(registry, {
    count: 'edgeplan_compute_account_computations_total',
    seconds: 'edgeplan_compute_account_seconds_total',
  });
  return ({ account, kind, seconds }) => {
    const series = kinds.get(kind) ?? createSeries(BOUNDS, { kind });
    kinds.set(kind, series);
    observe(series, BOUNDS, seconds);
    ofAccount(account, seconds);
  };
}
