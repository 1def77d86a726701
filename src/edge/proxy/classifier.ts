/**
 * Classifies visitors: their country, their autonomous system, and the bot that they are. In: databases and lists of files that are read again
 * when they change, the DNS. Out: an immediate answer from cached results; DNS queries run in the background.
 */
import { Resolver } from 'node:dns/promises';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { formatIp, type IpInterval, parseIp } from '../../base/addresses/ip.ts';
import { fileMark } from '../../base/platform/watched-file.ts';
import { classifyUserAgent } from '../../base/text/user-agent.ts';
import { BOT_KINDS, type BotKind } from '../../base/vocabulary/vocabulary.ts';
import { type AddressDatabase, openAddressDatabase } from '../../engine/classification/address-database.ts';
import {
  type BotResolver,
  createBotVerifier,
  createRanges,
  type Ranges,
  readRanges,
} from '../../engine/classification/bots.ts';
import { isGenericBot } from '../../engine/classification/generic-bot.ts';
import type { Classifier } from '../decide/request-context.ts';
import {
  DNS_MS,
  DNS_TRIES,
  MAX_AGENT_CHARACTERS,
  MAX_AGENTS,
  MAX_DATABASE_OCTETS,
  MAX_RANGES_OCTETS,
} from './limits.ts';

export interface ClassifierOptions {
  /** The current country database; `null`: none. */
  readonly countries: () => AddressDatabase | null;
  /** The current database of autonomous systems; `null`: that of countries, which may have them too. */
  readonly asns: () => AddressDatabase | null;
  /** The current published ranges of a bot; `undefined`: none. */
  readonly ranges: (kind: BotKind) => Ranges | undefined;
  /** The DNS for verification; `null`: bots are verified by their ranges alone. */
  readonly resolver: BotResolver | null;
  /** Milliseconds, monotonic. */
  readonly clock: () => number;
}

/** A classifier with an empty cache. */
export function createClassifier({
  countries,
  asns,
  ranges,
  resolver,
  clock,
}: ClassifierOptions): Classifier {
  const verifier = createBotVerifier({ ranges, resolver, clock });
  /** By User-Agent. PERF: few programs send most requests, so isbot's large pattern runs at the first of each only. */
  const agents = new LRUCache<string, BotKind | 'none'>({ max: MAX_AGENTS });

  function kindOf(userAgent: string): BotKind | 'none' {
    const cached = agents.get(userAgent);
    if (cached !== undefined) return cached;
    const declared = classifyUserAgent(userAgent);
    const kind = declared >= 0 ? BOT_KINDS[declared]! : isGenericBot(userAgent) ? 'generic-bot' : 'none';
    if (userAgent.length <= MAX_AGENT_CHARACTERS) agents.set(userAgent, kind);
    return kind;
  }

  return {
    country: (ip) => countries()?.country(ip) ?? null,
    asn: (ip) => (asns() ?? countries())?.asn(ip) ?? null,
    bot(ip, userAgent) {
      const kind = kindOf(userAgent);
      if (kind === 'none') return null;
      return { kind, verified: ip !== null && kind !== 'generic-bot' && verifier.verified(kind, ip) };
    },
  };
}

/** Error codes of names that do not exist or have no such record. */
const NOTHING = ['ENOTFOUND', 'ENODATA'];

/**
 * The DNS queries that verify bots: forward-confirmed reverse DNS.
 * @param servers addresses with an optional port each (`192.0.2.53`, `192.0.2.53:5353`, `[::1]:53`); none: the system's
 */
export function createBotResolver(servers: readonly string[]): BotResolver {
  const resolver = new Resolver({ timeout: DNS_MS, tries: DNS_TRIES });
  if (servers.length > 0) resolver.setServers([...servers]);
  const orNothing = (error: NodeJS.ErrnoException): readonly string[] => {
    if (NOTHING.includes(error.code ?? '')) return [];
    throw error;
  };
  return {
    // Node's own `reverse` reports the failure of a server as an address without a name.
    reverse: (ip) => resolver.resolvePtr(reverseName(ip)).catch(orNothing),
    addresses: (name, family) =>
      (family === 4 ? resolver.resolve4(name) : resolver.resolve6(name)).catch(orNothing),
  };
}

/** The name for a reverse query (RFC 1035 §3.5, RFC 3596 §2.5). */
function reverseName(ip: string): string {
  const words = new Uint32Array(4);
  if (parseIp(ip, words) === 4) return `${formatIp(4, words).split('.').reverse().join('.')}.in-addr.arpa`;
  const digits = [...words].map((word) => word.toString(16).padStart(8, '0')).join('');
  return `${[...digits].reverse().join('.')}.ip6.arpa`;
}

// The files of the classifier: databases of countries and autonomous systems, and a folder of address ranges that bot operators publish, `<kind>.json`
// or `<kind>.<anything>.json` (`googlebot.json`, `googlebot.special.json`). Changed files are read again. A file that cannot
// be used is reported, and its previous content stays in use.

export interface ClassificationFilesOptions {
  /** The path of a country database in MaxMind's format; `null`: none. */
  readonly countries: string | null;
  /** The path of a database of autonomous systems in the same format, which may be that of countries; `null`: none. */
  readonly asns: string | null;
  /** The path of a folder of published ranges; `null`: none. */
  readonly ranges: string | null;
  /** Milliseconds between two checks for changes. */
  readonly pollMs: number;
  /** Called with a file that cannot be used, once for each version of it. */
  readonly onProblem: (problem: { readonly file: string; readonly reason: string }) => void;
}

/** The current content of the files. */
export interface ClassificationFiles {
  countries(): AddressDatabase | null;
  asns(): AddressDatabase | null;
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
  const { countries: countryFile, asns: asnFile, ranges: folder, pollMs, onProblem } = options;
  let countries: FileReading<AddressDatabase> = { mark: '', value: null };
  let asns: FileReading<AddressDatabase> = { mark: '', value: null };
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
  async function readChanged(): Promise<void> {
    if (countryFile !== null) countries = await update(countryFile, countries, DATABASE);
    // One file is read once.
    if (asnFile !== null) asns = asnFile === countryFile ? countries : await update(asnFile, asns, DATABASE);
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

  /** The readings so far. One at a time: two that overlap would both report the same version of a file. */
  let readings = Promise.resolve();
  let waiting = 0;
  function reload(): Promise<void> {
    waiting++;
    readings = readings.then(readChanged, readChanged).finally(() => waiting--);
    return readings;
  }

  await reload();
  const poll = setInterval(() => {
    if (waiting === 0) void reload();
  }, pollMs);
  poll.unref();
  return {
    countries: () => countries.value,
    asns: () => asns.value,
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

const DATABASE: Parsing<AddressDatabase> = { most: MAX_DATABASE_OCTETS, parse: openAddressDatabase };

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
