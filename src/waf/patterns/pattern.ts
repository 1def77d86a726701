/**
 * A program's patterns at run time. Whether one matches is told by a DFA: the one built ahead of time where there is
 * one, else one that is built while it runs. Groups are `re2js`' to find, and rarely asked for.
 */
import { RE2JS } from 're2js';
import { readProgram } from '../../base/regex/program.ts';
import { PlanFault } from '../../plan/fault.ts';
import type { WafPattern } from '../../plan/signature-program.ts';
import type { Meter } from '../octets/meter.ts';
import { octetsOf } from '../octets/octet-buffer.ts';
import { type LazyDfa, lazyDfa, lazyDfaEnd } from './lazy-dfa.ts';
import { type OctetDfa, octetDfa, octetDfaEnd, octetDfaShortest } from './octet-dfa.ts';

/** A pattern, and what was made of it so far: engines are made at their first use. */
export interface Matcher {
  readonly pattern: WafPattern;
  table: OctetDfa | null;
  guard: OctetDfa | null;
  lazy: LazyDfa | null;
  regex: RE2JS | null;
  /** Instructions of the pattern. */
  size: number;
  /** Groups of short texts found lately; `null`: no match. */
  readonly groups: Map<string, readonly (string | null)[] | null>;
}

/** What a pattern is asked about. */
export interface PatternSubject {
  readonly text: string;
  /** The kinds of its octets (`shape.ts`). */
  readonly shape: number;
}

export function matcherOf(pattern: WafPattern): Matcher {
  return {
    pattern,
    table: null,
    guard: null,
    lazy: null,
    regex: null,
    size: 0,
    groups: new Map(),
  };
}

/** Whether the pattern may match a text of this shape. */
export function mayMatch({ pattern: { needed } }: Matcher, shape: number): boolean {
  return needed === ANY_SHAPE || (shape & needed) !== 0;
}

const ANY_SHAPE = -1;

/**
 * Whether it is known without the pattern's own engine that it does not match: by the kinds of octets, or by its guard. In doubt, as when the meter
 * has run out, it is not known.
 */
export function isRuledOut(matcher: Matcher, { text, shape }: PatternSubject, meter: Meter): boolean {
  if (!mayMatch(matcher, shape)) return true;
  const { guard } = matcher.pattern;
  if (guard === undefined) return false;
  meter.left -= text.length + 1;
  if (meter.left < 0) return false;
  return octetDfaEnd(guardOf(matcher, guard), octetsOf(text), text.length) < 0;
}

/** Whether the pattern is run by a DFA that is built while it runs. */
export function isLazy({ pattern }: Matcher): boolean {
  return pattern.dfa === null;
}

/** Whether the pattern matches anywhere in a Latin-1 text; `false` also when the meter has run out. */
export function patternMatches(matcher: Matcher, { text, shape }: PatternSubject, meter: Meter): boolean {
  return mayMatch(matcher, shape) && patternEnd(matcher, text, meter) >= 0;
}

/** How much of the text was read when a match was known of; -1: there is none, or the meter has run out. */
export function patternEnd(matcher: Matcher, text: string, meter: Meter): number {
  const { length } = text;
  meter.left -= length + 1;
  if (meter.left < 0) return -1;
  const octets = octetsOf(text);
  const { dfa } = matcher.pattern;
  if (dfa !== null) return octetDfaEnd(tableOf(matcher, dfa), octets, length);
  return lazyDfaEnd(lazyOf(matcher), { octets, length }, meter);
}

/** Octets of the shortest text that the pattern may match. */
export function shortestMatch(matcher: Matcher): number {
  const { dfa, guard } = matcher.pattern;
  if (dfa !== null) return octetDfaShortest(tableOf(matcher, dfa));
  return guard === undefined ? 0 : octetDfaShortest(guardOf(matcher, guard));
}

/** Makes what tells whether the pattern matches, where that is still to be made. */
export function prepareMatcher(matcher: Matcher): void {
  const { dfa, guard } = matcher.pattern;
  if (guard !== undefined) guardOf(matcher, guard);
  if (dfa !== null) tableOf(matcher, dfa);
  else lazyOf(matcher);
}

/** Makes what finds the pattern's groups. */
export function prepareGroups(matcher: Matcher): void {
  regexOf(matcher);
}

function guardOf(matcher: Matcher, words: Uint16Array): OctetDfa {
  matcher.guard ??= octetDfa(words);
  return matcher.guard;
}

function tableOf(matcher: Matcher, words: Uint16Array): OctetDfa {
  matcher.table ??= octetDfa(words);
  return matcher.table;
}

function lazyOf(matcher: Matcher): LazyDfa {
  if (matcher.lazy === null) {
    const program = readProgram(regexOf(matcher));
    if (program.instructions.length > MAX_LAZY_PROGRAM) throw patternFault(matcher, 'is too large to run');
    matcher.lazy = lazyDfa(program);
  }
  return matcher.lazy;
}

/** Steps that finding groups costs for each octet and instruction: `re2js` takes 2 to 20 ns. */
const GROUP_STEPS = 4;

/**
 * The groups of the leftmost match, the whole match first; those that took no part are `null`. `null`: no match, or the
 * meter has run out.
 */
export function patternGroups(
  matcher: Matcher,
  text: string,
  meter: Meter,
): readonly (string | null)[] | null {
  const regex = regexOf(matcher);
  meter.left -= GROUP_STEPS * (text.length + 1) * Math.min(matcher.size, MAX_ACTIVE);
  if (meter.left < 0) return null;
  const known = matcher.groups.get(text);
  if (known !== undefined) return known;
  const found = groupsIn(regex, text);
  if (text.length <= MAX_REMEMBERED_TEXT) {
    if (matcher.groups.size >= MAX_REMEMBERED_TEXTS) matcher.groups.clear();
    matcher.groups.set(text, found);
  }
  return found;
}

/** The names of headers and their like, which rules that capture look at, are short and always the same. */
const MAX_REMEMBERED_TEXT = 128;
const MAX_REMEMBERED_TEXTS = 256;

function groupsIn(regex: RE2JS, text: string): readonly (string | null)[] | null {
  const found = regex.matcher(text);
  if (!found.find()) return null;
  const groups: (string | null)[] = [];
  for (let group = 0; group <= regex.groupCount(); group++) groups.push(found.group(group));
  return groups;
}

/** Instructions that are active at once, in patterns that capture: more are rare. */
const MAX_ACTIVE = 64;

/** Instructions that `lazy-dfa.ts` can number; the compiler's patterns have a tenth. */
const MAX_LAZY_PROGRAM = 0xffff;

/** @throws PlanFault where the source is no pattern, which the compiler lets none be */
function regexOf(matcher: Matcher): RE2JS {
  const { source, ignoreCase, dotAll } = matcher.pattern;
  if (matcher.regex === null) {
    const flags = (ignoreCase ? RE2JS.CASE_INSENSITIVE : 0) | (dotAll ? RE2JS.DOTALL : 0);
    try {
      matcher.regex = RE2JS.compile(source, flags);
    } catch (error) {
      throw patternFault(matcher, `is none: ${error instanceof Error ? error.message : String(error)}`);
    }
    matcher.size = matcher.regex.programSize();
  }
  return matcher.regex;
}

/** Characters of a pattern that a fault shows. */
const MAX_TOLD = 60;

function patternFault({ pattern }: Matcher, what: string): PlanFault {
  const told = pattern.source.slice(0, MAX_TOLD);
  return new PlanFault('layout', `the signature program is not whole: its pattern \`${told}\` ${what}`);
}
