/**
 * An opened plan with its decoded strings and matchers, each decoded at its first use, and look-ups in it: whether a
 * text matches a pattern, which records a host has.
 */
import { dfaMatches } from '../../base/regex/table.ts';
import {
  decodeString,
  GROUP,
  META,
  MONITORED,
  NAME,
  NONE,
  nameHash,
  PATTERN,
  PATTERN_KIND,
  type Plan,
  RECORD,
} from '../plan/layout.ts';
import type { OpenedRegistry } from '../plan/open-registry.ts';
import { hasText, type OpenedList, piecesMatch } from './lists.ts';
import { createConditions, type LoadedConditions } from './loaded-conditions.ts';

/** A pattern ready to run. */
interface LoadedMatcher {
  readonly kind: number;
  /** Text of a literal pattern; source of a regex. */
  readonly text: string;
  /** Pieces of a general wildcard; the first is a prefix, the last a suffix. */
  readonly pieces: readonly string[];
  /** As in the plan's row (PATTERN_KIND): of a regex, the offset of its automaton in `dfas`; of a list, its number. */
  readonly data: number;
}

/** A plan ready to evaluate. */
export interface LoadedPlan {
  readonly plan: Plan;
  readonly revision: number;
  readonly texts: (string | undefined)[];
  readonly matchers: (LoadedMatcher | undefined)[];
  /** `null`: no rule has conditions. */
  readonly conditions: LoadedConditions | null;
  /** By the numbers of their rows in the plan. */
  readonly lists: readonly OpenedList[];
  /** Consumers, usage plans and token issuers; `null`: the domain has none. */
  readonly registry: OpenedRegistry | null;
  /** The last three texts that regexes ran over, latest first: a host, a path, a path without parameters. */
  readonly recent: [RegexMemo, RegexMemo, RegexMemo];
}

/** The results of all regexes on one text, so that a regex that many rules share runs once. */
interface RegexMemo {
  text: string;
  /** Number of the text; grows with every new one. */
  round: number;
  /** By pattern: the round in which it ran, times two, plus one if it matched. */
  readonly verdicts: Float64Array;
}

/** The opened parts of a plan; absent: none. */
interface OpenedParts {
  /** Those that its rules name, in the order of their rows. */
  readonly lists?: readonly OpenedList[];
  readonly registry?: OpenedRegistry | null;
}

/** An opened plan of which nothing is decoded yet. */
export function createLoaded(
  plan: Plan,
  revision: number,
  { lists = [], registry = null }: OpenedParts = {},
): LoadedPlan {
  const patterns = plan.dfas.length === 0 ? 0 : plan.patterns.length / PATTERN.size;
  const memo = (): RegexMemo => ({ text: '', round: 1, verdicts: new Float64Array(patterns) });
  const conditions = createConditions(plan);
  const recent: LoadedPlan['recent'] = [memo(), memo(), memo()];
  return { plan, revision, texts: [], matchers: [], conditions, lists, registry, recent };
}

/** The plan's string at index `number`, decoded once and cached. */
export function textOf(loaded: LoadedPlan, number: number): string {
  const known = loaded.texts[number];
  if (known !== undefined) return known;
  const text = decodeString(loaded.plan, number);
  loaded.texts[number] = text;
  return text;
}

/** The number of a list's entries and then its strings, at `offset` in `words`. */
export function textsAt(loaded: LoadedPlan, offset: number): readonly string[] {
  const { words } = loaded.plan;
  const texts: string[] = [];
  for (let at = offset + 1; at <= offset + words[offset]!; at++) texts.push(textOf(loaded, words[at]!));
  return texts;
}

// Finds the records of a host: the exact name, else the wildcard at the closest encloser (RFC 4592).

/** The number of the host's group, or NONE when no proxied record serves it. */
export function findGroup(loaded: LoadedPlan, host: string): number {
  const { plan } = loaded;
  const domain = textOf(loaded, plan.meta[META.domain]!);
  let row = nameRow(loaded, host, 0);
  if (row >= 0) return plan.names[row + NAME.group]!;
  let at = 0;
  while (host.length - at > domain.length) {
    at = host.indexOf('.', at) + 1;
    if (at === 0) return NONE;
    row = nameRow(loaded, host, at);
    if (row >= 0) return plan.names[row + NAME.wildcard]!;
  }
  return NONE;
}

/** Whether a normalised name has a record of any type, or lies above one. */
export function hasName(loaded: LoadedPlan, name: string): boolean {
  return nameRow(loaded, name, 0) >= 0;
}

/** Whether a record of a normalised host has `monitor: true`. */
export function isMonitored(loaded: LoadedPlan, host: string): boolean {
  const { meta, words } = loaded.plan;
  if ((meta[META.switches]! & MONITORED) === 0) return false;
  const group = findGroup(loaded, host);
  if (group === NONE) return false;
  const at = words[meta[META.groups]! + group]!;
  return words[at + GROUP.records + words[at + GROUP.count]! * RECORD.size] === 1;
}

/** Names of proxied records, at most so many, in no order; `*.` before a name: all hosts below it. */
export function servedHosts(loaded: LoadedPlan, most: number): readonly string[] {
  const { names, meta } = loaded.plan;
  const hosts: string[] = [];
  const end = meta[META.nameSlots]! * NAME.size;
  for (let row = 0; row < end && hosts.length < most; row += NAME.size) {
    const name = names[row + NAME.string]!;
    if (name !== 0 && names[row + NAME.group] !== NONE) hosts.push(textOf(loaded, name));
  }
  return hosts;
}

/** The row of the name that `host` is from `at` on, or -1. */
function nameRow(loaded: LoadedPlan, host: string, at: number): number {
  const { names, meta } = loaded.plan;
  const mask = meta[META.nameSlots]! - 1;
  for (let slot = nameHash(host, at) & mask; ; slot = (slot + 1) & mask) {
    const row = slot * NAME.size;
    const name = names[row + NAME.string]!;
    if (name === 0) return -1;
    const text = textOf(loaded, name);
    if (text.length === host.length - at && host.endsWith(text)) return row;
  }
}

// Tests a text against a pattern of the plan.

/** Pattern `number`, decoded at its first use. */
export function matcherOf(loaded: LoadedPlan, number: number): LoadedMatcher {
  const known = loaded.matchers[number];
  if (known !== undefined) return known;
  const { patterns } = loaded.plan;
  const row = number * PATTERN.size;
  const kind = patterns[row + PATTERN.kind]!;
  const data = patterns[row + PATTERN.data]!;
  const isRegex = kind === PATTERN_KIND.dfa;
  const isPieces = kind === PATTERN_KIND.pieces;
  const isNumber = isPieces || kind === PATTERN_KIND.list;
  const text = isRegex ? patterns[row + PATTERN.source]! : isNumber ? 0 : data;
  const matcher: LoadedMatcher = {
    kind,
    text: textOf(loaded, text),
    pieces: isPieces ? textsAt(loaded, data) : [],
    data,
  };
  loaded.matchers[number] = matcher;
  return matcher;
}

/** The entry as the customer wrote it. */
export function sourceOf(loaded: LoadedPlan, number: number): string {
  return textOf(loaded, loaded.plan.patterns[number * PATTERN.size + PATTERN.source]!);
}

/** Whether pattern `number` matches the whole of `text` (wildcards) or somewhere in it (regexes). */
export function patternMatches(loaded: LoadedPlan, number: number, text: string): boolean {
  const matcher = matcherOf(loaded, number);
  switch (matcher.kind) {
    case PATTERN_KIND.any:
      return true;
    case PATTERN_KIND.exact:
      return text === matcher.text;
    case PATTERN_KIND.prefix:
      return text.startsWith(matcher.text);
    case PATTERN_KIND.suffix:
      return text.endsWith(matcher.text);
    case PATTERN_KIND.contains:
      return text.includes(matcher.text);
    case PATTERN_KIND.pieces:
      return piecesMatch(matcher.pieces, text);
    case PATTERN_KIND.list:
      return hasText(loaded.lists[matcher.data]!, text);
    default:
      return regexMatches(loaded, number, text);
  }
}

/** Runs the automaton of a regex, at most once per text. */
function regexMatches(loaded: LoadedPlan, number: number, text: string): boolean {
  const memo = memoOf(loaded, text);
  const verdict = memo.verdicts[number]!;
  if (verdict >= memo.round * 2) return verdict % 2 === 1;
  const matched = dfaMatches(loaded.plan.dfas, matcherOf(loaded, number).data, text);
  memo.verdicts[number] = memo.round * 2 + (matched ? 1 : 0);
  return matched;
}

/** The memo of `text`; a new text replaces the least recently used of the three. */
function memoOf(loaded: LoadedPlan, text: string): RegexMemo {
  const { recent } = loaded;
  const [last, before, oldest] = recent;
  if (last.text === text) return last;
  recent[1] = last;
  if (before.text === text) {
    recent[0] = before;
    return before;
  }
  recent[0] = oldest;
  recent[2] = before;
  if (oldest.text !== text) {
    oldest.text = text;
    oldest.round++;
  }
  return oldest;
}
