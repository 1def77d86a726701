/**
 * A cache of inspected values: each distinct text with its shape, its transformed forms, the literals in it, and the
 * results of its tests. All of these depend on the text alone, and the same headers, cookies and names occur in request
 * after request.
 */
import { WAF_TRANSFORMATIONS } from '../../plan/signature-program.ts';
import { factsOf, type OctetFacts } from '../octets/octet-buffer.ts';
import type { Matcher } from '../patterns/pattern.ts';
import { TRANSFORMATIONS } from '../transformations/transformations.ts';

/**
 * Maximum size, in octets, of the cached values in one of two generations. The headers, cookies and argument names of a
 * site take about 100 KiB; a larger cache would only hold values that do not occur again.
 */
const MAX_CACHED_VALUES = 2_097_152;
/** Octets of a cached value besides its text: three objects and their lists. */
const CACHED_VALUE_OVERHEAD = 400;
/** Slots for hashes of values that occurred once: as many as some hundred requests have. */
const ONCE_SLOTS = 8_192;
/**
 * Slots for the values of the current request: several times as many as ordinary requests have, and so few that a request
 * with thousands of values costs the garbage collector little.
 */
const REQUEST_SLOTS = 1_024;
/** Maximum size, in octets, of a cached value: longer ones hardly occur again, and a few would evict all others. */
const MAX_CACHED_VALUE = 2_048;

/** The results of the tests of one class for a value. */
export interface ClassResult {
  /** The number of the class. */
  readonly group: number;
  /** The numbers of the tests that the value passes. */
  readonly passed: readonly number[];
  /** The steps of running the tests; charged to each inspection once. */
  readonly steps: number;
  /** Tests that each inspection repeats, since their cost depends on its other values (lazy DFA); `null`: none. */
  readonly open: readonly OpenTest[] | null;
  /** The last inspection that was charged for the result; 0: none, or its slot was taken since. */
  inspection: number;
  /** The results of other classes: a linked list. */
  readonly rest: ClassResult | null;
}

/** A test to repeat, with the value after its transformations. */
export interface OpenTest {
  readonly number: number;
  readonly negated: boolean;
  readonly matcher: Matcher;
  readonly value: InspectedValue;
  /** Whether the value passed in the current inspection. */
  passed: boolean;
}

/** A value with all that is known about its text. */
export interface InspectedValue {
  /** Latin-1: one character an octet. */
  readonly text: string;
  /** The kinds of its octets (`engine/waf/octets/octet-buffer.ts`). */
  readonly shape: number;
  /** The letters in it without case, a bit each (`lettersOf`). */
  readonly letters: number;
  /** Transformations that do not change it, as far as known; a bit each of the first 32, others are in `made`. */
  same: number;
  /** Results of other transformations: a linked list; `null`: none yet. */
  made: Transformed | null;
  /** The value and all its transformed forms, each text once, shared by all of them; `null`: no form yet. */
  family: InspectedValue[] | null;
  /** The sets of literals with a member in it (`setsIn`); `null`: not searched yet. */
  sets: readonly number[] | null;
  results: ClassResult | null;
  /** Whether its family is in the cache and counts towards its size. */
  cached: boolean;
}

/** The result of one transformation (its place in `WAF_TRANSFORMATIONS`). */
interface Transformed {
  readonly by: number;
  readonly value: InspectedValue;
  readonly rest: Transformed | null;
}

/**
 * The cache. It has two generations: when the young one is full, it becomes the old one, and the previous old one is
 * dropped; a hit in the old one moves the value to the young one. A value enters the cache at its second occurrence;
 * before that, only the slots of its own request refer to it.
 */
// PERF: most values occur once, also in a list of thousands. In the cache, or referenced until the end of the request,
// they would only cost the garbage collector time.
export interface InspectedValues {
  young: Map<string, InspectedValue>;
  old: Map<string, InspectedValue>;
  /** Octets in the young generation, overhead included. */
  size: number;
  /** New values in this request so far; those beyond `REQUEST_SLOTS` do not enter the cache. */
  met: number;
  /** The last values of this request, and cached ones of earlier requests, one a slot, by hash. */
  readonly slots: (InspectedValue | null)[];
  /** The slots of the first `met` values. */
  readonly taken: Uint16Array;
  /** Hashes of values that occurred once, one a slot. */
  readonly once: Int32Array;
}

/** Creates an empty cache. */
export function createValues(): InspectedValues {
  return {
    young: new Map(),
    old: new Map(),
    size: 0,
    met: 0,
    slots: new Array<InspectedValue | null>(REQUEST_SLOTS).fill(null),
    taken: new Uint16Array(REQUEST_SLOTS),
    once: new Int32Array(ONCE_SLOTS),
  };
}

/** Returns the value of a text; within a request the same object, until another text takes its slot. */
export function toValue(values: InspectedValues, text: string): InspectedValue {
  const slot = slotOf(text);
  const last = values.slots[slot]!;
  if (last !== null) {
    if (last.text === text) return last;
    // INVARIANT: the steps of testing a value again do not depend on whether the value is cached.
    for (let at = last.results; at !== null; at = at.rest) at.inspection = 0;
  }
  if (values.met < REQUEST_SLOTS) values.taken[values.met] = slot;
  values.met++;
  const value =
    values.met > REQUEST_SLOTS
      ? unknownValue(text, factsOf(text))
      : (cachedValue(values, text) ?? newValue(values, text));
  values.slots[slot] = value;
  return value;
}

/** The number of octets at either end of a text that are hashed for its slot. */
const SLOT_OCTETS = 12;

function slotOf(text: string): number {
  const { length } = text;
  let hash = length;
  const head = Math.min(length, SLOT_OCTETS);
  for (let at = 0; at < head; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  for (let at = Math.max(head, length - SLOT_OCTETS); at < length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return (hash ^ (hash >>> 15)) & (REQUEST_SLOTS - 1);
}

function cachedValue(values: InspectedValues, text: string): InspectedValue | null {
  if (text.length > MAX_CACHED_VALUE) return null;
  const known = values.young.get(text);
  if (known !== undefined) return known;
  const older = values.old.get(text);
  if (older === undefined) return null;
  store(values, older);
  return older;
}

/** Creates a value; stores it in the cache if its text occurred before. */
function newValue(values: InspectedValues, text: string): InspectedValue {
  const facts = factsOf(text);
  const value = unknownValue(text, facts);
  if (text.length <= MAX_CACHED_VALUE && occurredBefore(values, facts.hash)) store(values, value);
  return value;
}

/** A value about which only its octets are known. */
function unknownValue(text: string, { shape, letters }: OctetFacts): InspectedValue {
  return {
    text,
    shape,
    letters,
    same: 0,
    made: null,
    family: null,
    sets: null,
    results: null,
    cached: false,
  };
}

/** Whether a value of this hash occurred recently; stores the hash. */
function occurredBefore({ once }: InspectedValues, hash: number): boolean {
  const slot = hash & (ONCE_SLOTS - 1);
  if (once[slot] === hash) return true;
  once[slot] = hash;
  return false;
}

/** Stores a value in the young generation, unless that is full. */
function store(values: InspectedValues, value: InspectedValue): void {
  if (values.size > MAX_CACHED_VALUES) return;
  values.young.set(value.text, value);
  value.cached = true;
  for (const { text } of value.family ?? [value]) values.size += text.length + CACHED_VALUE_OVERHEAD;
}

/** Drops the values of this request that are not cached, and a full young generation becomes the old one. */
// PERF: cached values stay in their slots, where the next request finds them without a look-up in the cache.
export function endRequest(values: InspectedValues): void {
  const { slots, taken, met } = values;
  if (met > REQUEST_SLOTS || values.size > MAX_CACHED_VALUES) slots.fill(null);
  else for (let at = 0; at < met; at++) if (slots[taken[at]!]?.cached !== true) slots[taken[at]!] = null;
  values.met = 0;
  if (values.size <= MAX_CACHED_VALUES) return;
  values.old = values.young;
  values.young = new Map();
  values.size = 0;
}

/** The transformations, by their place, that have a bit in `InspectedValue.same`. */
const SAME_BITS = 32;

const BY_NUMBER = WAF_TRANSFORMATIONS.map((name) => TRANSFORMATIONS[name]);

/** Applies a transformation (its place in `WAF_TRANSFORMATIONS`) to a value, or returns its stored result. */
export function transformed(
  values: InspectedValues,
  value: InspectedValue,
  transformation: number,
): InspectedValue {
  if (transformation < SAME_BITS && ((value.same >>> transformation) & 1) === 1) return value;
  for (let at = value.made; at !== null; at = at.rest) if (at.by === transformation) return at.value;
  const text = BY_NUMBER[transformation]!(value.text);
  if (text === value.text && transformation < SAME_BITS) {
    value.same |= 1 << transformation;
    return value;
  }
  const next = ofFamily(values, value, text);
  value.made = { by: transformation, value: next, rest: value.made };
  return next;
}

/** Returns the member of a value's family with this text; adds it if it is new. */
// PERF: a family is small, and a transformed text is hardly ever another value of the request. A lookup in the whole cache
// costs more than the automata that read the text.
function ofFamily(values: InspectedValues, value: InspectedValue, text: string): InspectedValue {
  value.family ??= [value];
  const { family } = value;
  for (const one of family) if (one.text === text) return one;
  const made = unknownValue(text, factsOf(text));
  made.family = family;
  family.push(made);
  if (family[0]!.cached) values.size += text.length + CACHED_VALUE_OVERHEAD;
  return made;
}

/** The stored result of a class for a value; `null`: its tests have not run. */
export function resultOf(value: InspectedValue, group: number): ClassResult | null {
  for (let at = value.results; at !== null; at = at.rest) if (at.group === group) return at;
  return null;
}
