/** `POST /nodes/traffic`: a sealed batch of traffic counts, each entry of one domain and minute, with top lists. */
import { z } from 'zod';
import { TrafficRefusal } from '../../traffic/fault.ts';
import { MAX_ENTRIES } from '../../traffic/limits.ts';
import { takeBatch } from '../../traffic/take-batch.ts';
import { nodeOperation } from '../operation/node-route.ts';
import { Refusal } from '../operation/refusal.ts';

/**
 * Counts a batch once by its number, however often and in whatever order batches come; traffic of up to 35 days ago is
 * accepted. 400 names the entry that cannot be true, 413 a limit; the batch counts nothing then.
 */
export const traffic = nodeOperation({
  summary: 'Report traffic as a sealed batch',
  octets: `a batch as \`src/engine/counts/layout.ts\` seals it, of at most ${MAX_ENTRIES} entries; \`Content-Encoding: gzip\` is accepted`,
  response: z.object({
    message: z
      .string()
      .describe('what became of the batch')
      .meta({ examples: ['batch 7: 3 entries counted'] }),
  }),
  async serve({ store, traffic: thread, log, clock, onReportRefused }, { node, octets }) {
    try {
      const sent = { ...octets!, now: clock() };
      const { batch, parts, isRepeated } = await takeBatch({ store, thread }, node, sent);
      const outcome = isRepeated ? 'was counted before' : `${parts} entries counted`;
      return { message: `batch ${batch}: ${outcome}` };
    } catch (error) {
      if (!(error instanceof TrafficRefusal)) throw error;
      log.warn({ node: node.name, err: error.message }, 'a batch of a node was refused: it cannot be true');
      onReportRefused?.();
      throw new Refusal(error.status, error.message);
    }
  },
});
