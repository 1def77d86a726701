/** Options that several commands share, and parsers of option values. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseIpEntry } from '../base/addresses/ip.ts';
import { missingPackages, type OptionalFeature } from '../base/platform/optional-packages.ts';
import type { CollectorOptions } from '../base/telemetry/spans.ts';
import { MAX_NODE_GROUPS } from '../base/vocabulary/limits.ts';
import { readGroups } from '../base/vocabulary/node-groups.ts';
import { MAX_PAGE } from '../control/api/operation/limits.ts';
import { parseServerAddress } from '../control/dns/server-address.ts';
import { CommandFault, EXIT } from './exit.ts';
import { COLOUR_CHOICES, jsonFormat } from './output.ts';

/** `--file`: the rules to work on. */
export function fileOption(): Option {
  let given: string | null = null;
  return new Option('-f, --file <file>', 'an edge file or a sealed plan; - is stdin')
    .argParser((path: string) => {
      if (given !== null)
        throw new InvalidArgumentError(`\`${given}\` was given before; one rule set has one file.`);
      given = path;
      return path;
    })
    .default('edge.yaml')
    .env('EDGEPLAN_FILE');
}

/** Puts options below a heading of the help. */
export function inGroup(heading: string, options: readonly Option[]): readonly Option[] {
  return options.map((option) => option.helpGroup(heading));
}

/** `--json`: the result is one JSON object, whose `format` names its kind and version. */
export function jsonOption(name: string): Option {
  return new Option('--json', `print one JSON object, ${jsonFormat(name)}`);
}

/** Levels of the log on stderr. */
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;

/** `--log-level` of servers and nodes. */
export function logLevelOption(level: (typeof LOG_LEVELS)[number]): Option {
  return new Option('--log-level <level>', 'what is logged to stderr')
    .choices(LOG_LEVELS)
    .default(level)
    .env('EDGEPLAN_LOG_LEVEL');
}

/** The share of traces that is sampled: as for the decision log, enough to see what is usual. */
const DEFAULT_RATIO = 0.01;

/** Options that name an OpenTelemetry collector. */
export interface CollectorFlags {
  readonly otlp?: string;
  readonly traceRatio: number;
}

/** `--otlp` and `--trace-ratio` of servers and nodes. */
export function collectorOptions(): readonly Option[] {
  return [
    new Option(
      '--otlp <url>',
      'export metrics and traces by OTLP/HTTP to this collector, such as http://127.0.0.1:4318',
    )
      .argParser(readCollector)
      .env('EDGEPLAN_OTLP'),
    new Option('--trace-ratio <share>', 'the share of traces that is sampled')
      .argParser(readShare)
      .default(DEFAULT_RATIO)
      .env('EDGEPLAN_TRACE_RATIO'),
  ];
}

/**
 * Checks that the optional packages of a flag are installed.
 * @throws CommandFault that names the missing ones and how to install them
 */
export function requirePackages(feature: OptionalFeature, flag: string): void {
  const missing = missingPackages(feature);
  if (missing === null) return;
  throw new CommandFault(EXIT.server, `${flag} ${missing.needs}`, { remedy: missing.remedy });
}

/** The collector that the options name; `null`: none. @throws CommandFault without OpenTelemetry's packages */
export function collectorOf({ otlp, traceRatio }: CollectorFlags): CollectorOptions | null {
  // An empty environment variable counts as none.
  if (otlp === undefined || otlp === '') return null;
  requirePackages('otlp', '--otlp');
  return { url: otlp, ratio: traceRatio };
}

/** Parses the base URL of a collector. Credentials in it would be in the list of processes and in logs. */
function readCollector(text: string): string {
  if (text === '') return text;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new InvalidArgumentError('a collector is written http://host:port.');
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new InvalidArgumentError(
      'a collector is written http://host:port; credentials belong into OTEL_EXPORTER_OTLP_HEADERS.',
    );
  }
  return text;
}

/** Parses a share. */
export function readShare(text: string): number {
  const share = /^[01]?(?:\.\d{1,9})?$/.test(text) && text !== '' ? Number(text) : -1;
  if (share >= 0 && share <= 1) return share;
  throw new InvalidArgumentError('a number from 0 to 1.');
}

/** `--resolver`: addresses of DNS resolvers. `what` describes one. */
export function resolverOption(what: string): Option {
  return new Option('--resolver <address>', `${what}; may be repeated (default: the system)`).argParser(
    (text: string, gathered: readonly string[] | undefined) => {
      if (parseServerAddress(text) !== null) return gather(text, gathered);
      throw new InvalidArgumentError('an address with an optional port, like `192.0.2.53:53`.');
    },
  );
}

/** `--color`. */
export function colourOption(): Option {
  return new Option('--color <when>', 'colour the output')
    .choices(COLOUR_CHOICES)
    .default('auto')
    .env('EDGEPLAN_COLOR');
}

/**
 * Adds the options that choose the signatures of `waf` rules (`open-signatures.ts` also reads the
 * environment).
 */
export function signatureOptions(command: Command): Command {
  return command
    .option(
      '--signatures <path>',
      'signatures of waf rules: a sealed program, rules in SecLang, or none (default: the starter set; env: EDGEPLAN_SIGNATURES)',
    )
    .option('--crs <folder>', 'the OWASP Core Rule Set as signatures (env: EDGEPLAN_CRS)')
    .addOption(withoutOption());
}

/** `--without`: ids of rules to leave out. */
export function withoutOption(): Option {
  return new Option(
    '--without <id>',
    'leave a signature, or a range of them, out; may be repeated',
  ).argParser((value: string, gathered: readonly string[] | undefined) => {
    // The syntax of SecRuleRemoveById.
    if (!/^\d{1,10}(-\d{1,10})?$/.test(value)) {
      throw new InvalidArgumentError('write an id such as 942130, or a range such as 942100-942199.');
    }
    return gather(value, gathered);
  });
}

/** Collects the values of an option that may be repeated. */
export function gather(value: string, gathered: readonly string[] | undefined): readonly string[] {
  return [...(gathered ?? []), value];
}

/**
 * `--allow-origins`: special addresses that origins may have; used by nodes, and by the server to check records and
 * rules.
 */
export function allowOriginsOption(): Option {
  return new Option(
    '--allow-origins <prefixes>',
    'origins may have these loopback, private or other special addresses, prefixes with commas; may be repeated',
  ).argParser(gatherPrefixes);
}

/** `--allow-nameservers`: special addresses at which name servers of customers' zones are queried. */
export function allowNameserversOption(): Option {
  return new Option(
    '--allow-nameservers <prefixes>',
    'name servers of zones may have these loopback, private or other special addresses, prefixes with commas; may be repeated',
  ).argParser(gatherPrefixes);
}

/** Parses prefixes separated by commas and appends them. */
function gatherPrefixes(text: string, gathered: readonly string[] | undefined): readonly string[] {
  const prefixes = text.split(',').map((one) => one.trim());
  for (const prefix of prefixes) {
    const read = parseIpEntry(prefix);
    if (!read.ok) throw new InvalidArgumentError(`\`${prefix}\`: ${read.reason}.`);
  }
  return [...(gathered ?? []), ...prefixes];
}

/** Parses names of node groups separated by commas; returns the canonical form. */
export function readNodeGroups(text: string): string {
  const groups = readGroups(text);
  if (groups !== null) return groups;
  throw new InvalidArgumentError(
    `write up to ${MAX_NODE_GROUPS} names joined by commas, such as eu,us; a name has up to 32 lower-case letters, digits and dashes.`,
  );
}

/** Parses the id of an edge node. */
export function readNodeId(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('a node id is a whole number.');
  return Number(text);
}

/** The value of `--status`. */
export interface ResponseFlag {
  readonly status: number;
  readonly madeBy: 'edge' | 'origin';
}

/** Parses `502`, or `502:edge` for a status that the edge itself makes. */
export function readStatus(text: string): ResponseFlag {
  const parts = /^([45]\d\d)(?::(edge|origin))?$/.exec(text);
  if (parts === null)
    throw new InvalidArgumentError('write a status from 400 to 599, such as 502 or 502:edge.');
  return { status: Number(parts[1]), madeBy: parts[2] === 'edge' ? 'edge' : 'origin' };
}

/** `--file` for commands that need keys and lines, which a sealed plan does not have. */
export function edgeFileOption(): Option {
  const option = fileOption();
  option.description = 'an edge file; - is stdin';
  return option;
}

/** Parses a port; 0 is any free port. */
export function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : -1;
  if (port < 0 || port > 65_535)
    throw new InvalidArgumentError('a port is a number up to 65535; 0 takes any free one.');
  return port;
}

// Milliseconds per unit.
const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 24 * 3_600_000 };
/** The longest overlap, a year. */
const LONGEST_OVERLAP_MS = 366 * 24 * 3_600_000;

/** `--overlap`: how long the replaced secret stays valid; the value is in milliseconds. */
export function overlapOption(what: string, { milliseconds }: { readonly milliseconds: number }): Option {
  return new Option('--overlap <duration>', `${what}: a number and s, m, h or d; 0: not at all`)
    .argParser(readOverlap)
    .default(milliseconds, lengthText(milliseconds));
}

/** Parses a duration such as `7d` as milliseconds; negative: the text is no duration. */
function readLength(text: string): number {
  const parts = /^(\d{1,9})([smhd])$/.exec(text);
  return text === '0' ? 0 : parts === null ? -1 : Number(parts[1]) * UNITS[parts[2]!]!;
}

function readOverlap(text: string): number {
  const milliseconds = readLength(text);
  if (milliseconds >= 0 && milliseconds <= LONGEST_OVERLAP_MS) return milliseconds;
  throw new InvalidArgumentError('write a duration of up to 366d, such as 90s, 30m, 12h or 7d; or 0.');
}

/** A time for which something is stored. */
interface StoredFor {
  /** Milliseconds, as the default and the bounds are. */
  readonly usual: number;
  readonly least: number;
  readonly most: number;
}

/** An option that says how long something is stored; the value is in milliseconds. */
export function storedForOption(flags: string, what: string, { usual, least, most }: StoredFor): Option {
  return new Option(flags, `${what}, from ${lengthText(least)} to ${lengthText(most)}`)
    .argParser((text: string) => {
      const milliseconds = readLength(text);
      if (milliseconds >= least && milliseconds <= most) return milliseconds;
      const bounds = `from ${lengthText(least)} to ${lengthText(most)}`;
      throw new InvalidArgumentError(`write a duration ${bounds}, such as 90m, 48h or 35d.`);
    })
    .default(usual, lengthText(usual));
}

/** A duration in the syntax of `readLength`. */
function lengthText(milliseconds: number): string {
  const unit = Object.keys(UNITS).findLast((one) => milliseconds % UNITS[one]! === 0) ?? 's';
  return `${milliseconds / UNITS[unit]!}${unit}`;
}

/** A parser of an id, for commander; `where` ends the message of its refusal. */
export function idParser(where: string): (text: string) => number {
  return (text) => {
    if (/^[1-9]\d{0,9}$/.test(text)) return Number(text);
    throw new InvalidArgumentError(`an id is a whole number; ${where}.`);
  };
}

/** The default of `--limit`: a few screens. */
const USUAL_LIMIT = 100;

function readLimit(text: string): number {
  const limit = /^[1-9]\d{0,3}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= MAX_PAGE) return limit;
  throw new InvalidArgumentError(`write a whole number from 1 to ${MAX_PAGE}.`);
}

/** `--limit`. @param what the plural of what is listed */
export function limitOption(what: string): Option {
  return new Option('--limit <count>', `${what}, at most`).argParser(readLimit).default(USUAL_LIMIT);
}

// Times on the command line: a date, an RFC 3339 time, or how long ago.

/** A time that was given; `ago` is relative to when it is used, so that a command that repeats moves along. */
export type GivenTime = { readonly at: number } | { readonly ago: number };

/** Milliseconds per unit. */
const AGO_UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** Parses a duration such as `90m`, `24h`, `7d`, `2w` as milliseconds; `null`: the text is no duration. */
function readSpan(text: string): number | null {
  const [, count, unit] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  return count === undefined ? null : Number(count) * AGO_UNITS[unit as keyof typeof AGO_UNITS];
}

/** Parses a duration. */
export function readDuration(text: string): number {
  const span = readSpan(text);
  if (span !== null && span > 0) return span;
  throw new InvalidArgumentError('write a duration such as 90m, 24h, 7d or 2w.');
}

/** Parses a time: a date, an RFC 3339 time, or a duration before now. */
export function readTime(text: string): GivenTime {
  const ago = readSpan(text);
  if (ago !== null) return { ago };
  const at = /^\d{4}-\d\d-\d\d(?:T.+)?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(at)) return { at };
  throw new InvalidArgumentError(
    'write 2026-11-20, 2026-11-20T09:00:00Z, or how long ago: 90m, 24h, 7d, 2w.',
  );
}

/** The time in milliseconds since the epoch. */
export function timeAt(given: GivenTime, now: number): number {
  return 'at' in given ? given.at : now - given.ago;
}
