/**
 * Values of requests, each distinct text once, with what was found out about it: its shape, what transformations make
 * of it, which literals it holds, which tests it hits. All of that depends on the text alone, so it is kept for the
 * requests to come: the same headers, cookies and names come again and again.
 */
import { WAF_TRANSFORMATIONS } from '../../plan/signature-program.ts';
import { octetsOf } from '../octets/octet-buffer.ts';
import { shapeOf } from '../octets/shape.ts';
import type { Matcher } from '../patterns/pattern.ts';
import { TRANSFORMATIONS } from '../transformations/transformations.ts';
import {
  CACHED_VALUE_OVERHEAD,
  MAX_CACHED_VALUE,
  MAX_CACHED_VALUES,
  ONCE_SLOTS,
  REQUEST_SLOTS,
} from './limits.ts';

/** What the tests of one class say about a value. */
export interface ClassResult {
  /** The class's number. */
  readonly group: number;
  /** The tests it hits. */
  readonly passed: readonly number[];
  /** What it costs to find out, whoever finds out. */
  readonly steps: number;
  /** Tests that each inspection does again, since what they cost depends on what else it holds; `null`: none. */
  readonly open: readonly OpenTest[] | null;
  /** The last inspection that heard it and has not forgotten it since; 0: none. */
  inspection: number;
  /** What other classes say. */
  readonly rest: ClassResult | null;
}

/** A test of a value behind its transformations. */
export interface OpenTest {
  readonly number: number;
  readonly negated: boolean;
  readonly matcher: Matcher;
  readonly value: InspectedValue;
  /** Whether the last inspection that heard the result saw it passed. */
  passed: boolean;
}

export interface InspectedValue {
  readonly text: string;
  readonly shape: number;
  /** Transformations that are known to change nothing, a bit each. */
  same: number;
  /** What the others make of it; `null`: nothing yet. */
  made: Made | null;
  /** Itself and all that transformations made of it, each text once; `null`: nothing yet. Those made share it. */
  family: InspectedValue[] | null;
  /** Which sets of literals it holds one of; `null`: not looked for yet. */
  sets: readonly number[] | null;
  results: ClassResult | null;
  /** Its family counts as kept. */
  cached: boolean;
}

/** What a transformation, by its place in `WAF_TRANSFORMATIONS`, made of a value. */
interface Made {
  readonly by: number;
  readonly value: InspectedValue;
  readonly rest: Made | null;
}

/**
 * Kept values lie in two generations: what the older holds and nobody asked for again goes when the younger is full. A
 * value is kept when it comes for the second time; until then it is its request's alone, which finds it again while no
 * other has taken its slot.
 */
// PERF: most values come once, in a list of thousands too. Kept, or held to the end of their request, they would only be
// carried about by the garbage collector.
export interface InspectedValues {
  young: Map<string, InspectedValue>;
  old: Map<string, InspectedValue>;
  /** Octets of the younger. */
  size: number;
  /** Values that this request met so far. Those of a long list are hardly anyone else's: they are not kept. */
  met: number;
  /** Values this request met last, each in the slot it belongs to. */
  readonly slots: (InspectedValue | null)[];
  /** Hashes of values that came once, each in the slot it belongs to. */
  readonly once: Int32Array;
}

export function createValues(): InspectedValues {
  return {
    young: new Map(),
    old: new Map(),
    size: 0,
    met: 0,
    slots: new Array<InspectedValue | null>(REQUEST_SLOTS).fill(null),
    once: new Int32Array(ONCE_SLOTS),
  };
}

/** The value of a text. The same text gives the same value again, until another takes its slot. */
export function toValue(values: InspectedValues, text: string): InspectedValue {
  const slot = slotOf(text);
  const last = values.slots[slot]!;
  if (last !== null) {
    if (last.text === text) return last;
    // What it costs to hear a result again must not depend on whether the value is kept.
    for (let at = last.results; at !== null; at = at.rest) at.inspection = 0;
  }
  values.met++;
  const value =
    values.met > REQUEST_SLOTS
      ? unknownValue(text, octetsOf(text))
      : (cachedValue(values, text) ?? newValue(values, text));
  values.slots[slot] = value;
  return value;
}

/** Octets at either end of a text that its slot depends on. */
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
  keep(values, older);
  return older;
}

/** A value that is not known. */
function newValue(values: InspectedValues, text: string): InspectedValue {
  const { length } = text;
  const octets = octetsOf(text);
  const value = unknownValue(text, octets);
  if (length <= MAX_CACHED_VALUE && cameBefore(values, hashOf(octets, length))) keep(values, value);
  return value;
}

function unknownValue(text: string, octets: Uint8Array): InspectedValue {
  const shape = shapeOf(octets, text.length);
  return { text, shape, same: 0, made: null, family: null, sets: null, results: null, cached: false };
}

/** Whether a value of this hash came lately; notes that it does now. */
function cameBefore({ once }: InspectedValues, hash: number): boolean {
  const slot = hash & (ONCE_SLOTS - 1);
  if (once[slot] === hash) return true;
  once[slot] = hash;
  return false;
}

function hashOf(octets: Uint8Array, length: number): number {
  let hash = length;
  for (let at = 0; at < length; at++) hash = Math.imul(hash ^ octets[at]!, 0x01000193);
  return hash ^ (hash >>> 15);
}

/** Keeps a value, while the younger generation has room. */
function keep(values: InspectedValues, value: InspectedValue): void {
  if (values.size > MAX_CACHED_VALUES) return;
  values.young.set(value.text, value);
  value.cached = true;
  for (const { text } of value.family ?? [value]) values.size += text.length + CACHED_VALUE_OVERHEAD;
}

/** Forgets what only this request could use. */
export function endRequest(values: InspectedValues): void {
  values.slots.fill(null);
  values.met = 0;
  if (values.size <= MAX_CACHED_VALUES) return;
  values.old = values.young;
  values.young = new Map();
  values.size = 0;
}

const BY_NUMBER = WAF_TRANSFORMATIONS.map((name) => TRANSFORMATIONS[name]);

/** What a transformation, by its place in `WAF_TRANSFORMATIONS`, makes of a value. */
export function transformed(
  values: InspectedValues,
  value: InspectedValue,
  transformation: number,
): InspectedValue {
  if (((value.same >>> transformation) & 1) === 1) return value;
  for (let at = value.made; at !== null; at = at.rest) if (at.by === transformation) return at.value;
  const text = BY_NUMBER[transformation]!(value.text);
  if (text === value.text) {
    value.same |= 1 << transformation;
    return value;
  }
  const next = ofFamily(values, value, text);
  value.made = { by: transformation, value: next, rest: value.made };
  return next;
}

/** The one of a value's family that has this text. */
// PERF: a family is small, and most of what transformations make of a value no other value is. Looking it up among all
// values costs more than the automata that read it.
function ofFamily(values: InspectedValues, value: InspectedValue, text: string): InspectedValue {
  value.family ??= [value];
  const { family } = value;
  for (const one of family) if (one.text === text) return one;
  const made = unknownValue(text, octetsOf(text));
  made.family = family;
  family.push(made);
  if (family[0]!.cached) values.size += text.length + CACHED_VALUE_OVERHEAD;
  return made;
}

export function resultOf(value: InspectedValue, group: number): ClassResult | null {
  for (let at = value.results; at !== null; at = at.rest) if (at.group === group) return at;
  return null;
}
