/**
 * Sends batch files to the control plane in the order of their numbers. A batch is repeated under its number until it is
 * accepted, so that it is counted once. One that the control plane refuses as wrong (400) is dropped, one that is too large
 * for it or for a proxy (413) is divided; anything else is tried again.
 */
import { pause, retryMs } from '../../../base/platform/tasks.ts';
import { type ControlPlaneClient, ControlPlaneFault } from '../control-plane.ts';
import { FIRST_RETRY_MS, LAST_RETRY_MS } from '../limits.ts';
import { errorMessage, type SyncLog } from '../log.ts';
import {
  type BatchFile,
  type NumberedBatch,
  readBatches,
  removeDurably,
  type SentBatch,
  writeBatches,
} from './files.ts';
import { entriesOf, makeBatch, shrinkFiles, withoutTops } from './seal-batches.ts';
import type { TrafficTrouble } from './trouble.ts';

/** Bounds of the batch files. */
export interface FileBounds {
  readonly maxFiles: number;
  readonly maxFilesOctets: number;
}

export interface SenderOptions extends FileBounds {
  readonly control: Pick<ControlPlaneClient, 'traffic'>;
  readonly folder: string;
  readonly log: SyncLog;
  readonly trouble: TrafficTrouble;
  /** Most milliseconds that a file waits before it is sent. */
  readonly spreadMs: number;
  /** Longest delay before another attempt, in milliseconds. */
  readonly lastRetryMs?: number;
}

/** The sender of a node. */
export interface BatchSender {
  /** Sends a file after all those before it. */
  add(file: BatchFile): void;
  /** Files that are not accepted, and their octets. */
  waiting(): { readonly files: number; readonly octets: number };
  /** Makes one more attempt without delays, and ends with the first failure. */
  finish(): Promise<void>;
}

interface SenderState extends SenderOptions {
  files: readonly BatchFile[];
  /** Batches of the first file that are accepted or dropped. */
  settled: number;
  isTornReported: boolean;
  readonly stripped: Set<string>;
  readonly ending: AbortController;
  sending: Promise<void> | null;
}

/** Starts with no files. */
export function createSender(options: SenderOptions): BatchSender {
  const state: SenderState = {
    ...options,
    files: [],
    settled: 0,
    isTornReported: false,
    stripped: new Set(),
    ending: new AbortController(),
    sending: null,
  };
  return {
    add(file) {
      state.files = [...state.files, file];
      begin(state);
    },
    waiting: () => ({ files: state.files.length, octets: octetsOf(state) }),
    async finish() {
      state.ending.abort();
      await begin(state);
    },
  };
}

function octetsOf({ files }: SenderState): number {
  return files.reduce((sum, { size }) => sum + size, 0);
}

/** Sends all files, unless they are being sent. */
function begin(state: SenderState): Promise<void> {
  state.sending ??= sendAll(state).finally(() => {
    state.sending = null;
    // A file that was added after the last look.
    if (state.files.length > 0 && !state.ending.signal.aborted) begin(state);
  });
  return state.sending;
}

async function sendAll(state: SenderState): Promise<void> {
  const { log, spreadMs, lastRetryMs = LAST_RETRY_MS } = state;
  const { signal } = state.ending;
  let failures = 0;
  await pause(Math.random() * spreadMs, signal);
  while (state.files.length > 0) {
    await shrink(state);
    try {
      await sendFirst(state);
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      if (failures === 0) {
        log.warn(
          { err: errorMessage(error), ...waitingFields(state) },
          'traffic cannot be sent; it is sent later',
        );
      }
      await pause(retryMs(failures++, { first: FIRST_RETRY_MS, last: lastRetryMs }), signal);
    }
  }
}

function waitingFields(state: SenderState): object {
  return { files: state.files.length, octets: octetsOf(state) };
}

/** Sends what is not accepted of the first file, then removes it. */
async function sendFirst(state: SenderState): Promise<void> {
  const { folder } = state;
  const file = state.files[0]!;
  const { batches, isTorn } = await readBatches(file);
  if (isTorn && !state.isTornReported) {
    state.isTornReported = true;
    const fields = { file: file.path };
    dropped(
      state,
      fields,
      'a file of traffic batches is missing or damaged; what follows the damage is lost',
    );
  }
  for (const batch of batches.slice(state.settled)) {
    await sendBatch(state, file, batch);
    // The file has other batches since.
    if (state.files[0] !== file) return;
    state.settled++;
  }
  // INVARIANT: only the first file has batches that were sent, after a restart too; `shrinkFiles` relies on it.
  await removeDurably(folder, [file.path]);
  state.files = state.files.slice(1);
  state.settled = 0;
  state.isTornReported = false;
}

async function sendBatch(state: SenderState, file: BatchFile, batch: SentBatch): Promise<void> {
  try {
    await state.control.traffic(batch.body, { isGzipped: batch.isGzipped });
  } catch (error) {
    if (!(error instanceof ControlPlaneFault)) throw error;
    if (error.status === 413 && (await divide(state, file, batch))) return;
    // The control plane would refuse it again.
    if (!error.isRefusal) throw error;
    const fields = { err: errorMessage(error), batch: batch.number };
    dropped(state, fields, 'the control plane refuses a batch of traffic counts; it is dropped');
  }
}

/** Puts smaller batches in the place of one that is too large; false: it is as small as can be. */
async function divide(state: SenderState, file: BatchFile, batch: SentBatch): Promise<boolean> {
  const { folder, log, trouble } = state;
  const divided = await divideBatch(folder, file, batch);
  if (divided === null) return false;
  const { file: smaller, droppedTops } = divided;
  state.files = state.files.map((other) => (other === file ? smaller : other));
  trouble.dropTops(droppedTops);
  log.warn(
    { batch: batch.number, octets: batch.body.length },
    'a batch of traffic counts is too large for the control plane or a proxy before it; it is divided',
  );
  return true;
}

function dropped({ log, trouble }: SenderState, fields: object, sentence: string): void {
  trouble.losses.droppedBatches++;
  log.error(fields, sentence);
}

/** Brings the files within their bounds, while none is being sent. A failing disk is reported, and tried again later. */
async function shrink(state: SenderState): Promise<void> {
  const { folder, log, trouble, maxFiles, maxFilesOctets, stripped } = state;
  try {
    while (state.files.length > maxFiles || octetsOf(state) > maxFilesOctets) {
      const step = await shrinkFiles(state.files, { folder, stripped });
      if (step === null) return;
      const { removed, added, droppedTops, droppedBatches } = step;
      const [first, ...others] = state.files.filter((file) => !removed.includes(file));
      state.files = [first!, ...(added === null ? [] : [added]), ...others];
      if (added !== null && removed.length === 1) stripped.add(added.path);
      trouble.dropTops(droppedTops);
      if (droppedBatches === 0) continue;
      trouble.losses.droppedBatches += droppedBatches;
      const bounds = { files: maxFiles, octets: maxFilesOctets };
      log.error(
        { batches: droppedBatches, ...bounds },
        `the oldest traffic counts are lost: ${maxFiles} files and ${maxFilesOctets} octets may wait for the control plane`,
      );
    }
  } catch (error) {
    trouble.wrote(error);
  }
}

// Divides a batch that is too large for what is between the node and the control plane (413). In: its file. Out: the same
// file with two batches in its place, or with the batch without top lists; `null`: it cannot be made smaller.
//
// The first half has the number of the batch, the second half has a number after all others of the file, of which the file has
// one for each entry. A batch that was accepted while its response was lost, and that is too large at the next attempt, is
// divided too, and its second half counts twice: a limit between node and control plane would have to shrink just then.

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
