/** An opened plan with its decoded strings and matchers; each is decoded at its first use. */
import { PATTERN, type Plan } from '../plan/layout.ts';
import { decodeString } from '../plan/strings.ts';

/** A pattern ready to run. */
export interface LoadedMatcher {
  readonly kind: number;
  /** Text of a literal pattern; source of a regex. */
  readonly text: string;
  /** Pieces of a general wildcard; the first is a prefix, the last a suffix. */
  readonly pieces: readonly string[];
  /** As in the plan's row (PATTERN_KIND): of a regex, the offset of its automaton in `dfas`. */
  readonly data: number;
}

/** A plan ready to evaluate. */
export interface LoadedPlan {
  readonly plan: Plan;
  readonly revision: number;
  readonly texts: (string | undefined)[];
  readonly matchers: (LoadedMatcher | undefined)[];
  /** The last three texts that regexes ran over, latest first: a host, a path, a path without parameters. */
  readonly recent: [RegexMemo, RegexMemo, RegexMemo];
}

/** The results of all regexes on one text, so that a regex that many rules share runs once. */
export interface RegexMemo {
  text: string;
  /** Number of the text; grows with every new one. */
  round: number;
  /** By pattern: the round in which it ran, times two, plus one if it matched. */
  readonly verdicts: Float64Array;
}

/** An opened plan of which nothing is decoded yet. */
export function createLoaded(plan: Plan, revision: number): LoadedPlan {
  const patterns = plan.dfas.length === 0 ? 0 : plan.patterns.length / PATTERN.size;
  const memo = (): RegexMemo => ({ text: '', round: 1, verdicts: new Float64Array(patterns) });
  return { plan, revision, texts: [], matchers: [], recent: [memo(), memo(), memo()] };
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
