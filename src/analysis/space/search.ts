/**
 * Searches for a text that is in some languages and in none of others: a breadth-first walk over the product of their
 * automata, built as far as the walk goes. It ends with a shortest text, with the proof that there is none, or at its budget.
 */
import { acceptsLetters, FATE, type LetterAutomaton } from './automaton.ts';
import type { Budget } from './budget.ts';
import type { Letters } from './letters.ts';
import { MAX_SEARCH_STATES } from './limits.ts';

/** What a text must and must not be in. */
export interface TextQuery {
  readonly within: readonly LetterAutomaton[];
  readonly outside: readonly LetterAutomaton[];
}

/** A text as letters, `empty` if no text fulfils the query, `unknown` if the budget ended. */
export type TextResult =
  | { readonly kind: 'text'; readonly letters: readonly number[] }
  | { readonly kind: 'empty' }
  | { readonly kind: 'unknown' };

/** A product of states, and how the walk came to it. */
interface Visit {
  readonly states: Int32Array;
  readonly from: number;
  readonly letter: number;
}

/** A state of an automaton that needs no more attention: `within` accepts, or `outside` refuses, whatever follows. */
const SETTLED = -1;

/** Searches. */
export function findText({ within, outside }: TextQuery, letters: Letters, budget: Budget): TextResult {
  const automata = [...within, ...outside];
  const inner = within.length;
  const start = settle(
    Int32Array.from(automata, (automaton) => automaton.start),
    automata,
    inner,
  );
  if (start === null) return { kind: 'empty' };
  const visits: Visit[] = [{ states: start, from: -1, letter: -1 }];
  const seen = new Set<string>([start.join(' ')]);
  for (let index = 0; index < visits.length; index++) {
    if (index > MAX_SEARCH_STATES || !budget.take(automata.length)) return { kind: 'unknown' };
    const { states } = visits[index]!;
    if (isAccepted(states, automata, inner)) return { kind: 'text', letters: spelled(visits, index) };
    for (const letter of letters.preferred) {
      const stepped = states.map((state, at) =>
        state === SETTLED ? state : automata[at]!.next[state * letters.count + letter]!,
      );
      const after = settle(stepped, automata, inner);
      if (after === null) continue;
      const key = after.join(' ');
      if (seen.has(key)) continue;
      seen.add(key);
      visits.push({ states: after, from: index, letter });
    }
  }
  return { kind: 'empty' };
}

/** Replaces settled states. `null`: no continuation fulfils the query. Changes `states`. */
function settle(states: Int32Array, automata: readonly LetterAutomaton[], inner: number): Int32Array | null {
  for (let at = 0; at < states.length; at++) {
    const state = states[at]!;
    if (state === SETTLED) continue;
    const fate = automata[at]!.fate[state];
    if (fate === FATE.open) continue;
    if ((fate === FATE.dead) === at < inner) return null;
    states[at] = SETTLED;
  }
  return states;
}

function isAccepted(states: Int32Array, automata: readonly LetterAutomaton[], inner: number): boolean {
  for (let at = 0; at < states.length; at++) {
    const state = states[at]!;
    if (state !== SETTLED && (automata[at]!.accepts[state] === 1) !== at < inner) return false;
  }
  return true;
}

function spelled(visits: readonly Visit[], index: number): readonly number[] {
  const text: number[] = [];
  for (let at = index; visits[at]!.from >= 0; at = visits[at]!.from) text.push(visits[at]!.letter);
  return text.reverse();
}

/** Whether a text fulfils the query. */
export function fulfils(text: readonly number[], { within, outside }: TextQuery): boolean {
  return (
    within.every((automaton) => acceptsLetters(automaton, text)) &&
    !outside.some((automaton) => acceptsLetters(automaton, text))
  );
}

/** Letters as text. */
export function spell(text: readonly number[], letters: Letters): string {
  return text.map((letter) => letters.samples[letter]).join('');
}
