/**
 * Looks up words of the vocabulary without allocating a string: an open-addressing hash table over the upper-cased
 * characters, built once from `words.ts` when the module loads. Words are represented by their number; 0 is any word that
 * is not in the vocabulary.
 */
import { BAREWORD } from './kinds.ts';
import { ORDINARY_FUNCTIONS, PHRASES, WORDS } from './words.ts';

/** The longest word of the vocabulary in characters; longer words are not looked up. Asserted by the lexicon's test. */
export const LONGEST_WORD = 36;

/** A power of two, about four times the number of words, so that most lookups end at the first slot. */
const SLOTS = 8192;
const MASK = SLOTS - 1;

/** By number: the word or phrase, its kind, and whether a phrase begins with it. `pairs` maps two numbers to a phrase. */
const texts: string[] = [''];
const kinds: number[] = [BAREWORD];
/** The hash table: by slot, the number of a word; 0: the slot is free. */
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

/** Adds a word or phrase; returns its number. */
function add(text: string, kind: number): number {
  texts.push(text);
  opensPhrase.push(false);
  return kinds.push(kind) - 1;
}

/** Adds a word to the table, unless it is there; returns its number. */
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

/** Adds a phrase and all its prefixes, so that `phraseOf` can extend a phrase by one word at a time. */
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

/** The key of two words in `pairs`; numbers have 16 bits. */
function pairKey(first: number, second: number): number {
  return first * 65_536 + second;
}

/** Extends the hash of a word by one character, without case. */
export function hashed(hash: number, code: number): number {
  return (Math.imul(hash, 31) + upper(code)) | 0;
}

/** Returns the number of the word `text[start, end)`, without case; 0: it is not in the vocabulary. */
export function lookUp(text: string, start: number, end: number): number {
  if (end - start > LONGEST_WORD) return 0;
  let hash = 0;
  for (let i = start; i < end; i++) hash = hashed(hash, text.charCodeAt(i));
  return find(text, start, end, hash);
}

/** As `lookUp`, with the hash that the caller has computed already. */
export function find(text: string, start: number, end: number, hash: number): number {
  if (end - start > LONGEST_WORD) return 0;
  for (let slot = hash & MASK; slots[slot] !== 0; slot = (slot + 1) & MASK) {
    if (sameWord(texts[slots[slot]!]!, text, start, end)) return slots[slot]!;
  }
  return 0;
}

/** Whether `text[start, end)` is `word`, which is in upper case. */
function sameWord(word: string, text: string, start: number, end: number): boolean {
  if (word.length !== end - start) return false;
  for (let i = 0; i < word.length; i++)
    if (word.charCodeAt(i) !== upper(text.charCodeAt(start + i))) return false;
  return true;
}

/** The kind of a word or phrase, regardless of its context. */
export function kindOf(word: number): number {
  return kinds[word]!;
}

/** Returns the phrase of two words, or of a phrase and one more word; 0: there is none. */
export function phraseOf(first: number, second: number): number {
  if (second === 0 || !opensPhrase[first]) return 0;
  return pairs.get(pairKey(first, second)) ?? 0;
}

/** Returns the number of a word or phrase. @throws Error if it is not in the vocabulary: a mistake in our own tables */
export function wordNumber(text: string): number {
  const number = texts.indexOf(text);
  if (number < 0) throw new Error(`\`${text}\` is not in the vocabulary`);
  return number;
}

/** The numbers of `ORDINARY_FUNCTIONS`. */
const ordinary: ReadonlySet<number> = new Set(ORDINARY_FUNCTIONS.split(/\s+/).map(wordNumber));

/** Whether text without SQL also mentions a function (`ORDINARY_FUNCTIONS`). */
export function isOrdinary(word: number): boolean {
  return ordinary.has(word);
}
