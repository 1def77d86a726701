/** The octets of the text under inspection, in one reused array that automata read, and the kinds of octets in it. */
import { KINDS } from '../../../base/octets/octet-kinds.ts';
import { isUpper } from './latin1.ts';

/** The largest array reused between texts, in octets: the largest body that is inspected (`MAX_BODY_CAP_KB`). */
const MAX_REUSED = 1_048_576;

let octets: Uint8Array = new Uint8Array(4_096);
/** The text whose octets the array holds. */
let current = '';

/** Returns the octets of a Latin-1 text, valid until the next call; undefined past the length of the text. */
// PERF: several automata read the same text one after the other, and an array is faster to index than a string that was
// concatenated from parts.
export function octetsOf(text: string): Uint8Array {
  if (text === current) return octets;
  if (octets.length < text.length) octets = new Uint8Array(Math.max(text.length, octets.length * 2));
  const into = octets;
  for (let at = 0; at < text.length; at++) into[at] = text.charCodeAt(at);
  current = text;
  return into;
}

/** By octet, the bit of a letter, the same for both of its cases; 0: the octet is no letter. */
const LETTERS = Int32Array.from({ length: 256 }, (_, octet) =>
  isUpper(octet & ~32) && octet < 0x80 ? 1 << ((octet & ~32) - 65) : 0,
);

/** The letters of a text, a bit each (`LETTERS`). */
export function lettersOf(text: string): number {
  let letters = 0;
  for (let at = 0; at < text.length; at++) letters |= LETTERS[text.charCodeAt(at)]!;
  return letters;
}

/** The kinds of the octets of a Latin-1 text, a bit each (`KIND`); 0: it has none. */
export function shapeOf(text: string): number {
  let shape = 0;
  for (let at = 0; at < text.length; at++) shape |= KINDS[text.charCodeAt(at) & 0xff]!;
  return shape;
}

/** What is computed about the octets of a text. */
export interface OctetFacts {
  /** The kinds of its octets, a bit each (`KIND`); 0: there are none. */
  shape: number;
  /** The ASCII letters in it without case, a bit each (`LETTERS`). */
  letters: number;
  /** FNV-1a over all octets, 32 bits, mixed once more. */
  hash: number;
}

// PERF: one object for all texts, and one loop for the copy, the kinds and the hash.
const facts: OctetFacts = { shape: 0, letters: 0, hash: 0 };

/** Reads the octets of a Latin-1 text as `octetsOf` does; returns what is computed about them, valid until the next call. */
export function factsOf(text: string): OctetFacts {
  const { length } = text;
  if (octets.length < length) octets = new Uint8Array(Math.max(length, octets.length * 2));
  const into = octets;
  let shape = 0;
  let letters = 0;
  let hash = length;
  for (let at = 0; at < length; at++) {
    const octet = text.charCodeAt(at) & 0xff;
    into[at] = octet;
    shape |= KINDS[octet]!;
    letters |= LETTERS[octet]!;
    hash = Math.imul(hash ^ octet, 0x01000193);
  }
  current = text;
  facts.shape = shape;
  facts.letters = letters;
  facts.hash = hash ^ (hash >>> 15);
  return facts;
}

/** Drops the reference to the last text, and an array larger than `MAX_REUSED`. */
export function releaseOctets(): void {
  current = '';
  if (octets.length > MAX_REUSED) octets = new Uint8Array(4_096);
}
