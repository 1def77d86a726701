/** `POST /nodes/logs`: entries of the decision log that a node ships, as JSON lines in gzip (`control/logs/take-batch.ts`). */
import { z } from 'zod';
import { LogRefusal } from '../../logs/fault.ts';
import { takeLogBatch, unpackBatch } from '../../logs/take-batch.ts';
import { nodeOperation } from '../operation/node-route.ts';
import { overBudget, Refusal } from '../operation/refusal.ts';

/** The content type of a batch. */
export const LINES_TYPE = 'application/x-ndjson';

/** `POST /nodes/logs`: stores entries; one that is stored already is not stored again. 429 above the rate of a node. */
export const ship = nodeOperation({
  summary: 'Ship entries of the decision log: JSON lines in gzip, of which the first lists the domains',
  octets: 'JSON lines with `Content-Encoding: gzip`',
  consumes: LINES_TYPE,
  response: z.object({
    stored: z.int().describe('entries that are stored now'),
    repeated: z.int().describe('entries that were stored already'),
    dropped: z
      .int()
      .describe('entries that are too old, of no domain, or beyond the bound of their domain and day'),
  }),
  statuses: [429],
  async serve({ store, logs, log, clock }, { node, octets }) {
    if (!octets!.isGzip)
      throw new Refusal(415, 'a batch of log entries must be sent in gzip', { 'accept-encoding': 'gzip' });
    try {
      const bytes = await unpackBatch(octets!.octets);
      if (logs === undefined) return { stored: 0, repeated: 0, dropped: 0 };
      const seconds = logs.rates.take(node.id, bytes.length);
      if (seconds > 0) throw overBudget(seconds);
      const parts = { store: logs.store, latest: store.latest };
      const result = await takeLogBatch(parts, node, { bytes, now: clock() });
      logs.onAppended(result);
      return result;
    } catch (error) {
      if (error instanceof Refusal) throw error;
      if (error instanceof LogRefusal) {
        log.warn({ node: node.name, err: error.message }, 'a batch of log entries was refused');
        throw new Refusal(error.status, error.message);
      }
      logs?.onFault(error);
      throw error;
    }
  },
});
