/**
 * Searches for a text that is in some languages and in none of others: a breadth-first walk over the product of their
 * automata, built as far as the walk goes. It ends with a shortest text, with the proof that no text fulfils the query, or at its budget.
 */
import { acceptsLetters, alikeLetters, FATE, type LetterAutomaton, type Letters } from './automaton.ts';
import { createBudget, type StepBudget } from './budget.ts';
import type { Language } from './language.ts';

/** States visited by one search for a path. About 0.1 s. */
const MAX_SEARCH_STATES = 20_000;

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

/** A state of an automaton that needs no more attention: `within` accepts, or `outside` refuses, whatever follows. */
const SETTLED = -1;
/** No state: `scratch` is no product that was visited. */
const UNSET = -3;
/** What a step returns if no continuation fulfils the query, and if the product was visited before. */
const HOPELESS = -1;
const KNOWN = -2;

/**
 * The products visited so far, numbered from 0 in the order of the walk.
 * PERF: their states lie side by side in one array and are found by an open hash table, so that a step allocates nothing; a
 * key of text for each product took most of the time of all proofs.
 */
interface Visits {
  /** Automata of a product. */
  readonly width: number;
  states: Int32Array;
  readonly from: number[];
  readonly letter: number[];
  /** Numbers of products plus one, by hash; 0: free. */
  table: Int32Array;
}

/** Searches. */
export function findText({ within, outside }: TextQuery, letters: Letters, budget: StepBudget): TextResult {
  const automata = [...within, ...outside];
  const inner = within.length;
  const visits: Visits = {
    width: automata.length,
    states: new Int32Array(64 * automata.length),
    from: [],
    letter: [],
    table: new Int32Array(256),
  };
  const distinct = distinctLetters(automata, letters);
  const scratch = Int32Array.from(automata, ({ start }) => start);
  if (!settle(scratch, automata, inner)) return { kind: 'empty' };
  visit(visits, scratch, { from: -1, letter: -1 });
  for (let index = 0; index < visits.from.length; index++) {
    if (index > MAX_SEARCH_STATES || !budget.take(automata.length)) return { kind: 'unknown' };
    if (isAccepted(visits, index, { automata, inner })) {
      return { kind: 'text', letters: spelled(visits, index) };
    }
    for (const letter of distinct)
      step(visits, { index, letter, count: letters.count, automata, inner, scratch });
  }
  return { kind: 'empty' };
}

/** By automaton: for each letter a number that is equal for letters between which it makes no difference. */
const columnsOf = new WeakMap<LetterAutomaton, Int32Array>();

function columns(automaton: LetterAutomaton, count: number): Int32Array {
  const known = columnsOf.get(automaton);
  if (known !== undefined) return known;
  const made = alikeLetters([automaton], count);
  columnsOf.set(automaton, made);
  return made;
}

/** One letter, the preferred one, of all between which no automaton makes a difference. */
function distinctLetters(automata: readonly LetterAutomaton[], letters: Letters): readonly number[] {
  const all = automata.map((automaton) => columns(automaton, letters.count));
  const seen = new Set<string>();
  return letters.preferred.filter((letter) => {
    const key = all.map((numbers) => numbers[letter]).join(' ');
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/** What a step reads, and where it works. */
interface Step {
  readonly index: number;
  readonly letter: number;
  /** Letters of the alphabet. */
  readonly count: number;
  readonly automata: readonly LetterAutomaton[];
  readonly inner: number;
  readonly scratch: Int32Array;
}

/** Visits the product after one more letter. */
function step(visits: Visits, { index, letter, count, automata, inner, scratch }: Step): number {
  const { width, states } = visits;
  const row = index * width;
  // PERF: most letters lead back to the product itself, or to that of the letter before; neither needs the table.
  let isSelf = true;
  let isLast = true;
  for (let at = 0; at < width; at++) {
    const state = states[row + at]!;
    let after = SETTLED;
    if (state !== SETTLED) {
      const { next, fate } = automata[at]!;
      after = next[state * count + letter]!;
      const verdict = fate[after];
      if (verdict !== FATE.open) {
        if ((verdict === FATE.dead) === at < inner) {
          // What is in `scratch` now was not visited.
          scratch[0] = UNSET;
          return HOPELESS;
        }
        after = SETTLED;
      }
    }
    isSelf &&= after === state;
    isLast &&= after === scratch[at];
    scratch[at] = after;
  }
  return isSelf || isLast ? KNOWN : visit(visits, scratch, { from: index, letter });
}

/** Numbers a product, unless it has a number. */
function visit(
  visits: Visits,
  product: Int32Array,
  { from, letter }: { readonly from: number; readonly letter: number },
): number {
  const { width } = visits;
  const count = visits.from.length;
  if (count * 2 >= visits.table.length) rehash(visits);
  let place = hashOf(product, 0, width) & (visits.table.length - 1);
  for (let number = visits.table[place]!; number !== 0; number = visits.table[place]!) {
    if (isSame(visits, number - 1, product)) return KNOWN;
    place = (place + 1) & (visits.table.length - 1);
  }
  if ((count + 1) * width > visits.states.length) {
    const wider = new Int32Array(visits.states.length * 2);
    wider.set(visits.states);
    visits.states = wider;
  }
  visits.states.set(product, count * width);
  visits.table[place] = count + 1;
  visits.from.push(from);
  visits.letter.push(letter);
  return count;
}

function isSame({ width, states }: Visits, number: number, product: Int32Array): boolean {
  for (let at = 0; at < width; at++) if (states[number * width + at] !== product[at]) return false;
  return true;
}

/** FNV-1a over the states. */
function hashOf(states: Int32Array, from: number, width: number): number {
  let hash = 0x811c9dc5;
  for (let at = from; at < from + width; at++) hash = Math.imul(hash ^ states[at]!, 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}

function rehash(visits: Visits): void {
  const { width, states, from } = visits;
  const table = new Int32Array(visits.table.length * 4);
  for (let number = 0; number < from.length; number++) {
    let place = hashOf(states, number * width, width) & (table.length - 1);
    while (table[place] !== 0) place = (place + 1) & (table.length - 1);
    table[place] = number + 1;
  }
  visits.table = table;
}

/** Replaces settled states; false: no continuation fulfils the query. */
function settle(states: Int32Array, automata: readonly LetterAutomaton[], inner: number): boolean {
  for (let at = 0; at < states.length; at++) {
    const fate = automata[at]!.fate[states[at]!];
    if (fate === FATE.open) continue;
    if ((fate === FATE.dead) === at < inner) return false;
    states[at] = SETTLED;
  }
  return true;
}

function isAccepted(
  { width, states }: Visits,
  index: number,
  { automata, inner }: Pick<Step, 'automata' | 'inner'>,
): boolean {
  for (let at = 0; at < width; at++) {
    const state = states[index * width + at]!;
    if (state !== SETTLED && (automata[at]!.accepts[state] === 1) !== at < inner) return false;
  }
  return true;
}

function spelled({ from, letter }: Visits, index: number): readonly number[] {
  const text: number[] = [];
  for (let at = index; from[at]! >= 0; at = from[at]!) text.push(letter[at]!);
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

// Paths that are tried before a search: most questions have an answer among them.

/** Automata visited while the shortest path of a language is searched; a longer search is left to the question itself. */
const PROBE_STEPS = 2_000;

/** Returns the probes of a language, or of all paths: short ones, with characters that no pattern names where possible. */
export function createProbes(
  canonical: LetterAutomaton,
  letters: Letters,
): (paths: Language | null) => readonly (readonly number[])[] {
  const slash = letters.letterOf(0x2f);
  const fresh = letters.preferred[0]!;
  const endings = [[], [fresh], [fresh, fresh], [slash, fresh], [fresh, slash, fresh], [slash]];
  const cache = new Map<string, readonly (readonly number[])[]>();
  return (paths) => {
    const name = paths === null ? '' : paths.name;
    const known = cache.get(name);
    if (known !== undefined) return known;
    const within = paths === null ? [canonical] : [canonical, paths.automaton];
    const shortest = findText({ within, outside: [] }, letters, createBudget(PROBE_STEPS));
    const made =
      shortest.kind === 'text'
        ? endings
            .map((ending) => [...shortest.letters, ...ending])
            .filter((text) => fulfils(text, { within, outside: [] }))
        : [];
    cache.set(name, made);
    return made;
  };
}
