/** Options that several commands share, and readers of option values. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseIpEntry } from '../base/ip.ts';
import { MAX_NODE_GROUPS } from '../base/limits.ts';
import { readGroups } from '../base/node-groups.ts';
import { COLOUR_CHOICES } from './output.ts';

/** The file to work on. */
export function fileOption(): Option {
  return new Option('-f, --file <path>', 'an edge file or a sealed plan; - is stdin')
    .default('edge.yaml')
    .env('EDGEPLAN_FILE');
}

export function colourOption(): Option {
  return new Option('--color <when>', 'colour the output')
    .choices(COLOUR_CHOICES)
    .default('auto')
    .env('EDGEPLAN_COLOR');
}

/** Options that choose the signatures of `waf` rules (`input/choose-signatures.ts` also reads the environment). */
export function signatureOptions(command: Command): Command {
  return command
    .option(
      '--signatures <path>',
      'signatures of waf rules: a sealed program, rules in SecLang, or none (default: the starter set; env: EDGEPLAN_SIGNATURES)',
    )
    .option('--crs <folder>', 'the OWASP Core Rule Set as signatures (env: EDGEPLAN_CRS)');
}

/** Gathers an option that may be given several times. */
export function gather(value: string, gathered: readonly string[] | undefined): readonly string[] {
  return [...(gathered ?? []), value];
}

/** Special addresses that origins may have, for nodes and for the server that checks what customers write. */
export function allowOriginsOption(): Option {
  return new Option(
    '--allow-origins <prefixes>',
    'origins may have these loopback, private or other special addresses, prefixes with commas; may be repeated',
  ).argParser(gatherPrefixes);
}

function gatherPrefixes(text: string, gathered: readonly string[] | undefined): readonly string[] {
  const prefixes = text.split(',').map((one) => one.trim());
  for (const prefix of prefixes) {
    const read = parseIpEntry(prefix);
    if (!read.ok) throw new InvalidArgumentError(`\`${prefix}\`: ${read.reason}.`);
  }
  return [...(gathered ?? []), ...prefixes];
}

/** Names of node groups, joined by commas. */
export function readNodeGroups(text: string): string {
  const groups = readGroups(text);
  if (groups !== null) return groups;
  throw new InvalidArgumentError(
    `write up to ${MAX_NODE_GROUPS} names joined by commas, such as eu,us; a name has up to 32 lower-case letters, digits and dashes.`,
  );
}

export function readNodeId(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('a node id is a whole number.');
  return Number(text);
}

export interface ResponseFlag {
  readonly status: number;
  readonly madeBy: 'edge' | 'origin';
}

/** `502`, or `502:edge` for a status the edge makes itself. */
export function readStatus(text: string): ResponseFlag {
  const parts = /^([45]\d\d)(?::(edge|origin))?$/.exec(text);
  if (parts === null)
    throw new InvalidArgumentError('write a status from 400 to 599, such as 502 or 502:edge.');
  return { status: Number(parts[1]), madeBy: parts[2] === 'edge' ? 'edge' : 'origin' };
}

/** Rules and their lines are what this is about, so a sealed plan will not do. */
export function edgeFileOption(): Option {
  const option = fileOption();
  option.description = 'an edge file; - is stdin';
  return option;
}

/** A port to listen on. */
export function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : -1;
  if (port < 0 || port > 65_535)
    throw new InvalidArgumentError('a port is a number up to 65535; 0 takes any free one.');
  return port;
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 24 * 3_600_000 };
/** A year: what is replaced for so long is not replaced. */
const LONGEST_OVERLAP_MS = 366 * 24 * 3_600_000;

/** For how long what is replaced stays valid, in milliseconds. */
export function overlapOption(what: string, { milliseconds }: { readonly milliseconds: number }): Option {
  return new Option('--overlap <duration>', `${what}: a number and s, m, h or d; 0: not at all`)
    .argParser(readOverlap)
    .default(milliseconds, durationText(milliseconds));
}

function readOverlap(text: string): number {
  const parts = /^(\d{1,9})([smhd])$/.exec(text);
  const milliseconds = text === '0' ? 0 : parts === null ? -1 : Number(parts[1]) * UNITS[parts[2]!]!;
  if (milliseconds >= 0 && milliseconds <= LONGEST_OVERLAP_MS) return milliseconds;
  throw new InvalidArgumentError('write a duration of up to 366d, such as 90s, 30m, 12h or 7d; or 0.');
}

/** As it is written for `overlapOption`. */
function durationText(milliseconds: number): string {
  const unit = Object.keys(UNITS).findLast((one) => milliseconds % UNITS[one]! === 0) ?? 's';
  return `${milliseconds / UNITS[unit]!}${unit}`;
}
