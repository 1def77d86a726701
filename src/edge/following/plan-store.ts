/**
 * Stores a node's plans, so that it serves the last good ones after a restart without a control plane:
 *
 * - `plans/<digest>`: sealed plans, one file each; per name the plan it is served by and the one before. Also a name's list
 *   of purges, which is replaced as a plan is; and the sealed lists that plans name, each as long as one of these plans does
 * - `names`: the plan of each name, see `journal.ts`
 *
 * A plan's file and those of its lists are durable before the line that names it, and the line before anything is served by it:
 * after a crash each name has its old plan or its new one, whole.
 */
import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256Hex } from '../../base/platform/cryptography.ts';
import {
  makeFolder,
  removeUnfinished,
  syncFolder,
  writeAtomically,
} from '../../base/platform/durable-file.ts';
import { readListDigests } from '../../engine/plan/list-digests.ts';
import {
  closeJournal,
  commitLines,
  type JournaledPlan,
  type JournalFile,
  type JournalLine,
  openJournalFile,
} from './journal.ts';
import { MAX_LIST_ROWS } from './limits.ts';
import { createListUses, type ListUses } from './list-uses.ts';
import type { SyncLog } from './log.ts';

/** The plans of a folder. */
export interface PlanStore {
  /** The plan of each name, as far as it is durable. */
  readonly names: ReadonlyMap<string, JournaledPlan>;
  /** The position up to which the manifest was read when everything up to there was installed. */
  readonly position: number;
  /** Names of the last journal lines before the start. */
  readonly recent: readonly string[];
  /** The error of the last write; `null`: it succeeded. */
  readonly fault: unknown;
  /** Whether a plan has a file, intact or not. */
  hasPlan(digest: string): boolean;
  /** A plan's octets. @throws DamageFault when the file is missing or has another digest; otherwise the system's error */
  readPlan(digest: string): Uint8Array;
  /** Writes a plan's file. It is durable once the line that names it is committed. */
  putPlan(digest: string, bytes: Uint8Array): Promise<void>;
  /** A list's octets. @throws as `readPlan` */
  readList(digest: string): Uint8Array;
  /** Records the lists of a plan before they are fetched: their files remain as long as its own. */
  useLists(plan: string, lists: readonly string[]): void;
  /** Ends the uses of a plan that was not stored; `prune` removes the lists that no other plan names. */
  releaseLists(plan: string): void;
  /** A list of the plan that has no file; `null`: all have one, as far as the plan's lists are known. */
  missingList(plan: string): string | null;
  /** Removes the file of a plan that no name has any more, and those of its lists that no other plan names. */
  dropPlan(digest: string): Promise<void>;
  /** Removes files that belong to no name: those of the start, and lists of plans that were refused. */
  prune(): Promise<void>;
  /** Commits lines; they are applied and durable when it resolves, and none of them is when it rejects. */
  commit(lines: readonly JournalLine[]): Promise<void>;
  /** Waits for running writes. */
  close(): Promise<void>;
}

/** A plan's file is missing, or its content has another digest. */
export class DamageFault extends Error {
  constructor(message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'DamageFault';
  }
}

/** Reads a plan of a store's folder, in this process or another one. @throws as `PlanStore.readPlan` */
export function readPlanFile(directory: string, digest: string): Uint8Array {
  return readFile(directory, digest, 'plan');
}

/** Reads a list of a store's folder, in this process or another one. @throws as `PlanStore.readPlan` */
export function readListFile(directory: string, digest: string): Uint8Array {
  return readFile(directory, digest, 'list');
}

function readFile(directory: string, digest: string, what: 'plan' | 'list'): Uint8Array {
  let bytes: Buffer;
  try {
    bytes = readFileSync(join(directory, 'plans', digest));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
    throw new DamageFault(missingSentence(digest, what), { cause });
  }
  const found = sha256Hex(bytes);
  if (found === digest) return bytes;
  throw new DamageFault(`the file of the ${what} \`${digest}\` is damaged: its digest is \`${found}\``);
}

/** The message for a file that is missing. */
export function missingSentence(digest: string, what: 'plan' | 'list'): string {
  return `there is no file of the ${what} \`${digest}\``;
}

/** The lists of a plan's file, by a few short reads; empty: it has none, or cannot be read, which its next use finds. */
function listsInFile(directory: string, digest: string): readonly string[] {
  let file: number | null = null;
  try {
    file = openSync(join(directory, 'plans', digest), 'r');
    const descriptor = file;
    return readListDigests((at, octets) => {
      const buffer = Buffer.alloc(Math.min(octets, MAX_LIST_ROWS));
      return buffer.subarray(0, readSync(descriptor, buffer, 0, buffer.length, at));
    });
  } catch {
    return [];
  } finally {
    if (file !== null) closeSync(file);
  }
}

interface StoreState {
  readonly directory: string;
  readonly journal: JournalFile;
  /** Digests that have a file. */
  readonly files: Set<string>;
  /** Digests of files that no name had at the start, or since. */
  readonly strays: Set<string>;
  readonly uses: ListUses;
  /** Files that are being removed. */
  readonly removing: Map<string, Promise<void>>;
  /** Whether the folder of plans has files that are not durable yet. */
  plansChanged: boolean;
  fault: unknown;
}

/** Opens the folder, or creates it. @throws the system's error when it cannot be read or created */
export async function openPlanStore(directory: string, log: SyncLog): Promise<PlanStore> {
  const plansFolder = join(directory, 'plans');
  makeFolder(plansFolder, { mode: 0o700 });
  for (const folder of [directory, plansFolder]) await removeUnfinished(folder);
  const beforeAppend = (): Promise<void> => syncPlans(state);
  const journal = openJournalFile(join(directory, 'names'), { log, beforeAppend });
  const files = new Set(readdirSync(plansFolder));
  const strays = new Set(files);
  for (const digest of digestsOf(journal.names)) strays.delete(digest);
  const state: StoreState = {
    ...{ directory, journal, files, strays, uses: createListUses(), removing: new Map() },
    ...{ plansChanged: false, fault: null },
  };
  // PERF: files of lists are strays so far; without them no plan has to be read.
  if (strays.size > 0) readUses(state);
  return {
    names: journal.names,
    get position() {
      return journal.position;
    },
    recent: journal.recent,
    get fault() {
      return state.fault;
    },
    hasPlan: (digest) => files.has(digest),
    readPlan(digest) {
      // A plan that is read is about to get a name.
      strays.delete(digest);
      return readPlanFile(directory, digest);
    },
    readList: (digest) => readListFile(directory, digest),
    useLists: (plan, lists) => useLists(state, plan, lists),
    releaseLists(plan) {
      for (const list of state.uses.remove(plan)) if (files.has(list)) strays.add(list);
    },
    missingList: (plan) => state.uses.of(plan).find((list) => !files.has(list)) ?? null,
    putPlan: (digest, bytes) => putPlan(state, digest, bytes),
    dropPlan: (digest) => dropPlan(state, digest),
    prune: () => prune(state),
    commit: (lines) =>
      commitLines(journal, lines, async (write) => {
        try {
          await attempt(state, write);
        } catch (error) {
          // Whether the folder was synced is unknown: the next commit syncs it.
          state.plansChanged = true;
          throw error;
        }
      }),
    close: () => closeJournal(journal),
  };
}

/** Runs a write and records whether it failed. */
async function attempt(state: StoreState, write: () => Promise<void>): Promise<void> {
  try {
    await write();
    state.fault = null;
  } catch (error) {
    state.fault = error;
    throw error;
  }
}

/** Makes the files of new plans durable. */
async function syncPlans(state: StoreState): Promise<void> {
  if (!state.plansChanged) return;
  state.plansChanged = false;
  await syncFolder(join(state.directory, 'plans'));
}

/** Reads which lists the plans of all names name. */
function readUses(state: StoreState): void {
  const { directory, journal } = state;
  for (const { digest, previous } of journal.names.values()) {
    for (const plan of [digest, previous?.digest ?? null])
      if (plan !== null) useLists(state, plan, listsInFile(directory, plan));
  }
}

function useLists({ uses, strays }: StoreState, plan: string, lists: readonly string[]): void {
  uses.add(plan, lists);
  for (const list of lists) strays.delete(list);
}

async function putPlan(state: StoreState, digest: string, bytes: Uint8Array): Promise<void> {
  await state.removing.get(digest);
  const path = join(state.directory, 'plans', digest);
  await attempt(state, () => writeAtomically(path, (handle) => handle.writeFile(bytes)));
  state.files.add(digest);
  state.strays.delete(digest);
  state.plansChanged = true;
}

async function dropPlan(state: StoreState, digest: string): Promise<void> {
  const lists = state.uses.remove(digest);
  await removeFile(state, digest);
  // Another plan may name one of them since.
  for (const list of lists) if (!state.uses.has(list)) await removeFile(state, list);
}

/** INVARIANT: a file is written after its removal has ended: the content of a list may come back at any time. */
async function removeFile({ directory, files, removing }: StoreState, digest: string): Promise<void> {
  files.delete(digest);
  // PERF: `rm` reads first whether the path is a folder, in calls of their own.
  const removed = unlink(join(directory, 'plans', digest))
    .catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    })
    .finally(() => removing.delete(digest));
  removing.set(
    digest,
    removed.catch(() => undefined),
  );
  await removed;
}

async function prune(state: StoreState): Promise<void> {
  const { strays, journal } = state;
  if (strays.size === 0) return;
  for (const digest of digestsOf(journal.names)) strays.delete(digest);
  for (const digest of strays) {
    strays.delete(digest);
    await dropPlan(state, digest);
  }
}

/** The plans that names are served by, or fall back to when the newest file is damaged. */
function* digestsOf(names: ReadonlyMap<string, JournaledPlan>): Generator<string> {
  for (const { digest, previous, purges } of names.values()) {
    if (purges !== null) yield purges.digest;
    if (digest !== null) yield digest;
    if (previous !== null) yield previous.digest;
  }
}
