/**
 * Keeps the batch files within their bounds while the control plane is away. In: the files, by their numbers. Out: fewer or
 * smaller files: minutes are merged into hours, top lists are dropped, and last the oldest file.
 *
 * INVARIANT: the first file stays as it is. The control plane may have accepted its batches without this node having the
 * answer; under other numbers their counts would be counted twice.
 */
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { CountsFault } from '../../counts/fault.ts';
import { openBatch, sealBatch, type TrafficBatchEntry } from '../../counts/layout.ts';
import { type BatchFile, readBatches, removeDurably, type SentBatch, writeBatches } from './batch-files.ts';
import { addSealed, createTrafficSpans, limitTops, spanAt } from './domain-traffic.ts';
import { MAX_FRAME_OCTETS, MERGE_FILES, MERGE_OCTETS, TURN_DOMAINS } from './limits.ts';
import { sealBatches, turn } from './seal-batches.ts';

const decompress = promisify(gunzip);

/** One step: the files that it replaces, and what replaces them. */
export interface ShrinkStep {
  readonly removed: readonly BatchFile[];
  /** `null`: nothing replaces them, their counts are lost. */
  readonly added: BatchFile | null;
  /** Top lists that are dropped, those of a domain and span as one. */
  readonly droppedTops: number;
  /** Batches that are lost. */
  readonly droppedBatches: number;
}

export interface ShrinkOptions {
  readonly folder: string;
  /** Paths of files whose top lists an earlier step has dropped. */
  readonly stripped: ReadonlySet<string>;
}

/** Makes the oldest files after the first fewer or smaller; `null`: there is no other file. @throws the file system's error */
export async function shrinkFiles(
  files: readonly BatchFile[],
  { folder, stripped }: ShrinkOptions,
): Promise<ShrinkStep | null> {
  const group = mergeable(files);
  if (group.length > 1) return mergeFiles(folder, group);
  const large = files.slice(1).find(({ path }) => !stripped.has(path));
  if (large !== undefined) return stripFile(folder, large);
  const oldest = files[1];
  if (oldest === undefined) return null;
  const { batches } = await readBatches(oldest);
  await removeDurably(folder, [oldest.path]);
  return { removed: [oldest], added: null, droppedTops: 0, droppedBatches: batches.length };
}

/** The oldest files after the first that can be in memory at once. */
function mergeable(files: readonly BatchFile[]): readonly BatchFile[] {
  let octets = 0;
  let end = 1;
  while (end < files.length && end <= MERGE_FILES) {
    octets += files[end]!.size;
    if (octets > MERGE_OCTETS) break;
    end++;
  }
  return files.slice(1, end);
}

const HOUR_MS = 3_600_000;

/** One file in place of several, with the counts of an hour under the hour's first minute. */
async function mergeFiles(folder: string, group: readonly BatchFile[]): Promise<ShrinkStep> {
  const traffic = createTrafficSpans();
  let droppedBatches = 0;
  for (const file of group) {
    const { batches, isTorn } = await readBatches(file);
    if (isTorn) droppedBatches++;
    for (const batch of batches) {
      const entries = await entriesOf(batch);
      if (entries === null) droppedBatches++;
      for (const [at, entry] of (entries ?? []).entries()) {
        addSealed(spanAt(traffic, Math.floor(entry.minute / HOUR_MS) * HOUR_MS), entry);
        if (at % TURN_DOMAINS === 0) await turn();
      }
      limitTops(traffic);
    }
  }
  const range = rangeOf(group);
  const bodies = sealBatches(traffic.spans, { first: range.first, most: range.last - range.first + 1 });
  const added = await writeBatches(folder, { ...range, journals: [], bodies });
  // The merged file covers the numbers of those that a crash leaves here.
  const old = group.map(({ path }) => path).filter((path) => path !== added.path);
  await removeDurably(folder, old);
  return { removed: group, added, droppedTops: traffic.droppedTops, droppedBatches };
}

function rangeOf(group: readonly BatchFile[]): Pick<BatchFile, 'first' | 'last'> {
  return { first: group[0]!.first, last: group.at(-1)!.last };
}

/** The same file without top lists. */
async function stripFile(folder: string, file: BatchFile): Promise<ShrinkStep> {
  const { batches, isTorn } = await readBatches(file);
  let droppedTops = 0;
  let droppedBatches = isTorn ? 1 : 0;
  async function* bodies(): AsyncGenerator<Uint8Array> {
    for (const batch of batches) {
      const entries = await entriesOf(batch);
      if (entries === null) {
        droppedBatches++;
        continue;
      }
      droppedTops += entries.filter(({ tops }) => tops !== null).length;
      yield sealBatch({ batch: batch.number, entries: entries.map((entry) => ({ ...entry, tops: null })) });
    }
  }
  const { first, last } = file;
  const added = await writeBatches(folder, { first, last, journals: [], bodies: bodies() });
  return { removed: [file], added, droppedTops, droppedBatches };
}

/** `null`: another release has sealed the batch, or it is damaged. */
async function entriesOf({ body, isGzipped }: SentBatch): Promise<readonly TrafficBatchEntry[] | null> {
  const batch = isGzipped ? await decompress(body, { maxOutputLength: MAX_FRAME_OCTETS }) : body;
  try {
    return openBatch(batch).entries;
  } catch (error) {
    if (error instanceof CountsFault) return null;
    throw error;
  }
}
