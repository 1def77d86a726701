/**
 * The files that classification reads, kept up to date: a country database, and a folder of ranges that operators
 * publish, `<kind>.json` or `<kind>.<anything>.json` (`googlebot.json`, `googlebot.special.json`). What breaks keeps
 * what it last held, and is reported.
 */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { IpInterval } from '../base/ip.ts';
import { BOT_KINDS, type BotKind } from '../base/vocabulary.ts';
import { type Countries, openCountries } from '../classify/country.ts';
import { createRanges, type Ranges, readRanges } from '../classify/ranges.ts';
import { fileMark } from '../platform/file-mark.ts';
import { MAX_COUNTRY_OCTETS, MAX_RANGES_OCTETS } from './limits.ts';

export interface ClassificationFilesOptions {
  /** A database in MaxMind's format; `null` none. */
  readonly database: string | null;
  /** A folder of published ranges; `null` none. */
  readonly ranges: string | null;
  /** Milliseconds between looks. */
  readonly pollMs: number;
  /** Told of a file that cannot be used, once for each of its versions. */
  readonly onProblem: (problem: { readonly file: string; readonly reason: string }) => void;
}

export interface ClassificationFiles {
  countries(): Countries | null;
  ranges(kind: BotKind): Ranges | undefined;
  /** Looks now. */
  reload(): Promise<void>;
  close(): void;
}

/** A file as it was last read. */
interface Read<T> {
  readonly mark: string;
  readonly value: T | null;
}

/** Opens the files; a file that cannot be used is a problem, not a fault: the node serves without it. */
export async function openClassificationFiles(
  options: ClassificationFilesOptions,
): Promise<ClassificationFiles> {
  const { database, ranges: folder, pollMs, onProblem } = options;
  let countries: Read<Countries> = { mark: '', value: null };
  let lists: ReadonlyMap<string, Read<readonly IpInterval[]>> = new Map();
  let byKind: ReadonlyMap<BotKind, Ranges> = new Map();

  async function follow<T>(file: string, before: Read<T> | undefined, how: Reading<T>): Promise<Read<T>> {
    const mark = await fileMark(file);
    if (before?.mark === mark) return before;
    try {
      const { size } = await stat(file);
      if (size > how.most) throw new Error(`it has ${size} octets; at most ${how.most} are read`);
      return { mark, value: how.parse(await readFile(file)) };
    } catch (error) {
      onProblem({ file, reason: (error as Error).message });
      return { mark, value: before?.value ?? null };
    }
  }

  async function readLists(at: string): Promise<void> {
    const names = (await readdir(at))
      .filter((name) => name.endsWith('.json') && !name.startsWith('.'))
      .sort();
    const next = new Map<string, Read<readonly IpInterval[]>>();
    for (const name of names) {
      const parse = (octets: Buffer): readonly IpInterval[] => readKnown(name, octets.toString('utf8'));
      next.set(name, await follow(join(at, name), lists.get(name), { most: MAX_RANGES_OCTETS, parse }));
    }
    const same = next.size === lists.size && [...next].every(([name, read]) => lists.get(name) === read);
    lists = next;
    if (!same) byKind = joinedByKind(next);
  }

  let told = '';
  async function reload(): Promise<void> {
    if (database !== null) {
      countries = await follow(database, countries, { most: MAX_COUNTRY_OCTETS, parse: openCountries });
    }
    if (folder === null) return;
    await readLists(folder).then(
      () => {
        told = '';
      },
      (error: NodeJS.ErrnoException) => {
        if (told !== error.message) onProblem({ file: folder, reason: error.message });
        told = error.message;
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

interface Reading<T> {
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

function joinedByKind(lists: ReadonlyMap<string, Read<readonly IpInterval[]>>): ReadonlyMap<BotKind, Ranges> {
  const intervals = new Map<BotKind, IpInterval[]>();
  for (const [name, { value }] of lists) {
    const kind = kindOf(name);
    if (kind === undefined || value === null) continue;
    intervals.set(kind, [...(intervals.get(kind) ?? []), ...value]);
  }
  return new Map([...intervals].map(([kind, all]) => [kind, createRanges(all)]));
}
