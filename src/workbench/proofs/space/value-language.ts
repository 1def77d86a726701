/**
 * What a value of a header, a query parameter or a cookie can be for the tests of it. In: tests as patterns. Out: signatures, each
 * the set of tests that one value passes, with the shortest such value; they are the reachable sets of the product of all patterns'
 * automata. `null` if there are too many states; values of a wanted set are then searched one by one.
 */
import { lowerAscii, utf8Length } from '../../../base/octets/octets.ts';
import { MAX_VALUE_OCTETS } from '../../../base/vocabulary/limits.ts';
import {
  acceptsLetters,
  alikeLetters,
  FATE,
  type LetterAutomaton,
  type Letters,
  sealAutomaton,
} from './automaton.ts';
import { createBudget, type SpaceRoom, type StepBudget } from './budget.ts';
import { createPatternSet, isListPattern, type PlanPattern } from './language.ts';
import { findText, spell } from './search.ts';

/** Products of states that one source may have. */
const MAX_VALUE_STATES = 20_000;
/** Steps of the search for one value of a source with more. */
const MAX_VALUE_STEPS = 50_000;

/** Kinds of sources with values that patterns compare. */
export type ValueKind = 'header' | 'query' | 'cookie';

/** A test of one source. */
export interface SourceTest {
  /** Equal for equal tests. */
  readonly name: string;
  /** One of them must match; `null`: any value passes. */
  readonly patterns: readonly PlanPattern[] | null;
  /** Whether literals compare without case. A regex has both cases in its automaton. */
  readonly ignoreCase: boolean;
}

/** A set of tests, as bits by their places, that one value passes. */
export interface Signature {
  readonly tests: bigint;
  /** The value; `null`: only values of more octets than are read pass this set, and none was constructed. */
  readonly sample: string | null;
}

/** The values of one source. */
export interface ValueLanguage {
  /** Every set of tests that one value can pass; `null`: too many to list. */
  readonly signatures: readonly Signature[] | null;
  /** A value that passes a test and none outside of `within`; `null`: none was found. */
  find(test: number, within: bigint): string | null;
  /** The tests that a value passes, of at most so many octets as are read. */
  passed(value: string): bigint;
  /** Whether it is proved that every value that passes a test passes the other, too. */
  implies(test: number, other: number, budget: StepBudget): boolean;
  /** Whether all patterns of a test have their automata; else it is left out of all that is said of values. */
  isBuilt(test: number): boolean;
}

/** A pattern with the place of its test. */
interface PlacedPattern {
  readonly automaton: LetterAutomaton;
  readonly test: number;
}

/** The language of a source; `null`: the space has no room for its automata. */
export function createValueLanguage(
  kind: ValueKind,
  tests: readonly SourceTest[],
  room: SpaceRoom,
): ValueLanguage | null {
  const built = buildPatterns(tests, room);
  if (built === null) return null;
  const always = tests.reduce(
    (mask, { patterns }, place) => (patterns === null ? mask | bit(place) : mask),
    0n,
  );
  const walk: ValueWalk = { kind, possible: possibleValues(kind, built.letters), ...built, always };
  return {
    signatures: signaturesOf(walk, room),
    find: (test, within) => findValue(walk, test, within),
    passed: (value) => passedBy(walk, value),
    implies: (test, other, budget) => isImplied(walk, { test, other }, budget),
    isBuilt: (test) => !built.left.has(test),
  };
}

/** The automata of tests over one alphabet. */
interface BuiltPatterns {
  readonly letters: Letters;
  /** In the order of the tests and their patterns. */
  readonly placed: readonly PlacedPattern[];
  /** Tests with a list that is too large; none of their patterns is among `placed`. */
  readonly left: ReadonlySet<number>;
}

/** Builds the automata of tests; `null`: the space has no room for them. */
export function buildPatterns(tests: readonly SourceTest[], room: SpaceRoom): BuiltPatterns | null {
  const patterns = tests.flatMap((test, place) =>
    (test.patterns ?? []).map((pattern) => ({
      pattern: named(pattern, test),
      test: place,
      folds: folds(pattern, test),
    })),
  );
  const cases = patterns.flatMap(({ pattern: { alternatives }, folds }) =>
    folds ? (alternatives ?? []).flatMap((pieces) => pieces.map(upperAscii)) : [],
  );
  const set = createPatternSet(
    patterns.map(({ pattern }) => pattern),
    { literals: [...SPECIAL, ...cases], room },
  );
  const placed: PlacedPattern[] = [];
  const left = new Set<number>();
  for (const { pattern, test, folds } of patterns) {
    const automaton = set.automatonOf(pattern);
    if (automaton !== null)
      placed.push({ automaton: folds ? folded(automaton, set.letters) : automaton, test });
    else if (isListPattern(pattern)) left.add(test);
    else return null;
  }
  return { letters: set.letters, placed: placed.filter(({ test }) => !left.has(test)), left };
}

/** The bit of a test's place. */
export function bit(place: number): bigint {
  return 1n << BigInt(place);
}

function folds(pattern: PlanPattern, { ignoreCase }: SourceTest): boolean {
  return ignoreCase && pattern.table === null;
}

/** Patterns with and without case are different ones. */
function named(pattern: PlanPattern, { ignoreCase }: SourceTest): PlanPattern {
  return ignoreCase ? { ...pattern, name: `${pattern.name} without case` } : pattern;
}

function upperAscii(text: string): string {
  return text.replace(/[a-z]/g, (letter) => letter.toUpperCase());
}

/** The automaton that reads capital letters as small ones; literals are in small ones, and both are letters of their own. */
function folded({ states, start, next, accepts }: LetterAutomaton, letters: Letters): LetterAutomaton {
  const { count } = letters;
  const small = letters.samples.map((sample, letter) =>
    /^[A-Z]$/.test(sample) ? letters.letterOf(lowerAscii(sample).codePointAt(0)!) : letter,
  );
  const made = Int32Array.from(next, (_, cell) => next[cell - (cell % count) + small[cell % count]!]!);
  return sealAutomaton({ states, start, next: made, accepts });
}

/** Characters that values of some kind do not have, or not at their ends, and the first one beyond Latin-1. */
const SPECIAL = ['\0\r\n\t ;\u0100'];

/**
 * The values of a kind. Headers and cookies are octets without CR, LF and NUL, whose surrounding blanks are removed; a cookie ends
 * at a `;`. A query parameter is any text.
 */
function possibleValues(kind: ValueKind, letters: Letters): LetterAutomaton {
  const [start, text, blank, dead] = [0, 1, 2, 3] as const;
  const { count, samples } = letters;
  const excluded = kind === 'cookie' ? '\0\r\n;' : '\0\r\n';
  const target = (sample: string, state: number): number => {
    if (state === dead || sample === '') return dead;
    if (kind === 'query') return text;
    if (sample > '\u00ff' || excluded.includes(sample)) return dead;
    if (sample !== ' ' && sample !== '\t') return text;
    return state === start ? dead : blank;
  };
  const next = Int32Array.from({ length: 4 * count }, (_, cell) =>
    target(samples[cell % count]!, Math.floor(cell / count)),
  );
  return sealAutomaton({
    states: 4,
    start,
    next,
    accepts: Uint8Array.of(1, 1, 0, 0),
  });
}

/** What a walk over all values of a source reads. */
interface ValueWalk {
  readonly kind: ValueKind;
  readonly letters: Letters;
  readonly possible: LetterAutomaton;
  readonly placed: readonly PlacedPattern[];
  /** Tests that every value passes. */
  readonly always: bigint;
}

/** A start of values. */
interface Visit {
  /** The state of `possible`. */
  readonly possible: number;
  /** The place and the state of each pattern that may still match or fail, unless its test is decided. */
  readonly open: readonly number[];
  /** Tests that every continuation passes. */
  readonly decided: bigint;
  readonly from: number;
  readonly letter: number;
  /** By distinct letter: the visit after it, or -1. */
  readonly after: number[];
}

/** Walks the product; `null`: it has too many states. */
function signaturesOf(walk: ValueWalk, room: SpaceRoom): readonly Signature[] | null {
  const { possible, placed, letters, always } = walk;
  const distinct = distinctLetters(walk);
  const first = stepped(
    walk,
    placed.flatMap(({ automaton }, place) => [place, automaton.start]),
    always,
  );
  const visits: Visit[] = [{ possible: possible.start, ...first, from: -1, letter: -1, after: [] }];
  const places = new Map([[keyOf(visits[0]!), 0]]);
  const found = new Map<bigint, string | null>();
  for (let index = 0; index < visits.length; index++) {
    const visit = visits[index]!;
    if (index > MAX_VALUE_STATES || !room.takeWork(distinct.length * (1 + visit.open.length))) return null;
    if (possible.accepts[visit.possible] === 1) {
      const tests = passedAt(walk, visit);
      // An empty value reads worse than another.
      if (!found.has(tests) || (found.get(tests) === '' && index > 0))
        found.set(tests, textOf(walk, visits, index));
    }
    for (const letter of distinct) {
      const state = possible.next[visit.possible * letters.count + letter]!;
      if (possible.fate[state] === FATE.dead) {
        visit.after.push(-1);
        continue;
      }
      const open = visit.open.map((value, at) =>
        at % 2 === 0 ? value : placed[visit.open[at - 1]!]!.automaton.next[value * letters.count + letter]!,
      );
      const made = {
        possible: state,
        ...stepped(walk, open, visit.decided),
        from: index,
        letter,
        after: [],
      };
      const key = keyOf(made);
      const known = places.get(key) ?? visits.push(made) - 1;
      places.set(key, known);
      visit.after.push(known);
    }
  }
  addLongValues(walk, { visits, distinct }, found);
  return [...found].map(([tests, sample]) => ({ tests, sample }));
}

/** One letter, the preferred one, of all between which no pattern makes a difference. */
function distinctLetters({ possible, placed, letters }: ValueWalk): readonly number[] {
  const alike = alikeLetters([possible, ...placed.map(({ automaton }) => automaton)], letters.count);
  const seen = new Set<number>();
  return letters.preferred.filter((letter) => {
    const isDead = possible.fate[possible.next[possible.start * letters.count + letter]!] === FATE.dead;
    const isBlank = letters.samples[letter] === ' ' || letters.samples[letter] === '\t';
    if ((isDead && !isBlank) || seen.has(alike[letter]!)) return false;
    seen.add(alike[letter]!);
    return true;
  });
}

/** The patterns that are still open, of tests that are not decided. */
function stepped(
  { placed }: ValueWalk,
  pairs: readonly number[],
  before: bigint,
): Pick<Visit, 'open' | 'decided'> {
  let decided = before;
  for (let at = 0; at < pairs.length; at += 2) {
    const { automaton, test } = placed[pairs[at]!]!;
    if (automaton.fate[pairs[at + 1]!] === FATE.all) decided |= bit(test);
  }
  const open: number[] = [];
  for (let at = 0; at < pairs.length; at += 2) {
    const { automaton, test } = placed[pairs[at]!]!;
    if (automaton.fate[pairs[at + 1]!] === FATE.open && (decided & bit(test)) === 0n)
      open.push(pairs[at]!, pairs[at + 1]!);
  }
  return { open, decided };
}

function keyOf({ possible, open, decided }: Visit): string {
  return `${possible} ${decided} ${open.join(' ')}`;
}

/** The tests that a value passes which ends here. */
function passedAt({ placed }: ValueWalk, { open, decided }: Visit): bigint {
  let tests = decided;
  for (let at = 0; at < open.length; at += 2) {
    const { automaton, test } = placed[open[at]!]!;
    if (automaton.accepts[open[at + 1]!] === 1) tests |= bit(test);
  }
  return tests;
}

function passedBy({ placed, letters, always }: ValueWalk, value: string): bigint {
  const text = [...value].map((character) => letters.letterOf(character.codePointAt(0)!));
  return placed.reduce(
    (tests, { automaton, test }) => (acceptsLetters(automaton, text) ? tests | bit(test) : tests),
    always,
  );
}

function textOf({ letters }: ValueWalk, visits: readonly Visit[], index: number): string {
  const text: number[] = [];
  for (let at = index; visits[at]!.from >= 0; at = visits[at]!.from) text.push(visits[at]!.letter);
  return spell(text.reverse(), letters);
}

function findValue(
  { possible, placed, letters, always }: ValueWalk,
  test: number,
  within: bigint,
): string | null {
  const outside = placed.filter((one) => (within & bit(one.test)) === 0n).map(({ automaton }) => automaton);
  const own = placed.filter((one) => one.test === test).map(({ automaton }) => [possible, automaton]);
  const ways = (always & bit(test)) !== 0n ? [[possible]] : own;
  for (const automata of ways) {
    const found = findText({ within: automata, outside }, letters, createBudget(MAX_VALUE_STEPS));
    if (found.kind === 'text') return spell(found.letters, letters);
  }
  return null;
}

/**
 * Each pattern of the test must lie within one of the other: a value of more octets than are read passes a test by a pattern that
 * its start decides.
 */
function isImplied(
  { possible, placed, letters, always }: ValueWalk,
  { test, other }: { readonly test: number; readonly other: number },
  budget: StepBudget,
): boolean {
  if ((always & bit(other)) !== 0n) return true;
  if ((always & bit(test)) !== 0n) return false;
  const of = (place: number): readonly LetterAutomaton[] =>
    placed.filter((one) => one.test === place).map(({ automaton }) => automaton);
  const within = of(other);
  const lies = (inner: LetterAutomaton, outer: LetterAutomaton): boolean =>
    findText({ within: [possible, inner], outside: [outer] }, letters, budget).kind === 'empty';
  return of(test).every((inner) => within.some((outer) => lies(inner, outer)));
}

// Values of more octets than are read (semantics §12): a test that depends on the rest fails, so such a value may pass a set of
// tests that no shorter one passes.

/** The walk, finished. */
interface Walked {
  readonly visits: readonly Visit[];
  readonly distinct: readonly number[];
}

/** Long values that are constructed for one source. */
const MAX_LONG_VALUES = 64;

/** Adds the sets of tests that starts of long values decide. */
function addLongValues(walk: ValueWalk, walked: Walked, found: Map<bigint, string | null>): void {
  let tried = 0;
  for (const index of longStarts(walk, walked)) {
    const { decided } = walked.visits[index]!;
    // PERF: nearly every such set is that of a shorter value, too.
    if ((found.get(decided) ?? null) !== null) continue;
    found.set(decided, tried++ < MAX_LONG_VALUES ? longValue(walk, walked, index) : null);
  }
}

/** The visits that come after a cycle, as every start of so many letters does; all if there are more visits than such letters. */
function longStarts({ kind }: ValueWalk, { visits }: Walked): readonly number[] {
  const octets = kind === 'query' ? 4 : 1;
  if (visits.length > MAX_VALUE_OCTETS / octets) return [...visits.keys()];
  const sources = new Int32Array(visits.length);
  for (const { after } of visits) for (const target of after) if (target >= 0) sources[target]!++;
  const removed = [...visits.keys()].filter((index) => sources[index] === 0);
  for (let at = 0; at < removed.length; at++) {
    for (const target of visits[removed[at]!]!.after)
      if (target >= 0 && --sources[target]! === 0) removed.push(target);
  }
  return [...visits.keys()].filter((index) => sources[index]! > 0);
}

/** A value whose read octets end at a visit: by a visit that a letter leads to itself; `null`: no visit is before it. */
function longValue(walk: ValueWalk, { visits, distinct }: Walked, goal: number): string | null {
  const { letters } = walk;
  const from = new Map<number, { readonly index: number; readonly letter: number } | null>();
  const loops = visits.map(({ after }, index) =>
    after.findIndex((target, at) => target === index && utf8Length(letters.samples[distinct[at]!]!) === 1),
  );
  const open = [...visits.keys()].filter((index) => loops[index]! >= 0);
  for (const index of open) from.set(index, null);
  for (let at = 0; at < open.length && !from.has(goal); at++) {
    visits[open[at]!]!.after.forEach((target, place) => {
      if (target < 0 || from.has(target)) return;
      from.set(target, { index: open[at]!, letter: distinct[place]! });
      open.push(target);
    });
  }
  if (!from.has(goal)) return null;
  const tail: number[] = [];
  let index = goal;
  for (let way = from.get(index)!; way !== null; way = from.get(index)!) {
    tail.push(way.letter);
    index = way.index;
  }
  const [head, end] = [textOf(walk, visits, index), spell(tail.reverse(), letters)];
  const octets = (text: string): number => (walk.kind === 'query' ? utf8Length(text) : text.length);
  const room = MAX_VALUE_OCTETS - octets(head) - octets(end);
  const filler = letters.samples[distinct[loops[index]!]!]!;
  return room < 1 ? null : `${head}${filler.repeat(room)}${end}${LONG_END}`;
}

/** What follows the octets that are read. */
const LONG_END = 'xx';
