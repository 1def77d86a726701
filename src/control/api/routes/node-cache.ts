/** `POST /nodes/cache`: what the cache of one process of a node has stored, some domains at a time. */

import { TrafficRefusal } from '../../traffic/fault.ts';
import { cacheReport } from '../../traffic/footprint/shapes.ts';
import { takeCacheReport } from '../../traffic/footprint/take-report.ts';
import { nodeOperation } from '../operation/node-route.ts';
import { Refusal } from '../operation/refusal.ts';
import { message } from '../operation/route.ts';
import { messageShape } from '../operation/shapes.ts';

/** Replaces what the process has reported of these domains; 400 names the entry that cannot be true. */
export const report = nodeOperation({
  summary: 'Report what a cache has stored',
  body: cacheReport,
  response: messageShape,
  async serve({ store, clock, log, onReportRefused }, { node, body }) {
    try {
      const domains = await takeCacheReport(store, node, { sent: body, now: clock() });
      return message(`${domains} domains reported`).body;
    } catch (error) {
      if (!(error instanceof TrafficRefusal)) throw error;
      log.warn({ node: node.name, err: error.message }, 'a report of a cache was refused');
      onReportRefused?.();
      throw new Refusal(error.status, error.message);
    }
  },
});
