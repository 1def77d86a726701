/** `edgeplan logs`: prints the decisions that nodes have logged for a domain, and follows new ones. */
import { setTimeout as wait } from 'node:timers/promises';
import { Command, InvalidArgumentError, Option } from 'commander';
import { terminalJson } from '../../base/text/json-object.ts';
import { timeText } from '../../base/text/time.ts';
import { LOG_ACTIONS } from '../../control/logs/log-store.ts';
import { paint } from '../../workbench/simulation/paint.ts';
import { type Examples, withExamples } from '../examples.ts';
import { type CommandFault, usageFault } from '../exit.ts';
import { colourOption, type GivenTime, readDuration, readTime, timeAt } from '../options.ts';
import { type ColourChoice, colourFor, note, noteFault, write } from '../output.ts';
import { isTransient, keyOption, type ServerAccess, serverOption } from '../remote/call-api.ts';
import { type LogFilters, logLine, type RemoteEntry, readLogPage } from '../remote/domain-logs.ts';

/** The options of the command, as commander parses them. */
interface Flags extends ServerAccess {
  /** Milliseconds before now that the search begins. */
  readonly last?: number;
  readonly from?: GivenTime;
  readonly to?: GivenTime;
  readonly action?: string;
  readonly rule?: string;
  readonly ip?: string;
  readonly path?: string;
  /** The largest number of entries, the newest. */
  readonly limit: number;
  /** Prints new entries until a signal. */
  readonly follow?: boolean;
  /** Prints one JSON object per line. */
  readonly json?: boolean;
  readonly color: ColourChoice;
}

/** Entries per request: the API's maximum. */
const PAGE = 200;
/** The default of `--limit`, and the most. */
const USUAL_LIMIT = 100;
const MOST_ENTRIES = 10_000;
/** Milliseconds that a search goes back without `--last` and `--from`. */
const USUAL_SPAN_MS = 3_600_000;
/** Milliseconds between two polls: nodes ship their entries about once a second. */
const POLL_MS = 2_000;
/** Milliseconds before the newest entry that a poll reads again: entries of different nodes come in any order. */
const OVERLAP_MS = 120_000;

async function run(domain: string, flags: Flags): Promise<void> {
  const { last, follow = false, limit } = flags;
  const [from, to] = [flags.from, flags.to].map((given) => given && timeAt(given, Date.now()));
  if (last !== undefined && (from !== undefined || to !== undefined))
    throw usageFault('--last goes back from now, and --from and --to are times: give one of both');
  if (follow && to !== undefined) throw usageFault('--follow has no end, so it goes without --to');
  const begin = from ?? (to ?? Date.now()) - (last ?? USUAL_SPAN_MS);
  const filters = filtersOf(flags);
  const stop = new AbortController();
  if (follow) for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  const { entries, more } = await readNewest(domain, flags, { filters, from: begin, to, limit });
  await print(entries, flags);
  if (more) note(`edgeplan: there are older entries; --limit (now ${limit}) prints more`);
  if (follow) await followLog(domain, flags, { filters, from: begin, printed: entries, signal: stop.signal });
  else if (entries.length === 0) note('no entry of the log matches');
}

/** What to read; times in milliseconds since the epoch. */
interface Wanted {
  readonly filters: LogFilters;
  readonly from: number;
  readonly to: number | undefined;
  readonly limit: number;
}

/** The newest entries, oldest first. */
async function readNewest(
  domain: string,
  access: ServerAccess,
  { filters, from, to, limit }: Wanted,
): Promise<{ readonly entries: readonly RemoteEntry[]; readonly more: boolean }> {
  const span = { from: timeText(from), ...(to === undefined ? {} : { to: timeText(to) }) };
  const entries: RemoteEntry[] = [];
  let cursor: string | null = null;
  do {
    const size = Math.min(PAGE, limit - entries.length);
    const page = await readLogPage(domain, access, { filters: { ...filters, ...span }, limit: size, cursor });
    entries.push(...page.entries);
    cursor = page.next;
  } while (cursor !== null && entries.length < limit);
  return { entries: entries.reverse(), more: cursor !== null };
}

interface Followed {
  readonly filters: LogFilters;
  readonly from: number;
  readonly printed: readonly RemoteEntry[];
  readonly signal: AbortSignal;
}

/**
 * Prints entries that arrive until the signal. Entries that come later than `OVERLAP_MS` after newer ones, as from a node that
 * was cut off, are not printed; the log has them.
 */
async function followLog(
  domain: string,
  flags: Flags,
  { filters, from, printed, signal }: Followed,
): Promise<void> {
  /** Times of printed entries by id, of the last `OVERLAP_MS`. */
  const seen = new Map(printed.map(({ id, time }) => [id, Date.parse(time)]));
  let newest = Math.max(from, ...seen.values());
  while (!signal.aborted) {
    await wait(POLL_MS, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    const since = Math.max(from, newest - OVERLAP_MS);
    const fresh = await poll(domain, flags, { filters: { ...filters, from: timeText(since) }, seen });
    await print(fresh, flags);
    for (const { id, time } of fresh) seen.set(id, Date.parse(time));
    newest = Math.max(newest, ...fresh.map(({ time }) => Date.parse(time)));
    for (const [id, at] of seen) if (at < newest - OVERLAP_MS) seen.delete(id);
  }
}

interface Unseen {
  readonly filters: LogFilters;
  /** Times of printed entries by id. */
  readonly seen: ReadonlyMap<string, number>;
}

/** As `readUnseen`; nothing where the server fails or cannot be reached, which the next poll may not meet. */
async function poll(domain: string, access: ServerAccess, unseen: Unseen): Promise<readonly RemoteEntry[]> {
  try {
    return await readUnseen(domain, access, unseen);
  } catch (error) {
    if (!isTransient(error)) throw error;
    noteFault(error as CommandFault);
    return [];
  }
}

/** Entries that are not printed yet, oldest first: pages are read until one has none. */
async function readUnseen(
  domain: string,
  access: ServerAccess,
  { filters, seen }: Unseen,
): Promise<readonly RemoteEntry[]> {
  const fresh: RemoteEntry[] = [];
  let cursor: string | null = null;
  do {
    const page = await readLogPage(domain, access, { filters, limit: PAGE, cursor });
    const unseen = page.entries.filter(({ id }) => !seen.has(id));
    fresh.push(...unseen);
    // A page that ended at the bound of its cost may be empty.
    cursor = unseen.length > 0 || !page.complete ? page.next : null;
  } while (cursor !== null && fresh.length < MOST_ENTRIES);
  return fresh.reverse();
}

async function print(entries: readonly RemoteEntry[], { json, color }: Flags): Promise<void> {
  const colour = colourFor(process.stdout, color);
  // The lines of a decision log have a format of their own: `replay` and `explain` read them.
  const text = json === true ? entries.map((entry) => `${terminalJson(entry)}\n`).join('') : null;
  await write(text ?? paint(entries.map(logLine), colour));
}

function filtersOf({ action, rule, ip, path }: Flags): LogFilters {
  const given = Object.entries({ action, rule, ip, path }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as LogFilters;
}

/** Parses `--limit`. */
function readLimit(text: string): number {
  const limit = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= MOST_ENTRIES) return limit;
  throw new InvalidArgumentError(`write a whole number from 1 to ${MOST_ENTRIES}.`);
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  logs: [
    'edgeplan logs example.com --last 24h --action block',
    'edgeplan logs example.com --rule waf/7 --ip 203.0.113.0/24 --follow',
    "edgeplan logs example.com --path '/api/*' --json",
  ],
};

/** Creates the command. */
export function logsCommand(): Command {
  const command = new Command('logs')
    .summary('which requests of a domain were stopped, would have been, or failed')
    .description(
      'Prints decisions that nodes have logged for a domain, the newest last: blocks, challenges, what dry_run rules would have ' +
        'done, faults, and a sample of the rest. What exceeds the bound of a node is printed as numbers of requests by action, ' +
        'rule and network.',
    )
    .argument('<domain>', 'its name')
    .addOption(
      new Option('--last <duration>', 'only the last 90m, 24h, 7d (default: 1h)').argParser(readDuration),
    )
    .addOption(
      new Option('--from <time>', 'only from this time on: 2026-11-20T09:00:00Z').argParser(readTime),
    )
    .addOption(new Option('--to <time>', 'only before this time').argParser(readTime))
    .addOption(new Option('--action <action>', 'only this outcome').choices(LOG_ACTIONS))
    .option('--rule <rule>', 'only where this rule matched or decided: drop/7')
    .option(
      '--ip <prefix>',
      'only visitors with this address, prefix or range; counted lines whose network overlaps with it',
    )
    .option('--path <path>', 'only paths that begin so, or with * a pattern of the whole path')
    .addOption(
      new Option('--limit <count>', 'entries, at most: the newest').argParser(readLimit).default(USUAL_LIMIT),
    )
    .option('--follow', 'print new entries as they come, until Ctrl-C')
    .option(
      '--json',
      'one entry as JSON on each line, as in the log of a node (edgeplan.decision/v1, edgeplan.counted/v1)',
    )
    .addOption(serverOption())
    .addOption(keyOption())
    .addOption(colourOption())
    .action(run);
  return withExamples(command, EXAMPLES);
}
