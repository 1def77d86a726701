/**
 * Customers' regexes: RE2 syntax, parsed by `re2js`, refused with a sentence when they cannot be accepted. What a pattern
 * compiles to comes out as plain data (`Pattern.program`), from which the compiler builds a DFA and takes literals for
 * its indexes; at run time only captures go through `re2js` again.
 */
import { RE2JS, RE2JSException, RE2JSSyntaxException } from 're2js';
import { MAX_PATTERN_CHARACTERS } from '../vocabulary/limits.ts';
import { startsAtTextBegin } from './literals.ts';
import { type Alphabet, buildAlphabet, outsOf, type Program, readProgram } from './program.ts';

export { coveringLiterals } from './cover.ts';
export { type RequiredLiterals, requiredLiterals } from './literals.ts';

/** An accepted pattern. */
export interface Pattern {
  readonly source: string;
  readonly ignoreCase: boolean;
  /** Program size: the number of instructions, RE2's measure of what a pattern costs. */
  readonly size: number;
  /** Capture groups, the whole match not counted. */
  readonly groups: number;
  /** The name of group i, `null` if it has none; entry 0 is the whole match. */
  readonly names: readonly (string | null)[];
  readonly program: Program;
}

export type PatternResult =
  | { readonly ok: true; readonly pattern: Pattern }
  | { readonly ok: false; readonly reason: string };

/** Hosts are matched without case, paths with it (semantics §3). */
export interface PatternOptions {
  readonly ignoreCase: boolean;
  /** Characters at most; `MAX_PATTERN_CHARACTERS` for what customers write. */
  readonly characters?: number;
}

/**
 * Parses a pattern in RE2 syntax (https://github.com/google/re2/wiki/Syntax); `.` matches newlines too. A refusal's
 * `reason` describes the mistake, with the offending piece in backticks unless that is the whole pattern. Size budgets are the caller's to hold
 * (`MAX_PATTERN_PROGRAM`).
 */
export function parsePattern(source: string, options: PatternOptions): PatternResult {
  const { ignoreCase, characters = MAX_PATTERN_CHARACTERS } = options;
  if (source.length > characters) {
    const reason = `the pattern is ${source.length} characters long, at most ${characters} are allowed`;
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
  // The parser names the whole pattern, our own flags in front, if it cannot name a piece of it.
  const piece = error.input === null || error.input.endsWith(source) ? source : error.input;
  if (LOOK_AROUND.test(piece)) return `look-around is not part of RE2 syntax: \`${piece.slice(0, 4)}\``;
  const named = piece === '(?P' && source.includes('(?P=');
  if (named || BACK_REFERENCE.test(piece)) return `back-references are not part of RE2 syntax: \`${piece}\``;
  const said = error.error.replace('Perl', 'perl');
  return piece === source ? said : `${said}: \`${piece}\``;
}

/** The groups of one match: the text each took part with, `null` for one that did not; entry 0 is the whole match. */
export interface CaptureGroups {
  readonly groups: readonly (string | null)[];
  /** Where each group starts in the text; meaningless for one that took no part. */
  readonly starts: readonly number[];
  readonly names: readonly (string | null)[];
}

/** Compiled patterns that are cached for captures. Only rewrite rules with groups capture; few nodes see more than this in use. */
const MAX_CACHED = 256;
const cached = new Map<string, CachedRegex>();

/**
 * The groups of the leftmost-first match in `text`, `null` if the pattern does not match. The pattern must be one
 * that `parsePattern` accepts. It is compiled at its first use and cached in a map of `MAX_CACHED` entries, the least
 * recently used leaving first; callers need no cache of their own.
 */
export function captureGroups(source: string, ignoreCase: boolean, text: string): CaptureGroups | null {
  const { regex, names } = cachedRegex(source, ignoreCase);
  const matcher = regex.matcher(text);
  if (!matcher.find()) return null;
  return {
    groups: names.map((_, index) => matcher.group(index)),
    starts: names.map((_, index) => matcher.start(index)),
    names,
  };
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

// How many places of a program a search without a DFA may have to keep apart at once: the cost of its captures.

/** Sets of places visited before the width of the whole program is returned. */
const MAX_SETS = 2_000;

/**
 * The most instructions that can be active at one place of any text. A backtracking search that remembers where it has
 * been, as `re2js` does for captures, visits no more than this for each character. Assertions are taken as passable,
 * and a match does not end the search, so the true number may be smaller. The program's size if there are too many
 * sets to look at.
 */
export function captureWidth(program: Program): number {
  const alphabet = buildAlphabet(program);
  const restart = startsAtTextBegin(program) ? [] : [program.start];
  const sets = new Map<string, readonly number[]>();
  let width = 0;
  const enter = (seeds: readonly number[]): void => {
    const active = close(program, seeds);
    width = Math.max(width, active.length);
    const reading = active.filter((pc) => program.instructions[pc]!.kind === 'character');
    const key = reading.join();
    if (!sets.has(key)) sets.set(key, reading);
  };
  enter([program.start]);
  for (const reading of sets.values()) {
    if (sets.size > MAX_SETS) return program.instructions.length;
    for (let column = 0; column < alphabet.classes; column++) {
      enter([...follow(program, reading, { alphabet, column }), ...restart]);
    }
  }
  return width;
}

function follow(
  program: Program,
  reading: readonly number[],
  { alphabet, column }: { alphabet: Alphabet; column: number },
): number[] {
  const taken = reading.filter((pc) => alphabet.takes.get(pc)![column] === 1);
  return taken.flatMap((pc) => outsOf(program.instructions[pc]!));
}

function close({ instructions }: Program, seeds: readonly number[]): number[] {
  const seen = new Set(seeds);
  for (const pc of seen) {
    const instruction = instructions[pc]!;
    if (instruction.kind === 'character') continue;
    for (const out of outsOf(instruction)) seen.add(out);
  }
  return [...seen].sort((a, b) => a - b);
}
