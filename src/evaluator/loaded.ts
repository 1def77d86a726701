/** An opened plan with what has been decoded of it so far. Strings and matchers are decoded at their first use. */
import type { Plan } from '../plan/layout.ts';

/** A pattern ready to run. */
export interface Matcher {
  readonly kind: number;
  /** Text of a literal pattern; source of a regex. */
  readonly text: string;
  /** Pieces of a general wildcard; the first is a prefix, the last a suffix. */
  readonly pieces: readonly string[];
  /** Offset of the automaton, or whether case is ignored. */
  readonly data: number;
}

export interface LoadedPlan {
  readonly plan: Plan;
  readonly revision: number;
  readonly texts: (string | undefined)[];
  readonly matchers: (Matcher | undefined)[];
}

export function createLoaded(plan: Plan, revision: number): LoadedPlan {
  return { plan, revision, texts: [], matchers: [] };
}

/** Characters turned into a string at a time; more would overflow the stack of arguments. */
const CHUNK = 4096;

/** String `number` of the plan. */
export function textOf(loaded: LoadedPlan, number: number): string {
  const known = loaded.texts[number];
  if (known !== undefined) return known;
  const offset = loaded.plan.strings[number * 2]!;
  const tagged = loaded.plan.strings[number * 2 + 1]!;
  const units = (tagged & 1) === 1 ? loaded.plan.text16 : loaded.plan.text8;
  const end = offset + (tagged >>> 1);
  let text = '';
  for (let at = offset; at < end; at += CHUNK) {
    text += String.fromCharCode(...units.subarray(at, Math.min(end, at + CHUNK)));
  }
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

