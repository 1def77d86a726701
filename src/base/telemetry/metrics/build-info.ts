/** The metric `edgeplan_build_info`: 1, with the versions of this process as labels. */
import { Gauge, type Registry } from 'prom-client';
import { declared } from './declared.ts';

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
