/**
 * Makes the batches of spans of traffic. In: spans by their start, and the number of the first batch. Out: the batches one by
 * one, as they are sent. Other work gets its turn between two groups of domains.
 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { sealBatch, type TrafficBatchEntry } from '../../../engine/counts/layout.ts';
import type { NumberedBatch } from './batch-files.ts';
import { type SpanTraffic, sealTraffic } from './domain-traffic.ts';
import { BATCH_OCTETS, GZIP_OCTETS, MAX_BATCH_DOMAINS, TURN_DOMAINS } from './limits.ts';

const compress = promisify(gzip);

export interface BatchSplit {
  /** The number of the first batch. */
  readonly first: number;
  /** Most batches; the last of them takes all that is left. */
  readonly most: number;
}

/** The batches, at least one domain each; compressed from `GZIP_OCTETS` on. */
export async function* sealBatches(
  spans: Iterable<readonly [number, SpanTraffic]>,
  { first, most }: BatchSplit,
): AsyncGenerator<NumberedBatch> {
  let entries: TrafficBatchEntry[] = [];
  let octets = 0;
  let number = first;
  let sinceTurn = 0;
  for (const [start, span] of spans) {
    for (const one of span) {
      const entry = sealTraffic(start, one);
      const size = entry.counts.length + (entry.tops?.length ?? 0);
      const isFull = entries.length >= MAX_BATCH_DOMAINS || octets + size > BATCH_OCTETS;
      if (entries.length > 0 && isFull && number < first + most - 1) {
        yield await makeBatch(number++, entries);
        entries = [];
        octets = 0;
      }
      entries.push(entry);
      octets += size;
      if (++sinceTurn % TURN_DOMAINS === 0) await turn();
    }
  }
  if (entries.length > 0) yield await makeBatch(number, entries);
}

/** A batch as it is sent. */
export async function makeBatch(
  number: number,
  entries: readonly TrafficBatchEntry[],
): Promise<NumberedBatch> {
  const batch = sealBatch({ batch: number, entries });
  return { number, body: batch.length < GZIP_OCTETS ? batch : await compress(batch) };
}

/** Resolves after the events that wait now. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
