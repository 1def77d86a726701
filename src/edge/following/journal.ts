/**
 * The format of the journal, the file `names`: one line per change, `<checksum> <JSON>`; the last line of a name counts.
 * Each line has its own checksum, so that a truncated or damaged file loses only the lines concerned, and a change
 * appends one line.
 */
import { readFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { xxhash32 } from '../../base/octets/xxhash32.ts';
import { syncFolder, writeAtomically } from '../../base/platform/durable-file.ts';
import { type Clearance, TOMBSTONES, type Tombstone } from '../../engine/plan/manifest.ts';
import { MIN_COMPACT_LINES, RECENT_NAMES } from './limits.ts';
import type { SyncLog } from './log.ts';
import { readClearance } from './secrets.ts';

/** A plan by its revision and the SHA-256 of its sealed bytes. */
export interface PlanMark {
  readonly revision: number;
  readonly digest: string;
}

/** A list of purges (`engine/plan/purges.ts`) by its newest position and the SHA-256 of its JSON. */
export interface PurgeMark {
  readonly through: number;
  readonly digest: string;
}

/** What a node serves for one name, as it is stored. */
export interface JournaledPlan {
  readonly revision: number;
  /** SHA-256 of the sealed plan, 64 lower-case hex digits; `null` for a tombstone. */
  readonly digest: string | null;
  readonly tombstone: Tombstone | null;
  /** The plan before, served while this one's file is damaged; `null`: there was none, or a tombstone in between. */
  readonly previous: PlanMark | null;
  readonly purgeEpoch: number;
  /**
   * The history that the revision belongs to: the id of the signing key, and above 0 the epoch (`k.e`). Revisions of
   * different histories are not comparable.
   */
  readonly keyId: string;
  /** The secrets of the domain's clearance cookies; `null`: the server has one secret for all domains. */
  readonly clearance: Clearance | null;
  /** The purges of single responses; `null`: there was none. */
  readonly purges: PurgeMark | null;
}

/** One line: the plan of a name (`null`: the name was removed), or the position up to which the manifest was read. */
export type JournalLine =
  | { readonly kind: 'name'; readonly name: string; readonly plan: JournaledPlan | null }
  | { readonly kind: 'position'; readonly position: number };

/** Seed of the checksum: lines of another format version count as damaged. */
const VERSION = 1;
const NEWLINE = 10;
/** Octets before the JSON: eight hex digits of XXH32 and a space. */
const PREFIX = 9;

/** A line with its checksum and newline. */
export function lineText(line: JournalLine): string {
  if (line.kind === 'position') return checked(JSON.stringify([line.position]));
  const { name, plan } = line;
  if (plan === null) return checked(JSON.stringify([name]));
  const what = plan.digest ?? plan.tombstone;
  const { revision, purgeEpoch, keyId, previous, clearance, purges } = plan;
  const before = previous === null ? [null, null] : [previous.revision, previous.digest];
  const purged = purges === null ? [] : [purges.through, purges.digest];
  return checked(JSON.stringify([name, revision, what, purgeEpoch, keyId, ...before, clearance, ...purged]));
}

/** Names are ASCII, so a line has as many octets as characters. */
function checked(json: string): string {
  return `${xxhash32(Buffer.from(json, 'latin1'), VERSION).toString(16).padStart(8, '0')} ${json}\n`;
}

/** The content of a journal file. */
interface ReadLines {
  /** The plan of each name after the last line. */
  readonly names: Map<string, JournaledPlan>;
  /** The last position; 0 without one. */
  readonly position: number;
  /** Number of intact lines. */
  readonly lines: number;
  /** Number of damaged or truncated lines. */
  readonly damaged: number;
  /** Names of the last lines, the newest last; at most `recent` of them, see `readLines`. */
  readonly recent: readonly string[];
}

/** Reads a file's octets; never throws. `recent` bounds the list of the last names. */
export function readLines(bytes: Buffer, recent: number): ReadLines {
  const names = new Map<string, JournaledPlan>();
  const last: string[] = [];
  let position = 0;
  let lines = 0;
  let damaged = 0;
  for (let at = 0; at < bytes.length; ) {
    const newline = bytes.indexOf(NEWLINE, at);
    const end = newline < 0 ? bytes.length : newline;
    const values = newline < 0 ? null : readValues(bytes.subarray(at, end));
    at = end + 1;
    const line = values === null ? null : readLine(values);
    if (line === null) damaged++;
    else {
      lines++;
      if (line.kind === 'position') position = line.position;
      else {
        if (line.plan === null) names.delete(line.name);
        else names.set(line.name, line.plan);
        last.push(line.name);
        if (last.length > 2 * recent) last.splice(0, recent);
      }
    }
  }
  return { names, position, lines, damaged, recent: last.slice(-recent) };
}

/** The JSON array of a line; `null`: the checksum is wrong, or it is no array. */
function readValues(line: Buffer): readonly unknown[] | null {
  const json = line.subarray(PREFIX);
  const sum = xxhash32(json, VERSION).toString(16).padStart(8, '0');
  if (line.toString('latin1', 0, PREFIX) !== `${sum} `) return null;
  try {
    const values: unknown = JSON.parse(json.toString('latin1'));
    return Array.isArray(values) ? values : null;
  } catch {
    // The checksum is right and the text is no JSON: another program wrote the line.
    return null;
  }
}

function readLine(values: readonly unknown[]): JournalLine | null {
  // Lines of earlier releases end before `clearance`, or before what precedes it.
  const [first, revision, what, purgeEpoch, keyId, before, digestBefore, clearance, through, purged] = values;
  if (typeof first === 'number') return { kind: 'position', position: first };
  if (typeof first !== 'string') return null;
  if (values.length === 1) return { kind: 'name', name: first, plan: null };
  if (typeof revision !== 'number' || typeof purgeEpoch !== 'number') return null;
  if (typeof what !== 'string' || typeof keyId !== 'string') return null;
  const tombstone = TOMBSTONES.find((tombstone) => tombstone === what) ?? null;
  const digest = tombstone === null ? what : null;
  const previous = readMark(before, digestBefore);
  const plan = {
    revision,
    digest,
    tombstone,
    previous,
    purgeEpoch,
    keyId,
    clearance: readClearance(clearance),
    purges: typeof through === 'number' && typeof purged === 'string' ? { through, digest: purged } : null,
  };
  return { kind: 'name', name: first, plan };
}

function readMark(revision: unknown, digest: unknown): PlanMark | null {
  return typeof revision === 'number' && typeof digest === 'string' ? { revision, digest } : null;
}

// Writes the journal, the file `names`, and has its content in memory. Commits that arrive together share one write and
// one sync of the disk (group commit). The file is compacted when more than half of its lines are outdated, and rewritten
// when its end is damaged.

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
