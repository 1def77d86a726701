/** Metrics whose values are made when they are read. */
import type { Metric, MetricObject, Registry } from 'prom-client';

/** One line of a metric. */
export interface MetricValue {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  readonly metricName?: string;
}

export interface MetricOptions {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'histogram';
  readonly values: () => readonly MetricValue[];
}

/** Adds a metric whose values are made when they are read; several processes' values are added up. */
export function addMetric(registry: Registry, { name, help, type, values }: MetricOptions): void {
  // What a registry asks of a metric is its name and `get`; the types name prom-client's classes only.
  const metric = {
    name,
    help,
    type,
    aggregator: 'sum',
    get: async () => ({ name, help, type, values: values(), aggregator: 'sum' }) as unknown as MetricObject,
  };
  registry.registerMetric(metric as unknown as Metric);
}
