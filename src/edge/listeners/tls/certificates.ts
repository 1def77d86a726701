/**
 * The certificates of a node. In: a folder (`certificate-pairs.ts` reads it). Out: the pair of certificate and key for a
 * name. The folder is read again when it changes, and at intervals. A pair that has become unreadable is reported, and its
 * previous content stays in use. A connection uses the certificate of its handshake to its end.
 */
import { type FSWatcher, watch } from 'node:fs';
import { dirname } from 'node:path';
import { MAX_CERTIFICATES, MAX_WATCHED_FOLDERS } from '../../proxy/limits.ts';
import {
  type CertificatePair,
  type ContextCache,
  createPairs,
  findPairs,
  isValid,
  markOf,
  type PairFiles,
  type PairStore,
  readPair,
} from './certificate-pairs.ts';

/** A certificate of the folder. */
export interface FilePair extends CertificatePair {
  readonly files: PairFiles;
}

export interface CertificateProblem {
  readonly file: string;
  /** A sentence for the log. */
  readonly reason: string;
  /** Whether the previous content of the file stays in use. */
  readonly previousServed: boolean;
}

export interface Certificates {
  /**
   * The pair for a canonical name: its own, else that of a wildcard one label up; `null` as the name: the pair for clients
   * without SNI. Of several, the one that is valid now, then the one that is valid longest.
   */
  find(name: string | null): FilePair | null;
  /** As `find`, without the certificate for names that have none. */
  covering(name: string): FilePair | null;
  /** Every pair: for listings, and to find those that expire soon. */
  pairs(): readonly FilePair[];
  /** The current problems. */
  problems(): readonly CertificateProblem[];
  /** Reads what has changed; resolves when it is in use. */
  reload(): Promise<void>;
  close(): void;
}

export interface CertificatesOptions {
  readonly folder: string;
  /**
   * The name whose certificate is used for clients without SNI and for names without one; `null`: no certificate is used
   * for them.
   */
  readonly fallback: string | null;
  /** Milliseconds between readings that no change triggers. */
  readonly pollMs: number;
  /** Called with every problem once, when it appears. */
  readonly onProblem: (problem: CertificateProblem) => void;
  /** The TLS contexts of the process; absent: this folder has its own. */
  readonly contexts?: ContextCache;
}

/** The last reading of one pair of files. */
interface Reading {
  /** Changes with the files. */
  readonly mark: string;
  readonly pair: FilePair | null;
  readonly problem: CertificateProblem | null;
}

interface CertificateState {
  readonly options: CertificatesOptions;
  readonly store: PairStore;
  /** By the certificate's file. */
  readings: ReadonlyMap<string, Reading>;
  /** By host name, wildcards as `*.example.com`. */
  index: ReadonlyMap<string, FilePair>;
  /** The problems of the folder itself. */
  folderProblems: readonly CertificateProblem[];
}

/** Pairs read at once: a disk serves several at a time, and few files are open. */
const AT_ONCE = 16;

/**
 * Opens a folder of certificates.
 * @throws Error when the folder cannot be read
 */
export async function openCertificates(options: CertificatesOptions): Promise<Certificates> {
  const { folder, fallback, pollMs, onProblem } = options;
  const state: CertificateState = {
    options,
    store: createPairs(options.contexts),
    readings: new Map(),
    index: new Map(),
    folderProblems: [],
  };
  const reload = oneAtATime(() => readFolder(state, watch));
  const soon = settling(() => {
    reload().catch((error: NodeJS.ErrnoException) => {
      const reason = `the folder cannot be read (${error.code})`;
      setFolderProblems(state, [{ file: folder, reason, previousServed: true }]);
    });
  });
  const watch = watchFolders(soon.call, (file, error) => {
    const reason = `changes are not reported (${error.code}); files are compared every ${pollMs} ms`;
    onProblem({ file, reason, previousServed: true });
  });
  await reload();
  const poll = setInterval(soon.call, pollMs);
  poll.unref();

  return {
    find(name) {
      const own = name === null ? null : findName(state, name);
      return own ?? (fallback === null ? null : findName(state, fallback));
    },
    covering: (name) => findName(state, name),
    pairs: () => [...state.readings.values()].flatMap(({ pair }) => pair ?? []),
    problems: () => [
      ...state.folderProblems,
      ...[...state.readings.values()].flatMap(({ problem }) => problem ?? []),
    ],
    reload,
    close() {
      clearInterval(poll);
      soon.cancel();
      watch.stop();
    },
  };
}

function findName({ index }: CertificateState, name: string): FilePair | null {
  const own = index.get(name);
  if (own !== undefined) return own;
  const dot = name.indexOf('.');
  return dot < 0 ? null : (index.get(`*${name.slice(dot)}`) ?? null);
}

async function readFolder(state: CertificateState, watch: FolderWatch): Promise<void> {
  const { folder } = state.options;
  const files = await findPairs(folder);
  const before = state.readings;
  const readings = await readPairs(state, files.slice(0, MAX_CERTIFICATES));
  for (const [cert, { pair }] of before) {
    if (pair !== null && readings.get(cert)?.pair !== pair) state.store.remove(pair);
  }
  state.readings = readings;
  state.index = indexOf(readings, Date.now());
  watch.follow([folder, ...files.map(({ cert }) => dirname(cert))]);
  setFolderProblems(state, tooMany(folder, files.length));
}

async function readPairs(
  state: CertificateState,
  files: readonly PairFiles[],
): Promise<ReadonlyMap<string, Reading>> {
  const readings = new Map<string, Reading>();
  for (let at = 0; at < files.length; at += AT_ONCE) {
    const some = files.slice(at, at + AT_ONCE);
    const read = await Promise.all(some.map((pair) => readOne(state, pair)));
    for (const [place, { cert }] of some.entries()) readings.set(cert, read[place]!);
  }
  return readings;
}

/** Reads a pair if its files have changed; reports a problem that was not there before. */
async function readOne(state: CertificateState, files: PairFiles): Promise<Reading> {
  const before = state.readings.get(files.cert);
  const mark = await markOf(files);
  if (before?.mark === mark) return before;
  try {
    return { mark, pair: state.store.add(await readPair(files), { files }), problem: null };
  } catch (error) {
    const pair = before?.pair ?? null;
    const problem = { file: files.cert, reason: (error as Error).message, previousServed: pair !== null };
    if (before?.problem?.reason !== problem.reason) state.options.onProblem(problem);
    return { mark, pair, problem };
  }
}

function setFolderProblems(state: CertificateState, problems: readonly CertificateProblem[]): void {
  for (const problem of problems) {
    const isNew = !state.folderProblems.some(({ reason }) => reason === problem.reason);
    if (isNew) state.options.onProblem(problem);
  }
  state.folderProblems = problems;
}

function indexOf(readings: ReadonlyMap<string, Reading>, now: number): ReadonlyMap<string, FilePair> {
  const index = new Map<string, FilePair>();
  for (const { pair } of readings.values()) {
    if (pair === null) continue;
    for (const name of pair.names) {
      const other = index.get(name);
      if (other === undefined || isBetter(pair, other, now)) index.set(name, pair);
    }
  }
  return index;
}

function isBetter(pair: CertificatePair, other: CertificatePair, now: number): boolean {
  const valid = isValid(pair, now);
  return valid === isValid(other, now) ? pair.notAfter > other.notAfter : valid;
}

function tooMany(folder: string, count: number): readonly CertificateProblem[] {
  if (count <= MAX_CERTIFICATES) return [];
  const reason = `the folder holds ${count} certificates; the first ${MAX_CERTIFICATES} are used`;
  return [{ file: folder, reason, previousServed: false }];
}

// Watches folders for changes, collects changes that follow each other closely, and reads again after them.

/** Milliseconds after a change in which more are expected: certificate and key are two files. */
const SETTLE_MS = 100;

/** Returns a function that runs the action; a call during a run makes it run once more after that, however many calls. */
function oneAtATime(action: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  const start = (): Promise<void> => {
    running = action().finally(() => {
      running = null;
    });
    return running;
  };
  return () => {
    if (running === null) return start();
    next ??= running
      .catch(() => undefined)
      .then(() => {
        next = null;
        return start();
      });
    return next;
  };
}

/** Runs the action `SETTLE_MS` after the first of several calls. */
function settling(action: () => void): { readonly call: () => void; readonly cancel: () => void } {
  let timer: NodeJS.Timeout | null = null;
  return {
    call() {
      timer ??= setTimeout(() => {
        timer = null;
        action();
      }, SETTLE_MS).unref();
    },
    cancel() {
      if (timer !== null) clearTimeout(timer);
    },
  };
}

interface FolderWatch {
  /** Replaces the watched folders; those beyond `MAX_WATCHED_FOLDERS` are not watched. */
  readonly follow: (folders: readonly string[]) => void;
  readonly stop: () => void;
}

/** @param failed called with a folder that cannot be watched, or no longer */
function watchFolders(
  changed: () => void,
  failed: (folder: string, error: NodeJS.ErrnoException) => void,
): FolderWatch {
  const watchers = new Map<string, FSWatcher>();
  const end = (folder: string): void => {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  };
  return {
    follow(folders) {
      const wanted = new Set([...new Set(folders)].slice(0, MAX_WATCHED_FOLDERS));
      for (const folder of [...watchers.keys()]) if (!wanted.has(folder)) end(folder);
      for (const folder of wanted) {
        if (watchers.has(folder)) continue;
        try {
          const watcher = watch(folder, { persistent: false }, changed);
          watcher.on('error', (error) => {
            end(folder);
            failed(folder, error);
          });
          watchers.set(folder, watcher);
        } catch (error) {
          failed(folder, error as NodeJS.ErrnoException);
        }
      }
    },
    stop() {
      for (const folder of [...watchers.keys()]) end(folder);
    },
  };
}
