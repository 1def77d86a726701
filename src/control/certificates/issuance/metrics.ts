/** Metrics of certificates that the server obtains: what is due, and what orders have come to. */
import { Counter, Gauge, type Registry } from 'prom-client';
import { declared, startAtZero } from '../../../base/telemetry/metrics/declared.ts';
import type { Store } from '../../store/store.ts';

/** The functions that record events. */
export interface IssuerMetrics {
  /** An order has ended. */
  ended(outcome: 'issued' | 'refused' | 'failed'): void;
}

/** Adds the metrics to a registry. */
export function addIssuerMetrics(registry: Registry, store: Store): IssuerMetrics {
  const registers = [registry];
  new Gauge({
    ...declared('edgeplan_certificates_due'),
    registers,
    async collect() {
      this.set((await store.latest.issuance.due(Date.now())).orders);
    },
  });
  const ended = new Counter({ ...declared('edgeplan_certificate_orders_total'), registers });
  startAtZero(ended, 'edgeplan_certificate_orders_total');
  return { ended: (outcome) => ended.inc({ outcome }) };
}
