import { describe, expect, test } from 'vitest';
import {
  isOrdinary,
  kindOf,
  LONGEST_WORD,
  lookUp,
  ORDINARY_FUNCTIONS,
  PHRASES,
  phraseOf,
  WORDS,
  wordNumber,
} from '../../../../../../src/engine/waf/detectors/sqli/lexicon.ts';

const words = Object.entries(WORDS).flatMap(([kind, list]) =>
  list
    .trim()
    .split(/\s+/)
    .map((word) => ({ kind, word })),
);

function numberOf(word: string): number {
  return lookUp(word, 0, word.length);
}

describe('the vocabulary', () => {
  test('has each word once, in upper case, no longer than LONGEST_WORD', () => {
    expect(words.length).toBeGreaterThan(700);
    const seen = new Set<string>();
    for (const { word } of words) {
      expect(seen.has(word), word).toBe(false);
      seen.add(word);
      expect(word).toBe(word.toUpperCase());
      expect(word.length).toBeLessThanOrEqual(LONGEST_WORD);
    }
  });

  test('finds every word in any case, with its kind', () => {
    for (const { kind, word } of words) {
      expect(String.fromCharCode(kindOf(numberOf(word))), word).toBe(kind);
      expect(numberOf(word.toLowerCase())).toBe(numberOf(word));
    }
  });

  test('finds a word inside a text, and nothing but whole words', () => {
    expect(lookUp('x union y', 2, 7)).toBe(wordNumber('UNION'));
    expect(lookUp('x union y', 2, 6)).toBe(0);
    expect(lookUp('unions', 0, 6)).toBe(0);
    expect(numberOf('')).toBe(0);
    expect(numberOf('a'.repeat(LONGEST_WORD + 1))).toBe(0);
  });

  test('extends a phrase word by word', () => {
    for (const [kind, phrases] of Object.entries(PHRASES)) {
      for (const phrase of phrases) {
        const number = phrase
          .split(' ')
          .map(numberOf)
          .reduce((first, second) => phraseOf(first, second));
        expect(number, phrase).toBe(wordNumber(phrase));
        expect(['k', 'E', 'T', 'f', 'U', 'B', 'o', 't'], kind).toContain(String.fromCharCode(kindOf(number)));
      }
    }
    expect(phraseOf(numberOf('UNION'), numberOf('SELECT'))).toBe(0);
    expect(phraseOf(0, 0)).toBe(0);
  });

  test('knows the functions of prose and code as ordinary', () => {
    for (const word of ORDINARY_FUNCTIONS.split(/\s+/)) expect(isOrdinary(wordNumber(word)), word).toBe(true);
    expect(isOrdinary(wordNumber('LOAD_FILE'))).toBe(false);
  });

  test('throws for a word that it does not have', () => expect(() => wordNumber('NOPE')).toThrow('`NOPE`'));
});
