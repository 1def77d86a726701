/**
 * The files of the classifier: a country database, and a folder of address ranges that bot operators publish, `<kind>.json`
 * or `<kind>.<anything>.json` (`googlebot.json`, `googlebot.special.json`). Changed files are read again. A file that cannot
 * be used is reported, and its previous content stays in use.
 */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { IpInterval } from '../../base/addresses/ip.ts';
import { fileMark } from '../../base/platform/watched-file.ts';
import { BOT_KINDS, type BotKind } from '../../base/vocabulary/vocabulary.ts';
import { createRanges, type Ranges, readRanges } from '../../engine/classification/bots.ts';
import { type Countries, openCountries } from '../../engine/classification/country.ts';
import { MAX_COUNTRY_OCTETS, MAX_RANGES_OCTETS } from './limits.ts';

export interface ClassificationFilesOptions {
  /** The path of a database in MaxMind's format; `null`: none. */
  readonly database: string | null;
  /** The path of a folder of published ranges; `null`: none. */
  readonly ranges: string | null;
  /** Milliseconds between two checks for changes. */
  readonly pollMs: number;
  /** Called with a file that cannot be used, once for each version of it. */
  readonly onProblem: (problem: { readonly file: string; readonly reason: string }) => void;
}

/** The current content of the files. */
export interface ClassificationFiles {
  countries(): Countries | null;
  ranges(kind: BotKind): Ranges | undefined;
  /** Checks for changes now; resolves when they are in use. */
  reload(): Promise<void>;
  close(): void;
}

/** The last reading of a file. */
interface FileReading<T> {
  readonly mark: string;
  readonly value: T | null;
}

/** Opens the files; a file that cannot be used is a problem, not a fault: the node serves without it. */
export async function openClassificationFiles(
  options: ClassificationFilesOptions,
): Promise<ClassificationFiles> {
  const { database, ranges: folder, pollMs, onProblem } = options;
  let countries: FileReading<Countries> = { mark: '', value: null };
  let lists: ReadonlyMap<string, FileReading<readonly IpInterval[]>> = new Map();
  let byKind: ReadonlyMap<BotKind, Ranges> = new Map();

  /** Reads a file if it has changed. */
  async function update<T>(
    file: string,
    before: FileReading<T> | undefined,
    how: Parsing<T>,
  ): Promise<FileReading<T>> {
    const mark = await fileMark(file);
    if (before?.mark === mark) return before;
    try {
      const { size } = await stat(file);
      if (size > how.most) throw new Error(`it has ${size} octets; at most ${how.most} are read`);
      return { mark, value: how.parse(await readFile(file)) };
    } catch (error) {
      const value = before?.value ?? null;
      // Changed since: what was read may be of the next version, which the next check reads.
      if ((await fileMark(file)) !== mark) return { mark: '', value };
      onProblem({ file, reason: (error as Error).message });
      return { mark, value };
    }
  }

  /** Reads the changed lists of the folder. @throws Error when the folder cannot be read */
  async function readLists(at: string): Promise<void> {
    const names = (await readdir(at))
      .filter((name) => name.endsWith('.json') && !name.startsWith('.'))
      .sort();
    const next = new Map<string, FileReading<readonly IpInterval[]>>();
    for (const name of names) {
      const parse = (octets: Buffer): readonly IpInterval[] => readKnown(name, octets.toString('utf8'));
      next.set(name, await update(join(at, name), lists.get(name), { most: MAX_RANGES_OCTETS, parse }));
    }
    const same = next.size === lists.size && [...next].every(([name, read]) => lists.get(name) === read);
    lists = next;
    if (!same) byKind = joinedByKind(next);
  }

  /** The last problem of the folder itself. */
  let folderProblem = '';
  async function reload(): Promise<void> {
    if (database !== null) {
      countries = await update(database, countries, { most: MAX_COUNTRY_OCTETS, parse: openCountries });
    }
    if (folder === null) return;
    await readLists(folder).then(
      () => {
        folderProblem = '';
      },
      (error: NodeJS.ErrnoException) => {
        if (folderProblem !== error.message) onProblem({ file: folder, reason: error.message });
        folderProblem = error.message;
      },
    );
  }

  await reload();
  const poll = setInterval(() => void reload(), pollMs);
  poll.unref();
  return {
    countries: () => countries.value,
    ranges: (kind) => byKind.get(kind),
    reload,
    close: () => clearInterval(poll),
  };
}

interface Parsing<T> {
  /** Octets at most. */
  readonly most: number;
  readonly parse: (octets: Buffer) => T;
}

function kindOf(name: string): BotKind | undefined {
  const written = name.slice(0, name.indexOf('.'));
  return BOT_KINDS.find((kind) => kind === written);
}

function readKnown(name: string, text: string): readonly IpInterval[] {
  if (kindOf(name) === undefined) {
    throw new Error('the name does not begin with a bot kind, like `googlebot.json`');
  }
  return readRanges(text);
}

function joinedByKind(
  lists: ReadonlyMap<string, FileReading<readonly IpInterval[]>>,
): ReadonlyMap<BotKind, Ranges> {
  const intervals = new Map<BotKind, IpInterval[]>();
  for (const [name, { value }] of lists) {
    const kind = kindOf(name);
    if (kind === undefined || value === null) continue;
    intervals.set(kind, [...(intervals.get(kind) ?? []), ...value]);
  }
  return new Map([...intervals].map(([kind, all]) => [kind, createRanges(all)]));
}
