/** Metrics whose values are computed at each scrape, instead of being stored in prom-client's objects. */
import type { Metric, MetricObject, Registry } from 'prom-client';

/** One sample of a metric: a line of the exposition format. */
export interface MetricValue {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  /** The name of the sample if it differs from the metric's: `…_bucket`, `…_sum`, `…_count`. */
  readonly metricName?: string;
}

export interface MetricOptions {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'histogram';
  /** Called at each scrape. */
  readonly values: () => readonly MetricValue[];
}

/** Adds a metric to a registry; the values of several processes are added up. */
export function addMetric(registry: Registry, { name, help, type, values }: MetricOptions): void {
  // A registry uses the name and `get` of a metric; its types allow prom-client's own classes only.
  const metric = {
    name,
    help,
    type,
    aggregator: 'sum',
    get: async () => ({ name, help, type, values: values(), aggregator: 'sum' }) as unknown as MetricObject,
  };
  registry.registerMetric(metric as unknown as Metric);
}
