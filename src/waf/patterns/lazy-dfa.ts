/**
 * A DFA built while it runs, over octets: for patterns whose whole DFA would be too large. Only the states a text leads to are
 * made, and kept for the texts to come (the method is RE2's, https://swtch.com/~rsc/regexp/regexp3.html).
 */

import { startsAtTextBegin } from '../../base/regex/literals.ts';
import {
  BEGIN_LINE,
  BEGIN_TEXT,
  END_LINE,
  END_TEXT,
  NO_WORD_BOUNDARY,
  type Program,
  WORD_BOUNDARY,
} from '../../base/regex/program.ts';
import type { Meter } from '../octets/meter.ts';
import { type OctetClasses, octetClasses } from './octet-classes.ts';
import { type Places, placesOf } from './places.ts';

const UNKNOWN = 0;
const MATCHED = 1;
const DEAD = 2;
/** Numbers of states start here. */
const FIRST = 3;

/** What came before a place, beside `BEGIN_LINE` and `BEGIN_TEXT`: a word character. */
const AFTER_WORD = 64;
const BEGIN = BEGIN_LINE | BEGIN_TEXT;

/**
 * Transitions kept for one pattern, a megabyte of them with their marks. An inspection starts with half of them free at least; one that
 * needs more than that half has spent its budget long before (each new transition costs `TRANSITION_STEPS` and more).
 */
const MAX_TRANSITIONS = 262_144;

/** Steps a new transition costs beside those of the instructions it looks at. */
const TRANSITION_STEPS = 200;
/** Steps an instruction costs that a new transition looks at. */
const INSTRUCTION_STEPS = 10;

/** A state: the instructions that wait for a character, those that must see the next one first, and what came before. */
interface State {
  readonly characters: Uint16Array;
  readonly pending: Uint16Array;
  readonly context: number;
  readonly hash: number;
  /** Whether a text may end here; `null`: not looked at yet. */
  accepts: boolean | null;
}

export interface LazyDfa {
  readonly places: Places;
  readonly classes: OctetClasses;
  /** New attempts start at every octet, not only at the first. */
  readonly floating: boolean;
  states: State[];
  /** The numbers of states by hash. */
  byHash: Map<number, number[]>;
  /** `next[(state - FIRST) * classes + class]`. */
  next: Uint16Array;
  /** The last inspection that took a transition, by transition: its `stamp`. */
  taken: Uint16Array;
  stamp: number;
  inspection: number;
  /** The first state's number; `UNKNOWN`: not entered since the states were dropped. */
  first: number;
}

export function lazyDfa(program: Program): LazyDfa {
  const classes = octetClasses(program);
  return {
    places: placesOf(program, classes),
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
 * Where a match is first known of in the first `length` octets: how many of them were read by then; -1: there is none, or the meter
 * has run out. Costs some hundreds of steps for each transition that this inspection is the first to take; whether an
 * earlier one took it makes no difference to the count, only to the time.
 */
export function lazyDfaEnd(dfa: LazyDfa, text: { octets: Uint8Array; length: number }, meter: Meter): number {
  if (dfa.inspection !== meter.inspection) beginInspection(dfa, meter.inspection);
  const { octets, length } = text;
  const { count, ofOctet } = dfa.classes;
  if (dfa.first === UNKNOWN) dfa.first = enter(dfa, [dfa.places.start], BEGIN);
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
  let looked = source.characters.length + source.pending.length;
  if (to >= FIRST) {
    const target = dfa.states[to - FIRST]!;
    looked += target.characters.length + target.pending.length;
  }
  return TRANSITION_STEPS + looked * INSTRUCTION_STEPS;
}

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

/** Where the class `column` leads from a state. */
function step(dfa: LazyDfa, from: number, column: number): number {
  const { places, classes, floating } = dfa;
  const source = dfa.states[from - FIRST]!;
  const newline = classes.newline === column;
  const word = classes.word[column] === 1;
  const seeds: number[] = floating ? [places.start] : [];
  const settled = settle(dfa, source, { ahead: newline ? END_LINE : 0, isWord: word });
  if (settled === null) return MATCHED;
  for (const pc of source.characters) if (places.takes(pc, column)) seeds.push(places.out[pc]!);
  for (const pc of settled) if (places.takes(pc, column)) seeds.push(places.out[pc]!);
  return enter(dfa, seeds, (newline ? BEGIN_LINE : 0) | (word ? AFTER_WORD : 0));
}

/** The instructions that wait for a character behind a state's pending assertions; `null`: they lead to a match. */
function settle(
  dfa: LazyDfa,
  state: State,
  next: { readonly ahead: number; readonly isWord: boolean },
): readonly number[] | null {
  if (state.pending.length === 0) return [];
  const changes = next.isWord !== ((state.context & AFTER_WORD) !== 0);
  const flags = (state.context & BEGIN) | next.ahead | (changes ? WORD_BOUNDARY : NO_WORD_BOUNDARY);
  const { characters, matched } = dfa.places.close(state.pending, { flags, final: true });
  return matched ? null : [...characters];
}

function accepts(dfa: LazyDfa, state: State): boolean {
  state.accepts ??= settle(dfa, state, { ahead: END_LINE | END_TEXT, isWord: false }) === null;
  return state.accepts;
}

/** The number of the state of a set of instructions, which is made when it is new. */
function enter(dfa: LazyDfa, seeds: readonly number[], before: number): number {
  const { characters, pending, matched } = dfa.places.close(seeds, { flags: before & BEGIN, final: false });
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
