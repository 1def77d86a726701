/**
 * Divides a batch that is too large for what is between the node and the control plane (413). In: its file. Out: the same
 * file with two batches in its place, or with the batch without top lists; `null`: it cannot be made smaller.
 *
 * The first half has the number of the batch, the second half has a number after all others of the file, of which the file has
 * one for each entry. A batch that was accepted while its response was lost, and that is too large at the next attempt, is
 * divided too, and its second half counts twice: a limit between node and control plane would have to shrink just then.
 */
import {
  type BatchFile,
  type NumberedBatch,
  readBatches,
  type SentBatch,
  writeBatches,
} from './batch-files.ts';
import { entriesOf } from './open-sent.ts';
import { makeBatch } from './seal-batches.ts';
import { withoutTops } from './shrink-files.ts';

/** A file with smaller batches. */
export interface DividedFile {
  readonly file: BatchFile;
  /** Top lists that are dropped, those of a domain and span as one. */
  readonly droppedTops: number;
}

/** @throws the file system's error; the file is as before then */
export async function divideBatch(
  folder: string,
  file: BatchFile,
  large: SentBatch,
): Promise<DividedFile | null> {
  const { batches: stored } = await readBatches(file);
  const entries = await entriesOf(large);
  if (entries === null) return null;
  const next = Math.max(...stored.map(({ number }) => number)) + 1;
  const half = Math.ceil(entries.length / 2);
  const isDivided = entries.length > 1 && next <= file.last;
  const droppedTops = isDivided ? 0 : entries.filter(({ tops }) => tops !== null).length;
  if (!isDivided && droppedTops === 0) return null;
  const smaller = await makeBatch(
    large.number,
    isDivided ? entries.slice(0, half) : entries.map(withoutTops),
  );
  const rest = isDivided ? [await makeBatch(next, entries.slice(half))] : [];
  const batches: NumberedBatch[] = [
    ...stored.map((batch) => (batch.number === large.number ? smaller : batch)),
    ...rest,
  ];
  const { first, last } = file;
  return { file: await writeBatches(folder, { first, last, journals: [], batches }), droppedTops };
}
