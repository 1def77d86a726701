/**
 * Texts for the value of a header, a query parameter or a cookie. In: comparisons that the text must meet and must not meet. Out: a
 * shortest text that does, by a walk over the automata of all of them; or `null`, if none was found within the budget.
 */
import { lowerAscii } from '../../base/octets/octets.ts';
import { dfaMatches } from '../../base/regex/table.ts';
import type { ValueComparison, ValueMember } from '../../base/vocabulary/vocabulary.ts';
import { createPatternPool, placePattern, VALUE_PIECES } from '../../engine/compiler/patterns.ts';
import { type LetterAutomaton, type Letters, sealAutomaton } from '../proofs/space/automaton.ts';
import { createBudget, createRoom } from '../proofs/space/budget.ts';
import { createPatternSet, type PatternSet, type PlanPattern } from '../proofs/space/language.ts';
import { findText, spell } from '../proofs/space/search.ts';

/** A comparison with values, any of which suffices. */
export interface ComparedValues {
  readonly comparison: ValueComparison;
  readonly values: readonly string[];
  readonly ignoreCase: boolean;
}

/** What a text must meet, all of it, and what it must not meet, none of it. */
export interface ValueDemand {
  readonly member: ValueMember;
  readonly within: readonly ComparedValues[];
  readonly outside: readonly ComparedValues[];
}

/** Steps of one search: some 50 ms. */
const MAX_SAMPLE_STEPS = 200_000;
/** Choices of one value of each comparison that are tried. */
const MAX_CHOICES = 16;

/** A text that meets the demand, as short as possible but not empty if that can be avoided; `null`: none was found. */
export function sampleValue({ member, within, outside }: ValueDemand): string | null {
  const wanted = within.map(patternsOf);
  const unwanted = outside.flatMap(patternsOf);
  const set = createPatternSet([...wanted.flat(), ...unwanted], { literals: LITERALS, room: createRoom() });
  const avoided = automataOf(unwanted, set);
  if (avoided === null) return null;
  for (const mayBeEmpty of [false, true]) {
    const writable = writableTexts(set.letters, { member, mayBeEmpty });
    for (const choice of choicesOf(wanted)) {
      const chosen = automataOf(choice, set);
      if (chosen === null) return null;
      const query = { within: [writable, ...chosen], outside: avoided };
      const found = findText(query, set.letters, createBudget(MAX_SAMPLE_STEPS));
      const text = found.kind === 'text' ? spell(found.letters, set.letters) : null;
      // Folding maps letters together, which the automata do not: what they found is compared once more.
      if (
        text !== null &&
        within.every((one) => meets(one, text)) &&
        !outside.some((one) => meets(one, text))
      )
        return text;
    }
  }
  return null;
}

/** Whether a text meets a comparison, as the evaluator compares it. */
export function meets({ comparison, values, ignoreCase }: ComparedValues, text: string): boolean {
  const compared = ignoreCase && comparison !== 'regex' ? lowerAscii(text) : text;
  return patternsOf({ comparison, values, ignoreCase }).some(({ table, alternatives }) =>
    table === null
      ? (alternatives ?? []).some((pieces) => matchesPieces(pieces, compared))
      : dfaMatches(table, 0, compared),
  );
}

/** Whether a text is the first piece, then the inner ones in their order, and the last at its end. */
function matchesPieces([head = '', ...rest]: readonly string[], text: string): boolean {
  const tail = rest.pop();
  if (tail === undefined) return text === head;
  if (!text.startsWith(head)) return false;
  let at = head.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return text.length - tail.length >= at && text.endsWith(tail);
}

/** The pattern of each value, as the compiler makes it. */
function patternsOf({ comparison, values, ignoreCase }: ComparedValues): readonly PlanPattern[] {
  return values.map((value): PlanPattern => {
    const name = `${comparison} ${ignoreCase} ${value}`;
    if (comparison === 'regex') {
      const pool = createPatternPool();
      const number = placePattern(pool, ignoreCase ? 'value_regex_fold' : 'value_regex', value);
      return { name, alternatives: null, table: pool.list[number]!.dfa };
    }
    const pieces = VALUE_PIECES[comparison](ignoreCase ? lowerAscii(value) : value);
    const last = pieces.length - 1;
    const inner = pieces.filter((piece, place) => place === 0 || place === last || piece !== '');
    return { name, alternatives: [inner], table: null };
  });
}

function automataOf(patterns: readonly PlanPattern[], set: PatternSet): readonly LetterAutomaton[] | null {
  const automata = patterns.map((pattern) => set.automatonOf(pattern));
  return automata.every((one) => one !== null) ? automata : null;
}

/** One value of each comparison, the first ones first. */
function choicesOf(wanted: readonly (readonly PlanPattern[])[]): readonly (readonly PlanPattern[])[] {
  let choices: readonly (readonly PlanPattern[])[] = [[]];
  for (const patterns of wanted)
    choices = patterns.flatMap((pattern) => choices.map((one) => [...one, pattern])).slice(0, MAX_CHOICES);
  return choices;
}

/** Characters that the texts of a request treat apart, so that each is a letter of its own. */
const LITERALS = [' ', ';'];

/** The texts that a request can have as a value: visible characters, with blanks inside; no `;` in cookies; all in queries. */
function writableTexts(
  letters: Letters,
  { member, mayBeEmpty }: { readonly member: ValueMember; readonly mayBeEmpty: boolean },
): LetterAutomaton {
  const [start, text, blank, dead] = [0, 1, 2, 3];
  const next = new Int32Array(4 * letters.count).fill(dead);
  for (const [letter, sample] of letters.samples.entries()) {
    const isBlank = sample === ' ' && member !== 'query';
    const isWritable = member === 'query' ? sample !== '' : /^[\x21-\x7e\xa1-\xff]$/.test(sample);
    if (!(isBlank || isWritable) || (sample === ';' && member === 'cookies')) continue;
    const after = isBlank ? blank : text;
    if (!isBlank) next[start * letters.count + letter] = after;
    for (const state of [text, blank]) next[state * letters.count + letter] = after;
  }
  const accepts = Uint8Array.of(mayBeEmpty ? 1 : 0, 1, 0, 0);
  return sealAutomaton({ states: 4, start, next, accepts });
}
