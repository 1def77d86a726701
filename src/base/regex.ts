/**
 * Customers' regexes: RE2 syntax, parsed by `re2js`, refused with a sentence when they cannot be accepted. What a pattern
 * compiles to comes out as plain data (`Pattern.program`), from which the compiler builds a DFA and takes literals for
 * its indexes; at run time only captures go through `re2js` again.
 */
import { RE2JS, RE2JSException, RE2JSSyntaxException } from 're2js';
import { type Program, readProgram } from './regex/program.ts';

export { type RequiredLiterals, requiredLiterals } from './regex/literals.ts';
export { captureWidth } from './regex/width.ts';

/** Characters (UTF-16 units) of one pattern (semantics §3). */
export const MAX_PATTERN_LENGTH = 1_024;

/**
 * Instructions of one pattern; ordinary ones have 20 to 60. Bounds the time it takes to build a pattern's DFA and
 * literals. The time to match does not depend on it.
 */
export const MAX_PATTERN_PROGRAM = 1_000;

/**
 * Scans of one path (`worstScans` of `regex/dfa.ts`) that the regexes of a domain may cause, so that all of them together
 * take at most 1 ms on a path of 2 KiB. A host is an eighth as long at most, so a host regex counts an eighth.
 *
 * Measured with Node 20 on one core of an AMD EPYC at 2.6 GHz: a DFA takes 2.3 ns an octet, whatever the pattern is;
 * 400 different tables in turn (200 KB) take 2.6 ns. So a scan of 2,048 octets takes 5.3 µs and 188 of them 1 ms.
 *
 * There is no budget for patterns without a DFA, since none can be run in that time: they are refused. `re2js` is as
 * fast as ours on a text like one it has seen, but takes 20 to 270 ns an octet and instruction while it builds its own
 * DFA on a new one: 3 to 77 ms on 2,048 octets for patterns whose states multiply (`[ab]*a[ab]{12}`, `a[^/]{1,200}Z`,
 * `(?:.{20}a|.{21}b|.{22}c){3}Q`). A millisecond would buy 2 to 20 instructions for a whole domain.
 */
export const MAX_DOMAIN_SCANS = 160;

/**
 * Instructions that may be active at once (`captureWidth`) in a pattern whose groups a rewrite target uses. Captures run
 * through `re2js`: 2 to 20 ns an octet and active instruction, so 24 of them take 1 ms on 2 KiB. Size says little
 * about that: `^/products/([a-z0-9-]+)-(\d+)\.html$` has 28 instructions, of which 8 can be active, and
 * `(?:a?){10}(a{10})$` has 35, of which 34 can.
 */
export const MAX_CAPTURE_WIDTH = 24;

/**
 * Instructions of a pattern whose groups a rewrite target uses. Up to 262,144 instructions × octets `re2js` searches
 * with a bit for each (instruction, octet), so 128 instructions on 2 KiB; beyond, it copies all groups for each active
 * instruction and takes ten times as long.
 */
export const MAX_CAPTURE_PROGRAM = 128;

/** An accepted pattern. */
export interface Pattern {
  readonly source: string;
  readonly ignoreCase: boolean;
  /** Program size: the number of instructions, RE2's measure of what a pattern costs. */
  readonly size: number;
  /** Capture groups, the whole match not counted. */
  readonly groups: number;
  /** The name of group i, `null` where it has none; entry 0 stands for the whole match. */
  readonly names: readonly (string | null)[];
  readonly program: Program;
}

export type PatternResult =
  | { readonly ok: true; readonly pattern: Pattern }
  | { readonly ok: false; readonly reason: string };

/** Hosts are matched without case, paths with it (semantics §3). */
export interface PatternOptions {
  readonly ignoreCase: boolean;
}

/**
 * Parses a pattern in RE2 syntax (https://github.com/google/re2/wiki/Syntax); `.` matches newlines too. A refusal's
 * `reason` says what is wrong, with the offending piece in backticks. Size budgets are the caller's to hold
 * (`MAX_PATTERN_PROGRAM`).
 */
export function parsePattern(source: string, { ignoreCase }: PatternOptions): PatternResult {
  if (source.length > MAX_PATTERN_LENGTH) {
    const reason = `the pattern is ${source.length} characters long, at most ${MAX_PATTERN_LENGTH} are allowed`;
    return { ok: false, reason };
  }
  try {
    const regex = compileRegex(source, ignoreCase);
    const pattern: Pattern = {
      source,
      ignoreCase,
      size: regex.programSize(),
      groups: regex.groupCount(),
      names: groupNames(regex),
      program: readProgram(regex),
    };
    return { ok: true, pattern };
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    return { ok: false, reason: describe(error, source) };
  }
}

function compileRegex(source: string, ignoreCase: boolean): RE2JS {
  return RE2JS.compile(source, ignoreCase ? RE2JS.DOTALL | RE2JS.CASE_INSENSITIVE : RE2JS.DOTALL);
}

function groupNames(regex: RE2JS): (string | null)[] {
  const names = new Array<string | null>(regex.groupCount() + 1).fill(null);
  for (const [name, index] of Object.entries(regex.namedGroups())) names[index] = name;
  return names;
}

const LOOK_AROUND = /^\(\?<?[=!]/;
const BACK_REFERENCE = /^(\\[1-9]|\\k)/;

function describe(error: RE2JSException, source: string): string {
  if (!(error instanceof RE2JSSyntaxException)) return error.message.toLowerCase();
  // The parser names the whole pattern, our own flags in front, where it cannot name a piece of it.
  const piece = error.input === null || error.input.endsWith(source) ? source : error.input;
  if (LOOK_AROUND.test(piece)) return `look-around is not part of RE2 syntax: \`${piece.slice(0, 4)}\``;
  const named = piece === '(?P' && source.includes('(?P=');
  if (named || BACK_REFERENCE.test(piece)) return `back-references are not part of RE2 syntax: \`${piece}\``;
  return `${error.error.replace('Perl', 'perl')}: \`${piece}\``;
}

/** The groups of one match: the text each took part with, `null` for one that did not; entry 0 is the whole match. */
export interface CaptureGroups {
  readonly groups: readonly (string | null)[];
  readonly names: readonly (string | null)[];
}

/** Compiled patterns kept for captures. Only rewrite rules with groups capture; few nodes see more than this in use. */
const MAX_CACHED = 256;
const cached = new Map<string, CachedRegex>();

/**
 * The groups of the leftmost-first match in `text`, `null` where the pattern does not match. The pattern must be one
 * that `parsePattern` accepts. It is compiled at its first use and kept in a map of `MAX_CACHED` entries, the least
 * recently used leaving first; callers need no cache of their own.
 */
export function captureGroups(source: string, ignoreCase: boolean, text: string): CaptureGroups | null {
  const { regex, names } = cachedRegex(source, ignoreCase);
  const matcher = regex.matcher(text);
  if (!matcher.find()) return null;
  return { groups: names.map((_, index) => matcher.group(index)), names };
}

interface CachedRegex {
  readonly regex: RE2JS;
  readonly names: readonly (string | null)[];
}

function cachedRegex(source: string, ignoreCase: boolean): CachedRegex {
  const key = (ignoreCase ? 'i' : 'c') + source;
  const known = cached.get(key);
  if (known !== undefined) {
    cached.delete(key);
    cached.set(key, known);
    return known;
  }
  const regex = compileRegex(source, ignoreCase);
  const entry = { regex, names: groupNames(regex) };
  if (cached.size >= MAX_CACHED) cached.delete(cached.keys().next().value!);
  cached.set(key, entry);
  return entry;
}
