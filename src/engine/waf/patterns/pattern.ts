/**
 * Matches the patterns of a signature program (`@rx`, selectors by regular expression). A DFA decides whether a pattern
 * matches: the compiled one if the program has it, else a lazy one. Only captured groups need `re2js`, which is slower.
 * Patterns with look-around, backreferences or atomic groups are searched by backtracking (`backtrack.ts`), in the texts
 * that the DFA of a simpler pattern matches.
 */
import { RE2JS } from 're2js';
import { readProgram } from '../../../base/regex/program.ts';
import {
  DFA_ASCII,
  DFA_BMP_RUNS,
  DFA_DEAD,
  DFA_END,
  DFA_MATCHED,
  DFA_RUNS,
  DFA_START,
  DFA_TABLE,
} from '../../../base/regex/table.ts';
import { PlanFault } from '../../plan/layout.ts';
import type { WafPattern } from '../../plan/signature-program.ts';
import type { Meter } from '../octets/meter.ts';
import { octetsOf } from '../octets/octet-buffer.ts';
import { backtrackSearch, type OctetText } from './backtrack.ts';
import { type Backtracker, backtrackerOf } from './backtracker.ts';
import { type LazyDfa, lazyDfa, lazyDfaEnd } from './lazy-dfa.ts';

/** A pattern with its automata, each built at its first use; `null`: not built, or the pattern has none. */
export interface Matcher {
  readonly pattern: WafPattern;
  /** The compiled DFA. */
  table: OctetDfa | null;
  /** The DFA of a simpler pattern that matches whenever this one does. */
  guard: OctetDfa | null;
  lazy: LazyDfa | null;
  /** Searches a pattern that no automaton matches, in texts that its automata do not rule out. */
  backtracker: Backtracker | null;
  /** The `re2js` engine, for groups and for the instructions of a lazy DFA. */
  regex: RE2JS | null;
  /** The number of instructions of `regex`; 0 before it is built. */
  size: number;
  /** A cache: the groups of short texts; `null`: no match. */
  readonly groups: Map<string, readonly (string | null)[] | null>;
}

/** A text to match. */
export interface PatternSubject {
  /** Latin-1: one character an octet. */
  readonly text: string;
  /** The kinds of its octets (`engine/waf/octets/octet-buffer.ts`). */
  readonly shape: number;
}

/** Creates the matcher of a pattern; builds no automaton yet. */
export function matcherOf(pattern: WafPattern): Matcher {
  return {
    pattern,
    table: null,
    guard: null,
    lazy: null,
    backtracker: null,
    regex: null,
    size: 0,
    groups: new Map(),
  };
}

/** Whether the pattern can match a text of this shape: the text has an octet of a kind that every match contains. */
export function mayMatch({ pattern: { needed } }: Matcher, shape: number): boolean {
  return needed === ANY_SHAPE || (shape & needed) !== 0;
}

/** `WafPattern.needed` of a pattern whose matches have no kind of octet in common. */
const ANY_SHAPE = -1;

/**
 * Whether the shape or the guard proves, without the pattern's own automaton, that it does not match. `false` also when
 * the step budget is exhausted.
 */
export function isRuledOut(matcher: Matcher, { text, shape }: PatternSubject, meter: Meter): boolean {
  if (!mayMatch(matcher, shape)) return true;
  const { guard } = matcher.pattern;
  if (guard === undefined) return false;
  meter.left -= text.length + 1;
  if (meter.left < 0) return false;
  return octetDfaEnd(guardOf(matcher, guard), octetsOf(text), text.length) < 0;
}

/** Whether a lazy DFA matches the pattern, for lack of a compiled one. */
export function isLazy({ pattern }: Matcher): boolean {
  return pattern.dfa === null && pattern.backtrack === undefined;
}

/** Whether the pattern matches anywhere in a text; `false` also when the step budget is exhausted. */
export function patternMatches(matcher: Matcher, { text, shape }: PatternSubject, meter: Meter): boolean {
  return mayMatch(matcher, shape) && patternEnd(matcher, text, meter) >= 0;
}

/** Returns how many octets were read when the match was certain; -1: no match, or the step budget is exhausted. */
export function patternEnd(matcher: Matcher, text: string, meter: Meter): number {
  const { length } = text;
  meter.left -= length + 1;
  if (meter.left < 0) return -1;
  const octets = octetsOf(text);
  const { dfa, backtrack } = matcher.pattern;
  if (backtrack !== undefined) return backtrackEnd(matcher, { octets, length }, meter);
  if (dfa !== null) return octetDfaEnd(tableOf(matcher, dfa), octets, length);
  return lazyDfaEnd(lazyOf(matcher), { octets, length }, meter);
}

/** `patternEnd` of a pattern that no automaton matches. */
function backtrackEnd(matcher: Matcher, text: OctetText, meter: Meter): number {
  const words = matcher.pattern.dfa ?? matcher.pattern.guard;
  if (words !== undefined && octetDfaEnd(tableOf(matcher, words), text.octets, text.length) < 0) return -1;
  return backtrackSearch(searcherOf(matcher), text, { meter, captures: false })?.[1] ?? -1;
}

function searcherOf(matcher: Matcher): Backtracker {
  matcher.backtracker ??= backtrackerOf(matcher.pattern.backtrack!);
  return matcher.backtracker;
}

/** The length in octets of the shortest text that the pattern can match; 0 if it is not known. */
export function shortestMatch(matcher: Matcher): number {
  const { dfa, guard } = matcher.pattern;
  if (dfa !== null) return octetDfaShortest(tableOf(matcher, dfa));
  return guard === undefined ? 0 : octetDfaShortest(guardOf(matcher, guard));
}

/** Builds the automata that decide whether the pattern matches, unless they exist. @throws PlanFault as `regexOf` */
export function prepareMatcher(matcher: Matcher): void {
  const { dfa, guard, backtrack } = matcher.pattern;
  if (guard !== undefined) guardOf(matcher, guard);
  if (dfa !== null) tableOf(matcher, dfa);
  if (backtrack !== undefined) searcherOf(matcher);
  else if (dfa === null) lazyOf(matcher);
}

/** Builds the engine that finds the pattern's groups, unless it exists. @throws PlanFault as `regexOf` */
export function prepareGroups(matcher: Matcher): void {
  if (matcher.pattern.backtrack === undefined) regexOf(matcher);
  else searcherOf(matcher);
}

function guardOf(matcher: Matcher, words: Uint16Array): OctetDfa {
  matcher.guard ??= octetDfa(words);
  return matcher.guard;
}

function tableOf(matcher: Matcher, words: Uint16Array): OctetDfa {
  matcher.table ??= octetDfa(words);
  return matcher.table;
}

/** @throws PlanFault if the pattern has more than `MAX_LAZY_PROGRAM` instructions */
function lazyOf(matcher: Matcher): LazyDfa {
  if (matcher.lazy === null) {
    const program = readProgram(regexOf(matcher));
    if (program.instructions.length > MAX_LAZY_PROGRAM) throw patternFault(matcher, 'is too large to run');
    matcher.lazy = lazyDfa(program);
  }
  return matcher.lazy;
}

/** Steps of a search for groups for each octet and instruction; `re2js` takes 2 to 20 ns for them. */
const GROUP_STEPS = 4;

/**
 * Returns the groups of the leftmost match: first the whole match, then each group, `null` if it did not take part.
 * Returns `null` if there is no match or the step budget is exhausted.
 */
export function patternGroups(
  matcher: Matcher,
  text: string,
  meter: Meter,
): readonly (string | null)[] | null {
  if (matcher.pattern.backtrack !== undefined) return backtrackGroups(matcher, text, meter);
  const regex = regexOf(matcher);
  meter.left -= GROUP_STEPS * (text.length + 1) * Math.min(matcher.size, MAX_ACTIVE);
  if (meter.left < 0) return null;
  const known = matcher.groups.get(text);
  if (known !== undefined) return known;
  const found = groupsIn(regex, text);
  if (text.length <= MAX_CACHED_TEXT) {
    if (matcher.groups.size >= MAX_CACHED_TEXTS) matcher.groups.clear();
    matcher.groups.set(text, found);
  }
  return found;
}

/** `patternGroups` of a pattern that no automaton matches. */
function backtrackGroups(matcher: Matcher, text: string, meter: Meter): readonly (string | null)[] | null {
  const subject = { octets: octetsOf(text), length: text.length };
  const spans = backtrackSearch(searcherOf(matcher), subject, { meter, captures: true });
  if (spans === null) return null;
  const groups: (string | null)[] = [];
  for (let at = 0; at < spans.length; at += 2) {
    groups.push(spans[at]! < 0 ? null : text.slice(spans[at]!, spans[at + 1]!));
  }
  return groups;
}

/** The longest text, in characters, whose groups are cached: rules that capture mostly inspect header names. */
const MAX_CACHED_TEXT = 128;
/** The most texts in one cache of groups; a full cache is cleared. */
const MAX_CACHED_TEXTS = 256;

function groupsIn(regex: RE2JS, text: string): readonly (string | null)[] | null {
  const found = regex.matcher(text);
  if (!found.find()) return null;
  const groups: (string | null)[] = [];
  for (let group = 0; group <= regex.groupCount(); group++) groups.push(found.group(group));
  return groups;
}

/** The most instructions charged for an octet: patterns that capture rarely have more of them active at once. */
const MAX_ACTIVE = 64;

/** The most instructions of a lazy DFA, which numbers them in 16 bits; the compiler accepts a tenth of that. */
const MAX_LAZY_PROGRAM = 0xffff;

/** @throws PlanFault if `re2js` refuses the pattern, which only a corrupt program contains */
function regexOf(matcher: Matcher): RE2JS {
  const { source, ignoreCase, dotAll } = matcher.pattern;
  if (matcher.regex === null) {
    const flags = (ignoreCase ? RE2JS.CASE_INSENSITIVE : 0) | (dotAll ? RE2JS.DOTALL : 0);
    try {
      matcher.regex = RE2JS.compile(source, flags);
    } catch (error) {
      throw patternFault(matcher, `is invalid: ${error instanceof Error ? error.message : String(error)}`);
    }
    matcher.size = matcher.regex.programSize();
  }
  return matcher.regex;
}

/** The most characters of a pattern that a fault quotes. */
const MAX_QUOTED = 60;

function patternFault({ pattern }: Matcher, reason: string): PlanFault {
  const quoted = pattern.source.slice(0, MAX_QUOTED);
  return new PlanFault('layout', `the signature program is not whole: its pattern \`${quoted}\` ${reason}`);
}

// Runs a DFA that the compiler built (`base/regex/table.ts`) over octets.

/** A compiled DFA with the tables derived from it once. */
interface OctetDfa {
  /** The compiled table; its layout: `base/regex/table.ts`. */
  readonly words: Uint16Array;
  /** By octet, its column in the table. */
  readonly columns: Uint8Array;
  /** The code of the state that ordinary text leads to and stays in. */
  readonly home: number;
  /** Octets that lead from `home` to `home`. */
  readonly stays: Uint8Array;
}

/** The letter q twice: few patterns name it, and two octets lead past what a pattern requires at the start of a text. */
const ORDINARY = [113, 113];

/** Prepares a DFA; `words` is its whole table. */
export function octetDfa(words: Uint16Array): OctetDfa {
  const columns = new Uint8Array(256);
  for (let octet = 0; octet < 0x80; octet++) columns[octet] = words[DFA_ASCII + octet]!;
  const runs = words[DFA_BMP_RUNS]!;
  for (let octet = 0x80, run = 0; octet < 0x100; octet++) {
    while (run + 1 < runs && words[DFA_RUNS + run + 1]! <= octet) run++;
    columns[octet] = words[DFA_RUNS + runs + run]!;
  }
  const table = words[DFA_TABLE]!;
  let home = words[DFA_START]!;
  for (const octet of ORDINARY) {
    if (home > DFA_MATCHED) home = words[table + home + columns[octet]!]!;
  }
  const stays = new Uint8Array(256);
  if (home > DFA_MATCHED) {
    for (let octet = 0; octet < 256; octet++) {
      if (words[table + home + columns[octet]!] === home) stays[octet] = 1;
    }
  }
  return { words, columns, home, stays };
}

/** Searches the first `length` octets; returns how many were read when the match was certain, or -1: no match. */
// PERF: in the general loop each load depends on the one before. Ordinary text stays in `home`, which the octet alone
// decides, so that the processor can execute ahead: 0.7 ns an octet instead of 2.3.
export function octetDfaEnd(dfa: OctetDfa, octets: Uint8Array, length: number): number {
  const { words, columns, home, stays } = dfa;
  const table = words[DFA_TABLE]!;
  let code = words[DFA_START]!;
  let at = 0;
  while (at < length) {
    if (code === home) {
      while (at < length && stays[octets[at]!] === 1) at++;
      if (at === length) break;
    }
    if (code <= DFA_MATCHED) break;
    code = words[table + code + columns[octets[at++]!]!]!;
  }
  if (code === DFA_MATCHED) return at;
  return code > DFA_MATCHED && code < words[DFA_END]! ? length : -1;
}

/** The largest length that `octetDfaShortest` returns, in octets; a larger one would exclude hardly any more values. */
const MAX_SHORTEST = 24;

/** The length in octets of the shortest text that the DFA matches, at most `MAX_SHORTEST`. */
export function octetDfaShortest({ words, columns }: OctetDfa): number {
  const table = words[DFA_TABLE]!;
  const distinct = [...new Set(columns)];
  const seen = new Set([words[DFA_START]!]);
  let codes = [...seen];
  for (let length = 0; length < MAX_SHORTEST; length++) {
    if (codes.some((code) => code !== DFA_DEAD && code < words[DFA_END]!)) return length;
    const next = new Set<number>();
    for (const code of codes) {
      if (code === DFA_DEAD) continue;
      for (const column of distinct) next.add(words[table + code + column]!);
    }
    codes = [...next].filter((code) => !seen.has(code));
    for (const code of codes) seen.add(code);
  }
  return MAX_SHORTEST;
}
