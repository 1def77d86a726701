/**
 * Sends batch files to the control plane in the order of their numbers. A batch is repeated under its number until it is
 * accepted, so that it is counted once; one that the control plane refuses is dropped.
 */
import { pause, retryMs } from '../../platform/backoff.ts';
import { type ControlPlaneClient, ControlPlaneFault } from '../control-plane.ts';
import { FIRST_RETRY_MS, LAST_RETRY_MS } from '../limits.ts';
import { errorMessage, type SyncLog } from '../log.ts';
import { type BatchFile, readBatches, removeDurably, type SentBatch } from './batch-files.ts';
import { shrinkFiles } from './shrink-files.ts';
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
  /** Number of the first batch that is not accepted. */
  next: number;
  readonly stripped: Set<string>;
  readonly ending: AbortController;
  sending: Promise<void> | null;
}

/** Starts with no files. */
export function createSender(options: SenderOptions): BatchSender {
  const state: SenderState = {
    ...options,
    files: [],
    next: 0,
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
      await sendFile(state, state.files[0]!);
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

async function sendFile(state: SenderState, file: BatchFile): Promise<void> {
  const { batches, isTorn } = await readBatches(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return { batches: [], isTorn: true };
    throw error;
  });
  if (isTorn)
    dropped(
      state,
      { file: file.path },
      'a file of traffic batches is missing or damaged; what follows the damage is lost',
    );
  for (const batch of batches) if (batch.number >= state.next) await sendBatch(state, batch);
  state.files = state.files.filter((other) => other !== file);
  // One that stays is sent again by the next start, and not counted again.
  await removeDurably(state.folder, [file.path]).catch((error: unknown) => state.trouble.wrote(error));
}

async function sendBatch(state: SenderState, { number, body, isGzipped }: SentBatch): Promise<void> {
  try {
    await state.control.traffic(body, { isGzipped });
  } catch (error) {
    if (!(error instanceof ControlPlaneFault && error.code === 'answer')) throw error;
    const fields = { err: errorMessage(error), batch: number };
    dropped(state, fields, 'the control plane refuses a batch of traffic counts; it is dropped');
  }
  state.next = number + 1;
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
