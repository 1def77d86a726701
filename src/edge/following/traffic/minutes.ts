/**
 * The minutes that are being counted. In: the seconds of the node's processes. Out: a batch file for each complete minute.
 * Every second is in a journal until its minute is in a batch file; what cannot be written stays in memory, by the hour.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder, writeDurably } from '../../../base/platform/durable-file.ts';
import { openBatch } from '../../../engine/counts/layout.ts';
import {
  CLOSE_MS,
  MAX_APPENDING_OCTETS,
  MAX_UNWRITTEN_JOURNALS,
  MAX_UNWRITTEN_SPANS,
  UNWRITTEN_RETRY_MS,
} from '../limits.ts';
import { errorMessage, type SyncLog } from '../log.ts';
import {
  addSealed,
  addTraffic,
  type CountedSecond,
  createTrafficSpans,
  limitTops,
  type SpanTraffic,
  spanAt,
  type TrafficSpans,
} from './counter.ts';
import {
  type BatchFile,
  createJournal,
  JOURNAL_ENDING,
  type Journal,
  removeDurably,
  writeBatches,
} from './files.ts';
import { sealBatches } from './seal-batches.ts';
import type { TrafficTrouble } from './trouble.ts';

export interface MinutesOptions {
  /** Folder of journals and batch files. */
  readonly folder: string;
  /** The file with the last batch number. */
  readonly numberFile: string;
  readonly trouble: TrafficTrouble;
  readonly log: SyncLog;
  /** Receives a batch file as soon as no journal contains its counts. */
  readonly onFile: (file: BatchFile) => void;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly maxTopsOctets: number;
}

/** The minutes of a node. */
export interface Minutes {
  /** Adds seconds; resolves when they are in their journals, or the failure to write them is reported. */
  add(seconds: readonly CountedSecond[]): Promise<void>;
  /** Makes further batches have higher numbers than this one. */
  numberAfter(number: number): void;
  /** Writes the counts of a journal that an earlier process has left. */
  writeLeft(start: number, left: { readonly span: SpanTraffic; readonly journal: string }): Promise<void>;
  /** Closes the complete minutes, or all of them. */
  close(which: 'complete' | 'all'): Promise<void>;
}

/** The journal of a minute, and the appends to it. */
interface OpenJournal {
  /** `null`: it could not be created, or not yet. */
  journal: Journal | null;
  /** The last append. */
  tail: Promise<void>;
  readonly openedAt: number;
}

/** Counts that are in no batch file, and the journals that contain them. */
interface Unwritten {
  readonly spans: ReadonlyMap<number, SpanTraffic>;
  readonly journals: readonly string[];
}

interface MinutesState extends MinutesOptions {
  readonly traffic: TrafficSpans;
  readonly journals: Map<number, OpenJournal>;
  /** By the hour. */
  unwritten: TrafficSpans;
  unwrittenJournals: string[];
  retryAt: number;
  /** Batch files whose journals could not be removed, which may not be sent before. */
  readonly blocked: Map<BatchFile, readonly string[]>;
  /** Octets that wait to be appended. */
  appending: number;
  lastNumber: number;
  closing: Promise<void>;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** Starts with no counts. */
export function createMinutes(options: MinutesOptions): Minutes {
  const state: MinutesState = {
    ...options,
    traffic: createTrafficSpans(options.maxTopsOctets),
    journals: new Map(),
    unwritten: createTrafficSpans(options.maxTopsOctets),
    unwrittenJournals: [],
    retryAt: 0,
    blocked: new Map(),
    appending: 0,
    lastNumber: readNumber(options),
    closing: Promise.resolve(),
  };
  return {
    async add(seconds) {
      await Promise.all(seconds.map((second) => addSecond(state, second)));
      state.trouble.dropTops(limitTops(state.traffic));
    },
    numberAfter(number) {
      state.lastNumber = Math.max(state.lastNumber, number);
    },
    writeLeft: (start, { span, journal }) =>
      inTurn(state, () => write(state, { spans: new Map([[start, span]]), journals: [journal] })),
    close: (which) => inTurn(state, () => close(state, which)),
  };
}

/** Runs one closing after the other. */
function inTurn(state: MinutesState, run: () => Promise<void>): Promise<void> {
  state.closing = state.closing.then(run);
  return state.closing;
}

/** INVARIANT: the counts and their append belong to the same opening of the minute; nothing is awaited in between. */
function addSecond(state: MinutesState, { minute, sealed }: CountedSecond): Promise<void> {
  const span = spanAt(state.traffic, minute);
  for (const entry of openBatch(sealed).entries) addSealed(span, entry);
  const open = journalOf(state, minute);
  if (state.appending + sealed.length > MAX_APPENDING_OCTETS) {
    state.trouble.wrote(new Error(`${MAX_APPENDING_OCTETS} octets wait to be written`));
    return Promise.resolve();
  }
  state.appending += sealed.length;
  open.tail = open.tail.then(async () => {
    try {
      open.journal ??= await createJournal(join(state.folder, journalName(minute)));
      await open.journal.append(sealed);
      state.trouble.wrote(null);
    } catch (error) {
      state.trouble.wrote(error);
    } finally {
      state.appending -= sealed.length;
    }
  });
  return open.tail;
}

function journalOf({ journals, clock }: MinutesState, minute: number): OpenJournal {
  let open = journals.get(minute);
  if (open === undefined) {
    open = { journal: null, tail: Promise.resolve(), openedAt: clock() };
    journals.set(minute, open);
  }
  return open;
}

function journalName(minute: number): string {
  return `${String(minute / MINUTE_MS).padStart(10, '0')}-${randomBytes(4).toString('hex')}${JOURNAL_ENDING}`;
}

async function close(state: MinutesState, which: 'complete' | 'all'): Promise<void> {
  const now = state.clock();
  for (const [minute, open] of [...state.journals].sort(([a], [b]) => a - b)) {
    if (which === 'complete' && !isComplete(minute, { now, openedAt: open.openedAt })) continue;
    const span = spanAt(state.traffic, minute);
    state.traffic.spans.delete(minute);
    state.journals.delete(minute);
    await open.tail;
    const { journal } = open;
    if (journal !== null) await journal.close().catch((error: unknown) => state.trouble.wrote(error));
    const journals = journal === null ? [] : [journal.path];
    await write(state, { spans: new Map([[minute, span]]), journals });
  }
  await unblock(state);
  if (state.unwritten.spans.size > 0 && (which === 'all' || now >= state.retryAt)) await retry(state);
}

/** A minute whose seconds have all arrived, or that is not of this time: the clock was set back since. */
function isComplete(
  minute: number,
  { now, openedAt }: { readonly now: number; readonly openedAt: number },
): boolean {
  if (minute > now + MINUTE_MS) return true;
  return now >= minute + MINUTE_MS + CLOSE_MS && now >= openedAt + CLOSE_MS;
}

async function retry(state: MinutesState): Promise<void> {
  const { spans } = state.unwritten;
  const journals = state.unwrittenJournals;
  state.unwritten = createTrafficSpans(state.maxTopsOctets);
  state.unwrittenJournals = [];
  await write(state, { spans, journals });
}

/** Writes counts to a batch file; what cannot be written stays in memory. */
async function write(state: MinutesState, counts: Unwritten): Promise<void> {
  const domains = [...counts.spans.values()].reduce((sum, span) => sum + span.size, 0);
  if (domains === 0) return removeJournals(state, counts.journals);
  try {
    makeFolder(state.folder, { mode: 0o700 });
    const first = Math.max(Math.floor(state.clock()), state.lastNumber + 1);
    const last = first + domains - 1;
    // Stored before it is used: a later start must only use numbers that were never used.
    await writeDurably(state.numberFile, `${last}\n`);
    state.lastNumber = last;
    const batches = sealBatches(counts.spans, { first, most: domains });
    const { journals } = counts;
    const file = await writeBatches(state.folder, { first, last, journals, batches });
    state.trouble.wrote(null);
    state.blocked.set(file, journals);
  } catch (error) {
    state.trouble.wrote(error);
    merge(state, counts);
    await limitJournals(state);
    return;
  }
  await unblock(state);
}

/** Passes on the batch files whose journals are removed. INVARIANT: counts of a journal that exists are never sent. */
async function unblock(state: MinutesState): Promise<void> {
  for (const [file, journals] of state.blocked) {
    try {
      await removeDurably(state.folder, journals);
    } catch (error) {
      state.trouble.wrote(error);
      return;
    }
    state.blocked.delete(file);
    state.onFile(file);
  }
}

async function removeJournals({ folder, trouble }: MinutesState, journals: readonly string[]): Promise<void> {
  await removeDurably(folder, journals).catch((error: unknown) => trouble.wrote(error));
}

/** Merges counts into the hours in memory, which are bounded in number. */
function merge(state: MinutesState, { spans, journals }: Unwritten): void {
  const { unwritten } = state;
  for (const [start, span] of spans) {
    const hour = spanAt(unwritten, Math.floor(start / HOUR_MS) * HOUR_MS);
    for (const [domain, traffic] of span) addTraffic(hour, domain, traffic);
  }
  state.unwrittenJournals.push(...journals);
  state.retryAt = state.clock() + UNWRITTEN_RETRY_MS;
  while (unwritten.spans.size > MAX_UNWRITTEN_SPANS) {
    const [oldest, next] = [...unwritten.spans.keys()].sort((a, b) => a - b) as [number, number];
    for (const [domain, traffic] of unwritten.spans.get(oldest)!) {
      addTraffic(unwritten.spans.get(next)!, domain, traffic);
    }
    unwritten.spans.delete(oldest);
  }
  state.trouble.dropTops(limitTops(unwritten));
}

/** Removes the oldest journals of unwritten counts, which then are in memory alone; those that cannot be removed stay. */
async function limitJournals(state: MinutesState): Promise<void> {
  const { unwrittenJournals: journals, folder, trouble } = state;
  const excess = journals.slice(0, Math.max(0, journals.length - MAX_UNWRITTEN_JOURNALS));
  try {
    await removeDurably(folder, excess);
    state.unwrittenJournals = journals.slice(excess.length);
  } catch (error) {
    trouble.wrote(error);
  }
}

/** The stored batch number; 0: none, or unreadable: numbers start at the clock, which is higher than old ones. */
function readNumber({ numberFile: file, log }: MinutesOptions): number {
  try {
    const text = readFileSync(file, 'utf8');
    const number = Number(text);
    if (Number.isSafeInteger(number) && number > 0) return number;
    log.error({ file }, 'the file with the last number of a traffic batch has no number in it');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      log.error(
        { err: errorMessage(error), file },
        'the last number of a traffic batch cannot be read; numbers continue by the clock',
      );
  }
  return 0;
}
