/**
 * Looks a word up without making a string of it: an open-addressing table over the upper-cased characters, built once
 * at load from `words.ts`. A word is its number here; 0 is any word that SQL does not know.
 */
import { BAREWORD } from './kinds.ts';
import { ORDINARY_FUNCTIONS, PHRASES, WORDS } from './words.ts';

/** Longest word that is looked up, in characters. Longer ones are not in the vocabulary, which the lexicon's test holds. */
export const LONGEST_WORD = 36;

/** A power of two, some four times the number of words: most look-ups end at the first slot. */
const SLOTS = 8192;
const MASK = SLOTS - 1;

const texts: string[] = [''];
const kinds: number[] = [BAREWORD];
const slots = new Uint16Array(SLOTS);
const pairs = new Map<number, number>();
const opensPhrase: boolean[] = [false];

for (const [kind, words] of Object.entries(WORDS)) {
  for (const word of words.split(/\s+/)) if (word !== '') enter(word, kind.charCodeAt(0));
}
for (const [kind, phrases] of Object.entries(PHRASES)) {
  for (const phrase of phrases) enterPhrase(phrase.split(' '), kind.charCodeAt(0));
}

function upper(code: number): number {
  return code >= 0x61 && code <= 0x7a ? code - 0x20 : code;
}

function add(text: string, kind: number): number {
  texts.push(text);
  opensPhrase.push(false);
  return kinds.push(kind) - 1;
}

function enter(word: string, kind: number): number {
  const known = lookUp(word, 0, word.length);
  if (known !== 0) return known;
  let slot = 0;
  for (let i = 0; i < word.length; i++) slot = hashed(slot, word.charCodeAt(i));
  slot &= MASK;
  while (slots[slot] !== 0) slot = (slot + 1) & MASK;
  const number = add(word, kind);
  slots[slot] = number;
  return number;
}

/** Each shorter beginning becomes a phrase too, so that a phrase can grow by one word at a time. */
function enterPhrase(words: readonly string[], kind: number): void {
  let phrase = enter(words[0]!, BAREWORD);
  for (let i = 1; i < words.length; i++) {
    const key = pairKey(phrase, enter(words[i]!, BAREWORD));
    opensPhrase[phrase] = true;
    const known = pairs.get(key);
    phrase = known ?? add(words.slice(0, i + 1).join(' '), kind);
    if (known === undefined) pairs.set(key, phrase);
  }
}

function pairKey(first: number, second: number): number {
  return first * 65_536 + second;
}

/** The hash of a word goes on by one character, in any case. */
export function hashed(hash: number, code: number): number {
  return (Math.imul(hash, 31) + upper(code)) | 0;
}

/** The word that `text[start, end)` is, in any case; 0: none. */
export function lookUp(text: string, start: number, end: number): number {
  if (end - start > LONGEST_WORD) return 0;
  let hash = 0;
  for (let i = start; i < end; i++) hash = hashed(hash, text.charCodeAt(i));
  return find(text, start, end, hash);
}

/** The word that `text[start, end)` is, whose hash is known; 0: none. */
export function find(text: string, start: number, end: number, hash: number): number {
  if (end - start > LONGEST_WORD) return 0;
  for (let slot = hash & MASK; slots[slot] !== 0; slot = (slot + 1) & MASK) {
    if (sameWord(texts[slots[slot]!]!, text, start, end)) return slots[slot]!;
  }
  return 0;
}

function sameWord(word: string, text: string, start: number, end: number): boolean {
  if (word.length !== end - start) return false;
  for (let i = 0; i < word.length; i++)
    if (word.charCodeAt(i) !== upper(text.charCodeAt(start + i))) return false;
  return true;
}

/** The kind a word or phrase has by itself. */
export function kindOf(word: number): number {
  return kinds[word]!;
}

/** The phrase that two words make, or that a phrase and one more word make; 0: none. */
export function phraseOf(first: number, second: number): number {
  if (second === 0 || !opensPhrase[first]) return 0;
  return pairs.get(pairKey(first, second)) ?? 0;
}

/** The number of a word or phrase that is known to be in the vocabulary. */
export function wordNumber(text: string): number {
  const number = texts.indexOf(text);
  if (number < 0) throw new Error(`\`${text}\` is not in the vocabulary`);
  return number;
}

const ordinary: ReadonlySet<number> = new Set(ORDINARY_FUNCTIONS.split(/\s+/).map(wordNumber));

/** Whether a function is one that text without SQL calls too. */
export function isOrdinary(word: number): boolean {
  return ordinary.has(word);
}
