/**
 * What a node keeps of the control plane, so that it serves the last good plans after a restart without one:
 *
 * - `plans/<digest>` sealed plans, each in a file of its own: of each name the one it is served by and the one before
 * - `names` which plan each name is served by, see `name-lines.ts`
 *
 * A plan's file is on the disk before the line that names it is, and a line before anything is served by it. So after a
 * crash each name has its old plan or its new one, whole. Lines that arrive together share one sync of the disk.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { removeUnfinished, syncFolder, writeAtomically } from '../platform/durable-file.ts';
import { sha256Hex } from '../platform/sha256.ts';
import { type JournaledPlan, type JournalLine, lineText, readLines } from './journal.ts';
import { MIN_COMPACT_LINES, RECENT_NAMES } from './limits.ts';
import type { SyncLog } from './log.ts';

export interface PlanStore {
  /** What is held, as far as the disk knows. */
  readonly held: ReadonlyMap<string, JournaledPlan>;
  /** How far the manifest was read when everything up to there was in place. */
  readonly position: number;
  /** Names whose lines were written last before the start. */
  readonly recent: readonly string[];
  /** What the last write failed with; `null`: it did not. */
  readonly fault: unknown;
  /** Whether there is a file for a plan; says nothing of what is in it. */
  hasPlan(digest: string): boolean;
  /** A plan's octets. @throws DamageFault when they are gone or are not those of the digest; the system's error else */
  readPlan(digest: string): Uint8Array;
  /** Writes a plan's file. It lasts once the line that names it is committed. */
  putPlan(digest: string, bytes: Uint8Array): Promise<void>;
  /** Removes a plan's file that no name holds any more. */
  dropPlan(digest: string): Promise<void>;
  /** Removes the plans found at the start that no name holds. */
  prune(): Promise<void>;
  /** Writes lines; what they say is held, and lasts, when it resolves. After a failure nothing of them is held. */
  commit(lines: readonly JournalLine[]): Promise<void>;
  /** Waits for what is being written. */
  close(): Promise<void>;
}

/** A plan's file that is gone, or holds something else. */
export class DamageFault extends Error {
  constructor(message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'DamageFault';
  }
}

/** Lines of one write while the whole list is written anew, so that requests are served in between. */
const LINES_AT_ONCE = 2_000;

/** A plan of a keeper's folder, for this process and for others that serve from it. @throws as `Keeper.readPlan` */
export function readPlanFile(directory: string, digest: string): Uint8Array {
  let bytes: Buffer;
  try {
    bytes = readFileSync(join(directory, 'plans', digest));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
    throw new DamageFault(`there is no file of the plan \`${digest}\``, { cause });
  }
  const found = sha256Hex(bytes);
  if (found === digest) return bytes;
  throw new DamageFault(`the file of the plan \`${digest}\` is damaged: its digest is \`${found}\``);
}

/** Opens, or makes, the folder. @throws the system's error when it cannot be read or made */
export async function openPlanStore(directory: string, log: SyncLog): Promise<PlanStore> {
  const plansFolder = join(directory, 'plans');
  const namesFile = join(directory, 'names');
  await mkdir(plansFolder, { recursive: true, mode: 0o700 });
  for (const folder of [directory, plansFolder]) await removeUnfinished(folder);
  const read = readNames(namesFile, log);
  const { held } = read;
  const files = new Set(readdirSync(plansFolder));
  const strays = strayFiles(files, held);
  let { position, lines } = read;
  let names: FileHandle | null = null;
  /** The file's end is not what it should be: it is written anew before anything is added. */
  let suspect = read.damaged;
  let plansChanged = false;
  let queue: Waiting[] = [];
  let writing: Promise<void> | null = null;
  let fault: unknown = null;

  /** Runs a write and remembers whether it failed. */
  async function attempt(write: () => Promise<void>): Promise<void> {
    try {
      await write();
      fault = null;
    } catch (error) {
      fault = error;
      throw error;
    }
  }

  function take(line: JournalLine): void {
    if (line.kind === 'position') position = line.position;
    else if (line.held === null) held.delete(line.name);
    else held.set(line.name, line.held);
  }

  async function writeAnew(): Promise<void> {
    await names?.close();
    names = null;
    await writeAtomically(namesFile, async (handle) => {
      let text = lineText({ kind: 'position', position });
      let count = 0;
      for (const [name, entry] of held) {
        text += lineText({ kind: 'name', name, held: entry });
        if (++count % LINES_AT_ONCE !== 0) continue;
        await handle.writeFile(text);
        text = '';
      }
      // Not `write`, which takes a part and says nothing of the rest where the disk has room for no more.
      await handle.writeFile(text);
    });
    await syncFolder(directory);
    lines = held.size;
    suspect = false;
  }

  async function append(batch: readonly Waiting[]): Promise<void> {
    if (plansChanged) {
      plansChanged = false;
      await syncFolder(plansFolder);
    }
    if (suspect || lines > 2 * Math.max(held.size, MIN_COMPACT_LINES)) await writeAnew();
    names ??= await open(namesFile, 'a', 0o600);
    const texts = batch.flatMap(({ lines: added }) => added.map(lineText));
    suspect = true;
    await names.writeFile(texts.join(''));
    await names.datasync();
    suspect = false;
    lines += texts.length;
  }

  /** Writes what waits, together, until nothing does. */
  async function drain(): Promise<void> {
    while (queue.length > 0) {
      const batch = queue;
      queue = [];
      try {
        await attempt(() => append(batch));
      } catch (error) {
        plansChanged = true;
        for (const { reject } of batch) reject(error);
        continue;
      }
      for (const { lines: added, resolve } of batch) {
        for (const line of added) take(line);
        resolve();
      }
    }
    writing = null;
  }

  return {
    held,
    get position() {
      return position;
    },
    recent: read.recent,
    get fault() {
      return fault;
    },
    hasPlan: (digest) => files.has(digest),
    readPlan(digest) {
      // Whoever reads it is about to name it.
      strays.delete(digest);
      return readPlanFile(directory, digest);
    },
    async putPlan(digest, bytes) {
      await attempt(() => writeAtomically(join(plansFolder, digest), (handle) => handle.writeFile(bytes)));
      files.add(digest);
      strays.delete(digest);
      plansChanged = true;
    },
    async dropPlan(digest) {
      files.delete(digest);
      await rm(join(plansFolder, digest), { force: true });
    },
    async prune() {
      if (strays.size === 0) return;
      for (const digest of digestsOf(held)) strays.delete(digest);
      for (const file of strays) {
        strays.delete(file);
        files.delete(file);
        await rm(join(plansFolder, file), { force: true });
      }
    },
    commit: (added) =>
      new Promise((resolve, reject) => {
        queue.push({ lines: added, resolve, reject });
        writing ??= drain();
      }),
    async close() {
      await writing;
      await names?.close();
      names = null;
    },
  };
}

interface Waiting {
  readonly lines: readonly JournalLine[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

function strayFiles(files: ReadonlySet<string>, held: ReadonlyMap<string, JournaledPlan>): Set<string> {
  const strays = new Set(files);
  for (const digest of digestsOf(held)) strays.delete(digest);
  return strays;
}

/** The plans that names are served by, or would be if their newest were damaged. */
function* digestsOf(held: ReadonlyMap<string, JournaledPlan>): Generator<string> {
  for (const { digest, previous } of held.values()) {
    if (digest !== null) yield digest;
    if (previous !== null) yield previous.digest;
  }
}

interface Names {
  readonly held: Map<string, JournaledPlan>;
  readonly position: number;
  readonly lines: number;
  readonly damaged: boolean;
  readonly recent: readonly string[];
}

/** @throws the system's error when the file is there and cannot be read: starting with nothing would end all service */
function readNames(file: string, log: SyncLog): Names {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return { held: new Map(), position: 0, lines: 0, damaged: true, recent: [] };
  }
  const read = readLines(bytes, RECENT_NAMES);
  if (read.damaged === 0) return { ...read, damaged: false };
  log.warn(
    { file, lines: read.damaged },
    'lines of the list of names are damaged; what they said is fetched again',
  );
  // What was lost may have stood before the position, so everything is asked for again.
  return { ...read, position: 0, damaged: true };
}
