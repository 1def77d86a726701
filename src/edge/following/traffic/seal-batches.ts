/**
 * Batches of traffic. In: spans by their start, and the number of the first batch. Out: the batches one by one, as they
 * are sent; and fewer or smaller files while the control plane is away.
 */
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { openBatch, sealBatch, type TrafficBatchEntry } from '../../../engine/counts/layout.ts';
import { CountsFault } from '../../../engine/counts/octets.ts';
import {
  BATCH_OCTETS,
  GZIP_OCTETS,
  MAX_BATCH_DOMAINS,
  MAX_FRAME_OCTETS,
  MERGE_FILES,
  MERGE_OCTETS,
  TURN_DOMAINS,
} from '../limits.ts';
import {
  addSealed,
  createTrafficSpans,
  limitTops,
  type SpanTraffic,
  sealTraffic,
  spanAt,
  type TrafficSpans,
} from './counter.ts';
import {
  type BatchFile,
  type NumberedBatch,
  readBatches,
  removeDurably,
  type SentBatch,
  writeBatches,
} from './files.ts';

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
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

const decompress = promisify(gunzip);

/** The entries of a batch; `null`: another release has sealed the batch, or it is damaged. */
export async function entriesOf({
  body,
  isGzipped,
}: SentBatch): Promise<readonly TrafficBatchEntry[] | null> {
  try {
    return openBatch(isGzipped ? await decompress(body, { maxOutputLength: MAX_FRAME_OCTETS }) : body)
      .entries;
  } catch (error) {
    if (error instanceof CountsFault || isZlibError(error)) return null;
    throw error;
  }
}

/** Whether octets could not be inflated: zlib's codes begin with `Z_`; the other is for too many octets. */
function isZlibError(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' && (code.startsWith('Z_') || code === 'ERR_BUFFER_TOO_LARGE');
}

// Keeps the batch files within their bounds while the control plane is away. In: the files, by their numbers. Out: fewer or
// smaller files: minutes are merged into hours, top lists are dropped, and last the oldest file.
//
// INVARIANT: the first file stays as it is. The control plane may have accepted its batches without this node having the
// answer; under other numbers their counts would be counted twice.

/** One step: the files that it replaces, and what replaces them. */
export interface ShrinkStep {
  /** One or more, which follow one another. */
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
  if (group !== null) return mergeFiles(folder, group);
  const large = files.slice(1).find(({ path }) => !stripped.has(path));
  if (large !== undefined) return stripFile(folder, large);
  const oldest = files[1];
  if (oldest === undefined) return null;
  const { batches, isTorn } = await readBatches(oldest);
  await removeDurably(folder, [oldest.path]);
  const droppedBatches = batches.length + (isTorn ? 1 : 0);
  return { removed: [oldest], added: null, droppedTops: 0, droppedBatches };
}

/** The oldest files after the first, two or more, that can be in memory at once; `null`: no two of them can. */
function mergeable(files: readonly BatchFile[]): readonly BatchFile[] | null {
  let group: BatchFile[] = [];
  let octets = 0;
  for (const file of files.slice(1)) {
    const fits = octets + file.size <= MERGE_OCTETS && group.length < MERGE_FILES;
    if (!fits && group.length > 1) break;
    if (!fits) {
      group = [];
      octets = 0;
    }
    group.push(file);
    octets += file.size;
  }
  return group.length > 1 ? group : null;
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
      if (!(await addEntries(traffic, entries ?? [])) || entries === null) droppedBatches++;
      limitTops(traffic);
    }
  }
  const range = rangeOf(group);
  const batches = sealBatches(traffic.spans, { first: range.first, most: range.last - range.first + 1 });
  const added = await writeBatches(folder, { ...range, journals: [], batches });
  // The merged file covers the numbers of those that a crash leaves here.
  const old = group.map(({ path }) => path).filter((path) => path !== added.path);
  await removeDurably(folder, old);
  return { removed: group, added, droppedTops: traffic.droppedTops, droppedBatches };
}

/** Adds entries to their hours; false: some cannot be opened. */
async function addEntries(traffic: TrafficSpans, entries: readonly TrafficBatchEntry[]): Promise<boolean> {
  let areWhole = true;
  for (const [at, entry] of entries.entries()) {
    try {
      addSealed(spanAt(traffic, Math.floor(entry.minute / HOUR_MS) * HOUR_MS), entry);
    } catch (error) {
      if (!(error instanceof CountsFault)) throw error;
      areWhole = false;
    }
    if (at % TURN_DOMAINS === 0) await turn();
  }
  return areWhole;
}

function rangeOf(group: readonly BatchFile[]): Pick<BatchFile, 'first' | 'last'> {
  return { first: group[0]!.first, last: group.at(-1)!.last };
}

/** The same file without top lists. */
async function stripFile(folder: string, file: BatchFile): Promise<ShrinkStep> {
  const { batches: stored, isTorn } = await readBatches(file);
  let droppedTops = 0;
  let droppedBatches = isTorn ? 1 : 0;
  async function* stripped(): AsyncGenerator<NumberedBatch> {
    for (const batch of stored) {
      const entries = await entriesOf(batch);
      if (entries === null) {
        droppedBatches++;
        continue;
      }
      droppedTops += entries.filter(({ tops }) => tops !== null).length;
      yield makeBatch(batch.number, entries.map(withoutTops));
    }
  }
  const { first, last } = file;
  const added = await writeBatches(folder, { first, last, journals: [], batches: stripped() });
  return { removed: [file], added, droppedTops, droppedBatches };
}

/** An entry without its top lists. */
export function withoutTops(entry: TrafficBatchEntry): TrafficBatchEntry {
  return { ...entry, tops: null };
}
