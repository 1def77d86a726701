/**
 * The patterns of plans as automata over one alphabet, and the paths that a filter matches, as one automaton over
 * canonical paths. Patterns of equal kind and text share one automaton. A path with `;params` has two forms, as sent and
 * without parameters (semantics §1.1); the automaton of a filter reads the path and follows each pattern over both forms
 * at once.
 */
import { DFA_LENGTH } from '../../../base/regex/table.ts';
import type { OpenedList } from '../../../engine/evaluator/lists.ts';
import { type LoadedPlan, textOf, textsAt } from '../../../engine/evaluator/loaded.ts';
import { FILTER, NONE, PATTERN, PATTERN_KIND } from '../../../engine/plan/layout.ts';
import {
  alikeLetters,
  createLetters,
  FATE,
  type LetterAutomaton,
  type Letters,
  type RawAutomaton,
  regexAutomaton,
  sealAutomaton,
  wildcardAutomaton,
} from './automaton.ts';
import type { SpaceRoom } from './budget.ts';
import { alternativesOf, type ListedWildcards, listOfPattern } from './lists.ts';
import { entriesOf, type PlanTerm } from './terms.ts';
import { unionAutomaton } from './union.ts';

/** States of the automaton of one path filter. Ordinary filters need fewer than 100. */
const MAX_PATH_STATES = 4_000;
/** The same with a list among its entries, which has a state for nearly each of its characters, thrice where `;` may follow. */
const MAX_LISTED_STATES = 60_000;
/** A letter of such a state counts as so many steps, so that a dozen filters that are too complex end the building of others. */
const LISTED_WORK = 4;

/** A path filter with its patterns as automata. */
export interface PatternFilter {
  readonly includes: readonly LetterAutomaton[];
  readonly excludes: readonly LetterAutomaton[];
  /** An include entry must match both forms of a path, and an exclude entry one; otherwise the reverse. */
  readonly bothForms: boolean;
  /** A list is among the entries. */
  readonly isListed?: boolean;
}

/** The alphabet of automata, and what they may take. */
export interface Building {
  readonly letters: Letters;
  readonly room: SpaceRoom;
}

/** A set of texts; equal names mean equal sets. */
export interface Language {
  readonly name: string;
  readonly automaton: LetterAutomaton;
}

/** A pattern's state that decides it for every continuation. */
const NEVER = -1;
const ALWAYS = -2;
/** Where a path is: no `;` so far, after a parameter, in one. */
const PLAIN = 0;
const AFTER = 1;
const WITHIN = 2;

/** A state of the filter: of each pattern over the path, then of each over the path without parameters. */
interface FilterState {
  readonly mode: typeof PLAIN | typeof AFTER | typeof WITHIN;
  readonly raw: Int32Array;
  readonly stripped: Int32Array;
}

/** What the states of the patterns say: `null` if it depends on what follows. */
type Verdict = boolean | null;

/** The automaton of a filter. `null`: it would have too many states, or more than the space may take. */
export function filterAutomaton(filter: PatternFilter, { letters, room }: Building): LetterAutomaton | null {
  const patterns = [...filter.includes, ...filter.excludes];
  const [semicolon, slash] = [letters.letterOf(0x3b), letters.letterOf(0x2f)];
  const alike = alikeLetters(patterns, letters.count, [semicolon, slash]);
  const starts = Int32Array.from(patterns, (pattern) => settled(pattern, pattern.start));
  const table = new Map<string, number>();
  const states: FilterState[] = [];
  const numberOf = (state: FilterState): number => {
    const fixed = verdictOf(filter, state);
    const key = fixed === null ? keyOf(state) : String(fixed);
    const known = table.get(key);
    if (known !== undefined) return known;
    table.set(key, states.length);
    states.push(state);
    return states.length - 1;
  };
  numberOf({ mode: PLAIN, raw: starts, stripped: starts });
  const rows: number[] = [];
  const isListed = filter.isListed === true;
  const work = Math.max(1, letters.count * patterns.length) * (isListed ? LISTED_WORK : 1);
  const most = isListed ? MAX_LISTED_STATES : MAX_PATH_STATES;
  for (let number = 0; number < states.length; number++) {
    if (states.length > most || !room.takeWork(work)) return null;
    const state = states[number]!;
    const isFixed = verdictOf(filter, state) !== null;
    const row = rows.length;
    for (let letter = 0; letter < letters.count; letter++) {
      const first = alike[letter]!;
      if (isFixed) rows.push(number);
      else if (first < letter) rows.push(rows[row + first]!);
      else rows.push(numberOf(advance(state, letter, { patterns, semicolon, slash })));
    }
  }
  if (!room.takeCells(rows.length)) return null;
  const accepts = Uint8Array.from(states, (state) => Number(accepted(filter, state)));
  return sealAutomaton({ states: states.length, start: 0, next: Int32Array.from(rows), accepts });
}

/** PERF: a character for each pattern; states fit, since an automaton of a pattern has fewer than 65,534. */
function keyOf({ mode, raw, stripped }: FilterState): string {
  const plain = textOfStates(raw);
  return mode === PLAIN ? plain : `${mode} ${plain} ${textOfStates(stripped)}`;
}

function textOfStates(states: Int32Array): string {
  let text = '';
  for (const state of states) text += String.fromCharCode(state - ALWAYS);
  return text;
}

/** What a step reads. */
interface Steps {
  readonly patterns: readonly LetterAutomaton[];
  readonly semicolon: number;
  readonly slash: number;
}

/** The state after one more letter. */
function advance({ mode, raw, stripped }: FilterState, letter: number, steps: Steps): FilterState {
  const { patterns, semicolon, slash } = steps;
  const rawAfter = stepped(raw, letter, patterns);
  if (letter === semicolon && mode !== WITHIN) return { mode: WITHIN, raw: rawAfter, stripped };
  if (mode === PLAIN) return { mode, raw: rawAfter, stripped: rawAfter };
  if (mode === WITHIN && letter !== slash) return { mode, raw: rawAfter, stripped };
  return { mode: AFTER, raw: rawAfter, stripped: stepped(stripped, letter, patterns) };
}

function stepped(states: Int32Array, letter: number, patterns: readonly LetterAutomaton[]): Int32Array {
  const after = new Int32Array(states.length);
  for (let index = 0; index < states.length; index++) {
    const state = states[index]!;
    const pattern = patterns[index]!;
    const row = (state * pattern.next.length) / pattern.states;
    after[index] = state < 0 ? state : settled(pattern, pattern.next[row + letter]!);
  }
  return after;
}

/** The state, or what it decides. */
function settled({ fate }: LetterAutomaton, state: number): number {
  if (fate[state] === FATE.dead) return NEVER;
  return fate[state] === FATE.all ? ALWAYS : state;
}

/** Whether every continuation, or none, is in the filter. */
function verdictOf(filter: PatternFilter, state: FilterState): Verdict {
  const openOf = (_: LetterAutomaton, number: number): Verdict =>
    number === ALWAYS ? true : number === NEVER ? false : null;
  return judge(filter, state, openOf);
}

/** Whether the path may end here. */
function accepted(filter: PatternFilter, state: FilterState): boolean {
  const endOf = ({ accepts }: LetterAutomaton, number: number): boolean =>
    number === ALWAYS || (number !== NEVER && accepts[number] === 1);
  return judge(filter, state, endOf) === true;
}

/** The filter over verdicts of its patterns. */
function judge(
  { includes, excludes, bothForms }: PatternFilter,
  { raw, stripped }: FilterState,
  read: (pattern: LetterAutomaton, state: number) => Verdict,
): Verdict {
  const entry = (pattern: LetterAutomaton, index: number, both: boolean): Verdict => {
    const forms = [read(pattern, raw[index]!), read(pattern, stripped[index]!)];
    return both ? every(forms) : some(forms);
  };
  const included = includes.length === 0 || some(includes.map((one, index) => entry(one, index, bothForms)));
  const excluded = some(excludes.map((one, index) => entry(one, includes.length + index, !bothForms)));
  return every([included, excluded === null ? null : !excluded]);
}

function some(verdicts: readonly Verdict[]): Verdict {
  return verdicts.includes(true) ? true : verdicts.includes(null) ? null : false;
}

function every(verdicts: readonly Verdict[]): Verdict {
  return verdicts.includes(false) ? false : verdicts.includes(null) ? null : true;
}

/**
 * The canonical paths (semantics §1.1): they start with a slash and have no empty segment, none that is `.` or `..` with or
 * without parameters, and no backslash. Some of these texts are no canonical path, since octets and lengths are not counted.
 */
export function canonicalPaths(letters: Letters): LetterAutomaton {
  const [slash, dot, semicolon, backslash, nul] = [0x2f, 0x2e, 0x3b, 0x5c, 0].map((point) =>
    letters.letterOf(point),
  );
  const states = { start: 0, segment: 1, dot: 2, dots: 3, text: 4, parameters: 5, dead: 6 } as const;
  const step = (state: number, letter: number): number => {
    if (letter === backslash || letter === nul || letters.samples[letter] === '') return states.dead;
    switch (state) {
      case states.start:
        return letter === slash ? states.segment : states.dead;
      case states.segment:
        if (letter === slash || letter === semicolon) return states.dead;
        return letter === dot ? states.dot : states.text;
      case states.dot:
      case states.dots:
        if (letter === slash || letter === semicolon) return states.dead;
        return letter === dot && state === states.dot ? states.dots : states.text;
      case states.text:
        return letter === slash ? states.segment : letter === semicolon ? states.parameters : state;
      case states.parameters:
        return letter === slash ? states.segment : state;
      default:
        return states.dead;
    }
  };
  const count = Object.keys(states).length;
  const next = Int32Array.from({ length: count * letters.count }, (_, cell) =>
    step(Math.floor(cell / letters.count), cell % letters.count),
  );
  const accepting: readonly number[] = [states.segment, states.text, states.parameters];
  const accepts = Uint8Array.from({ length: count }, (_, state) => Number(accepting.includes(state)));
  return sealAutomaton({ states: count, start: states.start, next, accepts });
}

/** The texts of `first` that are, or are not, in `second`. `null`: too many states, or more than the space may take. */
export function combine(
  first: LetterAutomaton,
  second: LetterAutomaton,
  { keep, room }: { readonly keep: 'common' | 'rest'; readonly room: SpaceRoom },
): LetterAutomaton | null {
  const letters = first.next.length / first.states;
  const numbers = new Map<number, number>();
  const pairs: number[] = [];
  const numberOf = (a: number, b: number): number => {
    const pair = a * second.states + b;
    const known = numbers.get(pair);
    if (known !== undefined) return known;
    numbers.set(pair, pairs.length);
    return pairs.push(pair) - 1;
  };
  numberOf(first.start, second.start);
  const rows: number[] = [];
  // One that has more of them is of a filter with a list.
  const most = Math.max(first.states, second.states) > MAX_PATH_STATES ? MAX_LISTED_STATES : MAX_PATH_STATES;
  for (let number = 0; number < pairs.length; number++) {
    if (pairs.length > most || !room.takeWork(letters)) return null;
    const [a, b] = [Math.floor(pairs[number]! / second.states), pairs[number]! % second.states];
    for (let letter = 0; letter < letters; letter++) {
      rows.push(numberOf(first.next[a * letters + letter]!, second.next[b * letters + letter]!));
    }
  }
  if (!room.takeCells(rows.length)) return null;
  const wanted = keep === 'common' ? 1 : 0;
  const accepts = Uint8Array.from(pairs, (pair) =>
    Number(
      first.accepts[Math.floor(pair / second.states)] === 1 &&
        second.accepts[pair % second.states] === wanted,
    ),
  );
  const raw: RawAutomaton = { states: pairs.length, start: 0, next: Int32Array.from(rows), accepts };
  return sealAutomaton(raw);
}

/** A pattern of a plan. */
export interface PlanPattern {
  /** Equal for equal patterns of any plan. */
  readonly name: string;
  /**
   * The pieces between the stars of a wildcard, and those of each entry of a list; `null` for a regex, and for a list that is too
   * large.
   */
  readonly alternatives: ListedWildcards | null;
  /** The regex's automaton as the plan has it; `null` for others. */
  readonly table: Uint16Array | null;
}

/** The include and exclude entries of a filter, as pattern numbers. */
export interface FilterEntries {
  readonly includes: readonly number[];
  readonly excludes: readonly number[];
}

/** The entries of the filter at an offset in `words`; `null`: no filter. */
export function entriesAt({ plan }: LoadedPlan, offset: number): FilterEntries | null {
  if (offset === NONE) return null;
  const from = offset + FILTER.patterns;
  const middle = from + plan.words[offset + FILTER.includes]!;
  const end = middle + plan.words[offset + FILTER.excludes]!;
  return {
    includes: [...plan.words.subarray(from, middle)],
    excludes: [...plan.words.subarray(middle, end)],
  };
}

/** Pattern `number` of a plan. */
export function readPattern(loaded: LoadedPlan, number: number): PlanPattern {
  const { patterns, dfas } = loaded.plan;
  const row = number * PATTERN.size;
  const kind = patterns[row + PATTERN.kind]!;
  const data = patterns[row + PATTERN.data]!;
  if (kind === PATTERN_KIND.dfa) {
    const table = dfas.subarray(data, data + dfas[data + DFA_LENGTH]!);
    return { name: `regex ${textOf(loaded, patterns[row + PATTERN.source]!)}`, alternatives: null, table };
  }
  const list = listOfPattern(loaded, number);
  if (list !== null) return patternOfList(list);
  const pieces = piecesOf(loaded, kind, data);
  return { name: wildcardName(pieces), alternatives: [pieces], table: null };
}

function wildcardName(pieces: readonly string[]): string {
  return `wildcard ${JSON.stringify(pieces)}`;
}

/** Patterns of lists that were read: names of large ones are long. */
const OF_LISTS = new WeakMap<OpenedList, PlanPattern>();

function patternOfList(list: OpenedList): PlanPattern {
  const known = OF_LISTS.get(list);
  if (known !== undefined) return known;
  const alternatives = alternativesOf(list);
  const name =
    alternatives === null
      ? 'a list that is too large'
      : alternatives.length === 1
        ? wildcardName(alternatives[0]!)
        : `list ${JSON.stringify(alternatives)}`;
  const made = { name, alternatives, table: null };
  OF_LISTS.set(list, made);
  return made;
}

/** Whether a pattern is a list of more or fewer entries than one, whose automaton may have too many states. */
export function isListPattern({ alternatives, table }: PlanPattern): boolean {
  return table === null && alternatives?.length !== 1;
}

/** The patterns of a term of conditions that compares with some. */
export function patternsOfTerm(loaded: LoadedPlan, term: PlanTerm): readonly PlanPattern[] {
  return entriesOf(loaded, term).map((number) => readPattern(loaded, number));
}

function piecesOf(loaded: LoadedPlan, kind: number, data: number): readonly string[] {
  switch (kind) {
    case PATTERN_KIND.any:
      return ['', ''];
    case PATTERN_KIND.exact:
      return [textOf(loaded, data)];
    case PATTERN_KIND.prefix:
      return [textOf(loaded, data), ''];
    case PATTERN_KIND.suffix:
      return ['', textOf(loaded, data)];
    case PATTERN_KIND.contains:
      return ['', textOf(loaded, data), ''];
    default:
      return textsAt(loaded, data);
  }
}

/** Patterns of one alphabet. */
export interface PatternSet {
  readonly letters: Letters;
  /** The automaton of a pattern that was among those the set was made of; `null`: the space may not take more. */
  automatonOf(pattern: PlanPattern): LetterAutomaton | null;
}

/** The alphabet of all the patterns, and of further texts; automata are built at their first use. */
export function createPatternSet(
  patterns: Iterable<PlanPattern>,
  { literals, room }: { readonly literals: readonly string[]; readonly room: SpaceRoom },
): PatternSet {
  const texts = [...literals];
  const tables: Uint16Array[] = [];
  for (const { alternatives, table } of patterns) {
    if (table !== null) tables.push(table);
    for (const pieces of alternatives ?? []) texts.push(...pieces);
  }
  const letters = createLetters({ literals: texts, tables });
  const built = new Map<string, LetterAutomaton | null>();
  return {
    letters,
    automatonOf(pattern) {
      const known = built.get(pattern.name);
      if (known !== undefined) return known;
      const made = make(pattern, { letters, room });
      built.set(pattern.name, made);
      return made;
    },
  };
}

/** The automaton of a pattern; `null`: the space has no room for it, or it is a list that is too large. */
function make({ alternatives, table }: PlanPattern, { letters, room }: Building): LetterAutomaton | null {
  if (table !== null)
    return room.takeCells(Math.ceil(table.length / 2) * letters.count)
      ? regexAutomaton(table, letters)
      : null;
  if (alternatives === null) return null;
  const [pieces] = alternatives;
  if (pieces === undefined || alternatives.length > 1) return unionAutomaton(alternatives, { letters, room });
  // The states that it will have, or a few less.
  const states = pieces.reduce((sum, piece) => sum + piece.length, 2);
  return room.takeCells(states * letters.count) ? wildcardAutomaton(pieces, letters) : null;
}
