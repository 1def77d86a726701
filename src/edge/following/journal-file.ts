/**
 * Writes the journal, the file `names`, and has its content in memory. Commits that arrive together share one write and
 * one sync of the disk (group commit). The file is compacted when more than half of its lines are outdated, and rewritten
 * when its end is damaged.
 */
import { readFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncFolder, writeAtomically } from '../../base/platform/durable-file.ts';
import { type JournaledPlan, type JournalLine, lineText, type ReadLines, readLines } from './journal.ts';
import { MIN_COMPACT_LINES, RECENT_NAMES } from './limits.ts';
import type { SyncLog } from './log.ts';

/** Lines per write of a compaction, so that requests are served in between. */
const LINES_AT_ONCE = 2_000;

/** A commit that waits for the disk. */
interface PendingCommit {
  readonly lines: readonly JournalLine[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** The journal and its content; changed by the functions of this file only. */
export interface JournalFile {
  readonly path: string;
  /** The committed plan of each name. */
  readonly names: Map<string, JournaledPlan>;
  /** The committed position. */
  position: number;
  /** Names of the last lines before the start. */
  readonly recent: readonly string[];
  /** Lines in the file. */
  lines: number;
  /** Open for appending; `null` before the first commit, and after a rewrite. */
  handle: FileHandle | null;
  /** The end of the file may be damaged: it is rewritten before anything is appended. */
  suspect: boolean;
  /** Runs before lines are appended, to make durable what they refer to. */
  readonly beforeAppend: () => Promise<void>;
  queue: PendingCommit[];
  /** The running drain of the queue. */
  writing: Promise<void> | null;
}

/**
 * Reads the journal; damaged lines are logged, and the position becomes 0, so that their names are read again.
 * @throws the system's error when the file exists and cannot be read: to start without names would end all service
 */
export function openJournalFile(
  path: string,
  { log, beforeAppend }: { readonly log: SyncLog; readonly beforeAppend: () => Promise<void> },
): JournalFile {
  const read = readJournal(path);
  const damaged = read === null || read.damaged > 0;
  if (read !== null && read.damaged > 0) {
    log.warn(
      { file: path, lines: read.damaged },
      'lines of the list of names are damaged; their names are fetched again',
    );
  }
  return {
    path,
    names: read?.names ?? new Map(),
    position: damaged ? 0 : read.position,
    recent: read?.recent ?? [],
    lines: read?.lines ?? 0,
    handle: null,
    suspect: damaged,
    beforeAppend,
    queue: [],
    writing: null,
  };
}

/** `null`: there is no file. */
function readJournal(path: string): ReadLines | null {
  try {
    return readLines(readFileSync(path), RECENT_NAMES);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return null;
  }
}

/**
 * Appends lines; `names` and `position` have them, and they are durable, when it resolves.
 * @param attempt runs the write; it may observe failures
 * @throws the system's error; nothing of the lines is applied then
 */
export function commitLines(
  journal: JournalFile,
  lines: readonly JournalLine[],
  attempt: (write: () => Promise<void>) => Promise<void>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    journal.queue.push({ lines, resolve, reject });
    journal.writing ??= drain(journal, attempt);
  });
}

/** Waits for running writes and closes the file. */
export async function closeJournal(journal: JournalFile): Promise<void> {
  await journal.writing;
  await journal.handle?.close();
  journal.handle = null;
}

/** Writes everything that waits together, until nothing does. */
async function drain(
  journal: JournalFile,
  attempt: (write: () => Promise<void>) => Promise<void>,
): Promise<void> {
  while (journal.queue.length > 0) {
    const batch = journal.queue;
    journal.queue = [];
    try {
      await attempt(() => append(journal, batch));
    } catch (error) {
      for (const { reject } of batch) reject(error);
      continue;
    }
    for (const { lines, resolve } of batch) {
      for (const line of lines) apply(journal, line);
      resolve();
    }
  }
  journal.writing = null;
}

function apply(journal: JournalFile, line: JournalLine): void {
  if (line.kind === 'position') journal.position = line.position;
  else if (line.plan === null) journal.names.delete(line.name);
  else journal.names.set(line.name, line.plan);
}

async function append(journal: JournalFile, batch: readonly PendingCommit[]): Promise<void> {
  await journal.beforeAppend();
  const isLong = journal.lines > 2 * Math.max(journal.names.size, MIN_COMPACT_LINES);
  if (journal.suspect || isLong) await rewrite(journal);
  journal.handle ??= await open(journal.path, 'a', 0o600);
  const texts = batch.flatMap(({ lines }) => lines.map(lineText));
  journal.suspect = true;
  await journal.handle.writeFile(texts.join(''));
  await journal.handle.datasync();
  journal.suspect = false;
  journal.lines += texts.length;
}

/** Replaces the file by one line per name. */
async function rewrite(journal: JournalFile): Promise<void> {
  await journal.handle?.close();
  journal.handle = null;
  const { names, position } = journal;
  await writeAtomically(journal.path, async (handle) => {
    let text = lineText({ kind: 'position', position });
    let count = 0;
    for (const [name, plan] of names) {
      text += lineText({ kind: 'name', name, plan });
      if (++count % LINES_AT_ONCE !== 0) continue;
      await handle.writeFile(text);
      text = '';
    }
    // `writeFile` and not `write`, which writes a part of the text, without an error, if the disk is full.
    await handle.writeFile(text);
  });
  await syncFolder(dirname(journal.path));
  journal.lines = names.size;
  journal.suspect = false;
}
