/**
 * A lazy DFA over octets, for patterns whose whole DFA would be too large: it builds a state when a text first reaches
 * it, and later texts reuse it (RE2's method, https://swtch.com/~rsc/regexp/regexp3.html).
 */
import { startsAtTextBegin } from '../../../base/regex/literals.ts';
import {
  BEGIN_LINE,
  BEGIN_TEXT,
  END_LINE,
  END_TEXT,
  NO_WORD_BOUNDARY,
  type Program,
  WORD_BOUNDARY,
} from '../../../base/regex/program.ts';
import type { Meter } from '../octets/meter.ts';
import { consumes, epsilonClosure, type Nfa, nfaOf, type OctetClasses, octetClasses } from './nfa.ts';

/** State numbers with a meaning of their own: not built yet; a match was found; no match is possible any more. */
const UNKNOWN = 0;
const MATCHED = 1;
const DEAD = 2;
/** The number of the first built state. */
const FIRST = 3;

/** A flag besides `BEGIN_LINE` and `BEGIN_TEXT`: the octet before the position is a word character. */
const AFTER_WORD = 64;
const BEGIN = BEGIN_LINE | BEGIN_TEXT;

/**
 * The most transitions cached for one pattern: a megabyte with their stamps. At least half of them are free when an
 * inspection begins. An inspection that needs more than that half exhausts its step budget long before, since each new
 * transition costs `TRANSITION_STEPS` or more.
 */
const MAX_TRANSITIONS = 262_144;

/** Steps for a new transition, besides those for its instructions. */
const TRANSITION_STEPS = 200;
/** Steps for each instruction in the two states of a new transition. */
const INSTRUCTION_STEPS = 10;

/** A state of the DFA: a set of NFA instructions and what is known about the octet before. */
interface State {
  /** Instructions that consume the next octet. */
  readonly characters: Uint16Array;
  /** Assertions that depend on the next octet. */
  readonly pending: Uint16Array;
  /** `BEGIN_LINE`, `BEGIN_TEXT` and `AFTER_WORD` as the pending assertions need them; 0 without such assertions. */
  readonly context: number;
  readonly hash: number;
  /** Whether a text that ends in this state matches; `null`: not computed yet. */
  accepts: boolean | null;
}

/** A lazy DFA: the NFA it is built from, and the states and transitions built so far. */
export interface LazyDfa {
  readonly nfa: Nfa;
  readonly classes: OctetClasses;
  /** Whether a match may start at every octet, not only at the first. */
  readonly floating: boolean;
  states: State[];
  /** State numbers by hash. */
  byHash: Map<number, number[]>;
  /** `next[(state - FIRST) * classes.count + class]`. */
  next: Uint16Array;
  /** By transition, the `stamp` of the last inspection that took it. */
  taken: Uint16Array;
  /** The current inspection in 16 bits; 1 to 65535. */
  stamp: number;
  /** The current inspection's number (`Meter.inspection`). */
  inspection: number;
  /** The number of the start state; `UNKNOWN`: not built since the states were last dropped. */
  first: number;
}

/** Prepares the lazy DFA of a program; no state is built yet. */
export function lazyDfa(program: Program): LazyDfa {
  const classes = octetClasses(program);
  return {
    nfa: nfaOf(program, classes),
    classes,
    floating: !startsAtTextBegin(program),
    states: [],
    byHash: new Map(),
    next: new Uint16Array(classes.count * 16),
    taken: new Uint16Array(classes.count * 16),
    stamp: 0,
    inspection: -1,
    first: UNKNOWN,
  };
}

/**
 * Searches the first `length` octets; returns how many octets were read when the match was certain, or -1: no match, or
 * the step budget is exhausted. Each transition that this inspection takes for the first time costs some hundreds of
 * steps. An earlier inspection that already took it saves time but no steps, so the step count does not depend on
 * earlier requests.
 */
export function lazyDfaEnd(dfa: LazyDfa, text: { octets: Uint8Array; length: number }, meter: Meter): number {
  if (dfa.inspection !== meter.inspection) beginInspection(dfa, meter.inspection);
  const { octets, length } = text;
  const { count, ofOctet } = dfa.classes;
  if (dfa.first === UNKNOWN) dfa.first = enter(dfa, [dfa.nfa.start], BEGIN);
  let state = dfa.first;
  for (let at = 0; at < length; at++) {
    if (state < FIRST) return state === MATCHED ? at : -1;
    const index = (state - FIRST) * count + ofOctet[octets[at]!]!;
    if (dfa.taken[index] === dfa.stamp) {
      state = dfa.next[index]!;
      continue;
    }
    const from = state;
    state = dfa.next[index]!;
    if (state === UNKNOWN) {
      state = step(dfa, from, ofOctet[octets[at]!]!);
      dfa.next[index] = state;
    }
    dfa.taken[index] = dfa.stamp;
    meter.left -= transitionSteps(dfa, from, state);
    if (meter.left < 0) return -1;
  }
  if (state < FIRST) return state === MATCHED ? length : -1;
  return accepts(dfa, dfa.states[state - FIRST]!) ? length : -1;
}

function transitionSteps(dfa: LazyDfa, from: number, to: number): number {
  const source = dfa.states[from - FIRST]!;
  let instructions = source.characters.length + source.pending.length;
  if (to >= FIRST) {
    const target = dfa.states[to - FIRST]!;
    instructions += target.characters.length + target.pending.length;
  }
  return TRANSITION_STEPS + instructions * INSTRUCTION_STEPS;
}

/** Advances the stamp; drops all states when less than half of `MAX_TRANSITIONS` is free. */
function beginInspection(dfa: LazyDfa, inspection: number): void {
  if (dfa.states.length * dfa.classes.count > MAX_TRANSITIONS / 2) {
    dfa.states = [];
    dfa.byHash = new Map();
    dfa.next.fill(UNKNOWN);
    dfa.first = UNKNOWN;
  }
  dfa.inspection = inspection;
  dfa.stamp++;
  if (dfa.stamp === 0x10000) {
    dfa.taken.fill(0);
    dfa.stamp = 1;
  }
}

/** Builds a transition: returns the state that an octet of the class leads to. */
function step(dfa: LazyDfa, from: number, octetClass: number): number {
  const { nfa, classes, floating } = dfa;
  const source = dfa.states[from - FIRST]!;
  const newline = classes.newline === octetClass;
  const word = classes.word[octetClass] === 1;
  const seeds: number[] = floating ? [nfa.start] : [];
  const resolved = resolvePending(dfa, source, { ahead: newline ? END_LINE : 0, isWord: word });
  if (resolved === null) return MATCHED;
  for (const pc of source.characters) if (consumes(nfa, pc, octetClass)) seeds.push(nfa.out[pc]!);
  for (const pc of resolved) if (consumes(nfa, pc, octetClass)) seeds.push(nfa.out[pc]!);
  return enter(dfa, seeds, (newline ? BEGIN_LINE : 0) | (word ? AFTER_WORD : 0));
}

/**
 * Evaluates a state's pending assertions now that the next octet is known; returns the consuming instructions behind
 * those that hold, or `null` when these lead to a match.
 */
function resolvePending(
  dfa: LazyDfa,
  state: State,
  next: { readonly ahead: number; readonly isWord: boolean },
): readonly number[] | null {
  if (state.pending.length === 0) return [];
  const changes = next.isWord !== ((state.context & AFTER_WORD) !== 0);
  const flags = (state.context & BEGIN) | next.ahead | (changes ? WORD_BOUNDARY : NO_WORD_BOUNDARY);
  const { characters, matched } = epsilonClosure(dfa.nfa, state.pending, { flags, final: true });
  return matched ? null : [...characters];
}

function accepts(dfa: LazyDfa, state: State): boolean {
  state.accepts ??= resolvePending(dfa, state, { ahead: END_LINE | END_TEXT, isWord: false }) === null;
  return state.accepts;
}

/** Returns the number of the state for the closure of `seeds`; builds the state if it does not exist. */
function enter(dfa: LazyDfa, seeds: readonly number[], before: number): number {
  const closure = epsilonClosure(dfa.nfa, seeds, { flags: before & BEGIN, final: false });
  const { characters, pending, matched } = closure;
  if (matched) return MATCHED;
  if (characters.length + pending.length === 0 && !dfa.floating) return DEAD;
  const context = pending.length === 0 ? 0 : before;
  let hash = context;
  for (const pc of characters) hash = (Math.imul(hash, 31) + pc) | 0;
  for (const pc of pending) hash = (Math.imul(hash, 37) + pc) | 0;
  const bucket = dfa.byHash.get(hash);
  for (const number of bucket ?? []) {
    const state = dfa.states[number - FIRST]!;
    if (state.context === context && equal(state.characters, characters) && equal(state.pending, pending)) {
      return number;
    }
  }
  const state = { characters: characters.slice(), pending: pending.slice(), context, hash, accepts: null };
  const number = FIRST - 1 + dfa.states.push(state);
  if (bucket === undefined) dfa.byHash.set(hash, [number]);
  else bucket.push(number);
  const needed = dfa.states.length * dfa.classes.count;
  if (needed > dfa.next.length) {
    dfa.next = grown(dfa.next, needed);
    dfa.taken = grown(dfa.taken, needed);
  }
  return number;
}

function grown(words: Uint16Array, needed: number): Uint16Array {
  const larger = new Uint16Array(Math.max(needed, words.length * 2));
  larger.set(words);
  return larger;
}

function equal(left: Uint16Array, right: Uint16Array): boolean {
  if (left.length !== right.length) return false;
  for (let i = 0; i < left.length; i++) if (left[i] !== right[i]) return false;
  return true;
}
