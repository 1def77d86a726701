/**
 * What nodes send besides their answers to revisions: sealed batches of traffic counts with top lists, entries of the
 * decision log, and what their caches have stored.
 */
import { z } from 'zod';
import { LogRefusal } from '../../logs/log-store.ts';
import { takeLogBatch, unpackBatch } from '../../logs/take-batch.ts';
import { TrafficRefusal } from '../../traffic/fault.ts';
import { cacheReport, takeCacheReport } from '../../traffic/footprint.ts';
import { MAX_ENTRIES } from '../../traffic/limits.ts';
import { takeBatch } from '../../traffic/take-batch.ts';
import { nodeOperation } from '../operation/node-route.ts';
import { overBudget, Refusal } from '../operation/refusal.ts';
import { message } from '../operation/route.ts';
import { messageShape } from '../operation/shapes.ts';

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

// `POST /nodes/logs`: entries of the decision log that a node ships, as JSON lines in gzip (`control/logs/take-batch.ts`).

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

// `POST /nodes/cache`: what the cache of one process of a node has stored, some domains at a time.

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
