/**
 * The traffic counts of a node, from its processes to the control plane. In: what each process has counted, once a second.
 * Out: numbered batches, sent until they are accepted. `counter.ts` counts, `minutes.ts` makes the seconds durable and
 * closes minutes, `send-batches.ts` sends. What an earlier process has left is taken up at the start.
 */
import { join } from 'node:path';
import { makeFolder } from '../../../base/platform/durable-file.ts';
import { pause } from '../../../base/platform/tasks.ts';
import { openBatch } from '../../../engine/counts/layout.ts';
import { CountsFault } from '../../../engine/counts/octets.ts';
import type { ControlPlaneClient } from '../control-plane.ts';
import {
  DRAIN_MS,
  FLUSH_ON_STOP_MS,
  MAX_BATCH_FILES,
  MAX_BATCH_FILES_OCTETS,
  MAX_TOPS_OCTETS,
  SPREAD_MS,
} from '../limits.ts';
import { errorMessage, type SyncLog } from '../log.ts';
import { addSealed, type CountedSeconds, createTrafficSpans, limitTops, spanAt } from './counter.ts';
import { findLeft, readJournal } from './files.ts';
import { createMinutes, type Minutes } from './minutes.ts';
import { type BatchSender, createSender, type FileBounds } from './send-batches.ts';
import { createTrouble, type TrafficLosses, type TrafficTrouble } from './trouble.ts';

/** The state of a node's traffic counts. */
export interface TrafficState extends Readonly<TrafficLosses> {
  /** Batch files that the control plane has not accepted, and their octets. */
  readonly files: number;
  readonly octets: number;
  /** Why counts are in memory only, as a phrase; `null`: they are on the disk. */
  readonly disk: string | null;
}

/** The traffic counts of a node. */
export interface NodeTraffic {
  /** Adds what a process has counted; resolves when it is written, or the failure to write it is reported. */
  add(counted: CountedSeconds): Promise<void>;
  /** A process was killed: what it had counted since its last drain is lost. */
  lostSpan(): void;
  state(): TrafficState;
  /** Writes everything, sends it within `FLUSH_ON_STOP_MS` if the control plane is reached, and ends. */
  stop(): Promise<void>;
}

/** Bounds and times that differ from `../limits.ts`, for tests. */
export interface TrafficBounds extends FileBounds {
  readonly maxTopsOctets: number;
  readonly tickMs: number;
  readonly spreadMs: number;
  readonly lastRetryMs: number;
}

export interface NodeTrafficOptions {
  readonly control: Pick<ControlPlaneClient, 'traffic'>;
  /** The node's folder. */
  readonly directory: string;
  readonly log: SyncLog;
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
  readonly bounds?: Partial<TrafficBounds>;
}

/** Takes up what an earlier process has left, and starts. Never rejects: without the disk counts are in memory. */
export async function openTraffic(options: NodeTrafficOptions): Promise<NodeTraffic> {
  const { control, directory, log, clock = Date.now, bounds = {} } = options;
  const { maxTopsOctets = MAX_TOPS_OCTETS, tickMs = DRAIN_MS } = bounds;
  const folder = join(directory, 'traffic');
  const trouble = createTrouble({ log, maxTopsOctets });
  const sender = createSender({
    control,
    folder,
    log,
    trouble,
    maxFiles: MAX_BATCH_FILES,
    maxFilesOctets: MAX_BATCH_FILES_OCTETS,
    spreadMs: SPREAD_MS,
    ...bounds,
  });
  const numberFile = join(directory, 'usage-batch');
  const onFile = sender.add;
  const minutes = createMinutes({ folder, numberFile, trouble, log, onFile, clock, maxTopsOctets });
  await takeUpLeft({ folder, minutes, sender, trouble, log, maxTopsOctets });
  const timer = setInterval(() => void minutes.close('complete'), tickMs).unref();

  async function end(): Promise<void> {
    clearInterval(timer);
    await minutes.close('all');
    const sent = new AbortController();
    const all = sender.finish().finally(() => sent.abort());
    await Promise.race([all, pause(FLUSH_ON_STOP_MS, sent.signal)]);
  }

  /** INVARIANT: ends once: two ends at the same time would close a minute twice. */
  let stopped: Promise<void> | null = null;
  return {
    async add({ seconds, droppedTops }) {
      trouble.dropTops(droppedTops);
      await minutes.add(seconds);
    },
    lostSpan() {
      trouble.losses.lostSpans++;
      const to = clock();
      log.warn(
        { from: new Date(to - DRAIN_MS).toISOString(), to: new Date(to).toISOString() },
        'a worker was killed: requests of at most a second between these times are not counted',
      );
    },
    state: () => ({ ...trouble.losses, ...sender.waiting(), disk: trouble.disk() }),
    stop() {
      stopped ??= end();
      return stopped;
    },
  };
}

interface LeftOptions {
  readonly folder: string;
  readonly minutes: Minutes;
  readonly sender: BatchSender;
  readonly trouble: TrafficTrouble;
  readonly log: SyncLog;
  readonly maxTopsOctets: number;
}

/** Sends the files that an earlier process has left, and makes files of its journals. */
async function takeUpLeft({ folder, sender, ...options }: LeftOptions): Promise<void> {
  const { trouble, log } = options;
  try {
    makeFolder(folder, { mode: 0o700 });
    const { files, journals } = await findLeft(folder);
    options.minutes.numberAfter(Math.max(0, ...files.map(({ last }) => last)));
    for (const file of files) sender.add(file);
    const ends: JournalEnd[] = [];
    for (const journal of journals) {
      const end = await takeUpJournal(journal, options).catch((error: unknown) => {
        log.error(
          { err: errorMessage(error), file: journal },
          'a traffic journal cannot be read; the next start tries again',
        );
        return null;
      });
      if (end !== null) ends.push(end);
    }
    if (ends.length > 0) reportLost(ends, { trouble, log });
  } catch (error) {
    trouble.wrote(error);
  }
}

/** When a journal has ended, milliseconds since the epoch. */
interface JournalEnd {
  /** The drain of its last record; 0: it has none. */
  readonly lastAt: number;
  readonly changedAt: number;
}

type JournalOptions = Pick<LeftOptions, 'minutes' | 'trouble' | 'log' | 'maxTopsOctets'>;

async function takeUpJournal(path: string, options: JournalOptions): Promise<JournalEnd> {
  const { minutes, trouble, log, maxTopsOctets } = options;
  const { contents, changedAt } = await readJournal(path);
  const traffic = createTrafficSpans(maxTopsOctets);
  let lastAt = 0;
  let start = 0;
  for (const content of contents) {
    try {
      const { batch, entries } = openBatch(content);
      lastAt = Math.max(lastAt, batch);
      for (const entry of entries) {
        start = entry.minute;
        addSealed(spanAt(traffic, start), entry);
      }
    } catch (error) {
      if (!(error instanceof CountsFault)) throw error;
      trouble.losses.droppedBatches++;
      log.error(
        { err: error.message, file: path },
        'a record of a traffic journal cannot be opened; it is dropped',
      );
    }
    trouble.dropTops(limitTops(traffic));
  }
  await minutes.writeLeft(start, { span: spanAt(traffic, start), journal: path });
  return { lastAt, changedAt };
}

/** Only a process that was killed leaves journals, and what it had counted since its last drain is lost. */
function reportLost(
  ends: readonly JournalEnd[],
  { trouble, log }: Pick<LeftOptions, 'trouble' | 'log'>,
): void {
  const changedAt = Math.max(...ends.map((end) => end.changedAt));
  const lastAt = Math.max(...ends.map((end) => end.lastAt)) || changedAt - DRAIN_MS;
  const from = new Date(lastAt).toISOString();
  const to = new Date(Math.max(lastAt, changedAt) + DRAIN_MS).toISOString();
  trouble.losses.lostSpans++;
  log.warn(
    { from, to },
    'the node was killed: requests of at most a second between these times are not counted',
  );
}
