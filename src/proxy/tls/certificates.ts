/**
 * The certificates a node serves with. In: a folder (`certificate-files.ts` says how it is read). Out: the pair for a
 * name. The folder is read again when it changes and every so often; a pair that broke keeps what it last had, and is
 * reported. Connections keep the certificate they were made with.
 */
import { type FSWatcher, watch } from 'node:fs';
import { dirname } from 'node:path';
import { createSecureContext, type SecureContext } from 'node:tls';
import { LRUCache } from 'lru-cache';
import { MAX_CERTIFICATES, MAX_TLS_CONTEXTS, MAX_WATCHED_FOLDERS } from '../limits.ts';
import { findPairs, markOf, type PairFiles, type ReadPair, readPair } from './certificate-files.ts';

/** A certificate with its key, as it was at one time. */
export interface CertificatePair {
  readonly files: PairFiles;
  /** Host names, canonical; `*.` in front of one covers one label. */
  readonly names: readonly string[];
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** PEM, the certificate first, then those that sign it. */
  readonly cert: string;
  readonly key: string;
  context(): SecureContext;
}

export interface CertificateProblem {
  readonly file: string;
  /** A sentence for the log. */
  readonly reason: string;
  /** What the file held before is served on. */
  readonly previousServed: boolean;
}

export interface Certificates {
  /**
   * The pair for a canonical name: its own, else a wildcard's one label up. `null` asks for the one of clients that name
   * no host. Of several the one valid now, then the one valid longest.
   */
  find(name: string | null): CertificatePair | null;
  /** Every pair, to list them and to see which end soon. */
  pairs(): readonly CertificatePair[];
  /** What is wrong now. */
  problems(): readonly CertificateProblem[];
  /** Reads what changed since; ends when it is in use. */
  reload(): Promise<void>;
  close(): void;
}

export interface CertificatesOptions {
  readonly folder: string;
  /** The name whose certificate clients get that name no host, and names that have none; `null` none. */
  readonly fallback: string | null;
  /** Milliseconds between looks at files whose changes were not told. */
  readonly pollMs: number;
  /** Told of every problem once, when it appears. */
  readonly onProblem: (problem: CertificateProblem) => void;
}

/** What is known of one pair of files. */
interface Known {
  readonly mark: string;
  readonly pair: CertificatePair | null;
  readonly problem: CertificateProblem | null;
}

/** Pairs looked at together: the disk answers several at a time, and a reading never holds many files open. */
const AT_ONCE = 16;
/** Milliseconds after a change in which more are expected: certificate and key are two files. */
const SETTLE_MS = 100;

/**
 * Opens a folder of certificates.
 * @throws the folder cannot be read
 */
export async function openCertificates(options: CertificatesOptions): Promise<Certificates> {
  const { folder, fallback, pollMs, onProblem } = options;
  const contexts = new LRUCache<CertificatePair, SecureContext>({ max: MAX_TLS_CONTEXTS });
  const chains = new Map<string, string>();
  let known: ReadonlyMap<string, Known> = new Map();
  let index: ReadonlyMap<string, CertificatePair> = new Map();
  let general: readonly CertificateProblem[] = [];

  function served(files: PairFiles, { leaf, key, chain, ...rest }: ReadPair): CertificatePair {
    const signers = shared(chains, chain);
    const pair: CertificatePair = {
      ...rest,
      files,
      key,
      get cert() {
        return leaf + signers;
      },
      context() {
        const made = contexts.get(pair) ?? createSecureContext({ cert: pair.cert, key });
        contexts.set(pair, made);
        return made;
      },
    };
    return pair;
  }

  async function look(files: PairFiles, before: Known | undefined): Promise<Known> {
    const mark = await markOf(files);
    if (before?.mark === mark) return before;
    try {
      return { mark, pair: served(files, await readPair(files)), problem: null };
    } catch (error) {
      const pair = before?.pair ?? null;
      const problem = { file: files.cert, reason: (error as Error).message, previousServed: pair !== null };
      if (before?.problem?.reason !== problem.reason) onProblem(problem);
      return { mark, pair, problem };
    }
  }

  async function readFolder(): Promise<void> {
    const found = await findPairs(folder);
    const used = found.slice(0, MAX_CERTIFICATES);
    const next = new Map<string, Known>();
    for (let at = 0; at < used.length; at += AT_ONCE) {
      const some = used.slice(at, at + AT_ONCE);
      const entries = await Promise.all(some.map((files) => look(files, known.get(files.cert))));
      for (const [index, { cert }] of some.entries()) next.set(cert, entries[index]!);
    }
    for (const [cert, { pair }] of known) {
      if (pair !== null && next.get(cert)?.pair !== pair) contexts.delete(pair);
    }
    known = next;
    forgetChains(chains, known);
    index = indexOf(known, Date.now());
    follow([folder, ...found.map(({ cert }) => dirname(cert))]);
    tellGeneral(tooMany(folder, found.length));
  }

  function tellGeneral(problems: readonly CertificateProblem[]): void {
    for (const problem of problems) {
      if (!general.some(({ reason }) => reason === problem.reason)) onProblem(problem);
    }
    general = problems;
  }

  const reload = oneAtATime(() => readFolder());
  const soon = settling(() => {
    reload().catch((error: NodeJS.ErrnoException) => {
      tellGeneral([
        { file: folder, reason: `the folder cannot be read (${error.code})`, previousServed: true },
      ]);
    });
  });
  const { follow, stop } = watching(soon.call, (file, error) => {
    const reason = `changes are not told (${error.code}); they are looked for every ${pollMs} ms`;
    onProblem({ file, reason, previousServed: true });
  });
  await reload();
  const poll = setInterval(soon.call, pollMs);
  poll.unref();

  function lookUp(name: string): CertificatePair | null {
    const own = index.get(name);
    if (own !== undefined) return own;
    const dot = name.indexOf('.');
    return dot < 0 ? null : (index.get(`*${name.slice(dot)}`) ?? null);
  }

  return {
    find(name) {
      const own = name === null ? null : lookUp(name);
      return own ?? (fallback === null ? null : lookUp(fallback));
    },
    pairs: () => [...known.values()].flatMap(({ pair }) => pair ?? []),
    problems: () => [...general, ...[...known.values()].flatMap(({ problem }) => problem ?? [])],
    reload,
    close() {
      clearInterval(poll);
      soon.cancel();
      stop();
    },
  };
}

/** Most certificates are signed by few others: their text is kept once. */
function shared(chains: Map<string, string>, chain: string): string {
  const before = chains.get(chain);
  if (before !== undefined) return before;
  chains.set(chain, chain);
  return chain;
}

function forgetChains(chains: Map<string, string>, known: ReadonlyMap<string, Known>): void {
  // A chain that no pair has any more stays until there are more chains than pairs, so that this costs next to nothing.
  if (chains.size > 2 * known.size + 16) chains.clear();
}

function indexOf(known: ReadonlyMap<string, Known>, now: number): ReadonlyMap<string, CertificatePair> {
  const index = new Map<string, CertificatePair>();
  for (const { pair } of known.values()) {
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

function isValid({ notBefore, notAfter }: CertificatePair, now: number): boolean {
  return notBefore <= now && now < notAfter;
}

function tooMany(folder: string, count: number): readonly CertificateProblem[] {
  if (count <= MAX_CERTIFICATES) return [];
  const reason = `the folder holds ${count} certificates; the first ${MAX_CERTIFICATES} are used`;
  return [{ file: folder, reason, previousServed: false }];
}

/** Runs an action again once after it ends, however often it was asked for meanwhile. */
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

/** Watches folders, as many as the system gives to one process without harm to others. */
function watching(
  changed: () => void,
  failed: (folder: string, error: NodeJS.ErrnoException) => void,
): { readonly follow: (folders: readonly string[]) => void; readonly stop: () => void } {
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
