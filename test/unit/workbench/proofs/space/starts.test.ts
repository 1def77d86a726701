/** Starts of path filters: two filters that share a path are found by them, in the order of filing. */
import { expect, test } from 'vitest';
import {
  acceptsLetters,
  createLetters,
  type LetterAutomaton,
  wildcardAutomaton,
} from '../../../../../src/workbench/proofs/space/automaton.ts';
import { createStartIndex, startsOf } from '../../../../../src/workbench/proofs/space/starts.ts';
import { seeded } from '../../../../support/generate-random.ts';

const ALPHABET = 'ab/';
const LENGTH = 6;
const letters = createLetters({ literals: [...ALPHABET], tables: [] });
const automatonOf = (pattern: string): LetterAutomaton => wildcardAutomaton(pattern.split('*'), letters);
const ANY = automatonOf('*');

/** Every text of the alphabet up to `LENGTH`, as letters. */
const TEXTS: readonly (readonly number[])[] = (() => {
  const each = [...ALPHABET].map((character) => letters.letterOf(character.codePointAt(0)!));
  const texts: (readonly number[])[] = [[]];
  for (const text of texts) if (text.length < LENGTH) texts.push(...each.map((letter) => [...text, letter]));
  return texts;
})();

test('every filter that shares a text with another is found by its starts', () => {
  const random = seeded(7);
  const pattern = (): string =>
    Array.from({ length: 1 + random.int(5) }, () => random.pick(['a', 'b', '/', '*'])).join('');
  const index = createStartIndex<number>();
  const filed: ReadonlySet<number>[] = [];
  let [shared, found] = [0, 0];
  for (let place = 0; place < 200; place++) {
    const automaton = automatonOf(pattern());
    const own = new Set(TEXTS.flatMap((text, at) => (acceptsLetters(automaton, text) ? [at] : [])));
    const starts = startsOf(automaton, ANY);
    const sharing = index.sharing(starts);
    expect(sharing).toEqual(sharing.toSorted((a, b) => a - b));
    for (const [other, theirs] of filed.entries()) {
      if (![...own].some((text) => theirs.has(text))) continue;
      shared += 1;
      expect(sharing).toContain(other);
    }
    found += sharing.length;
    index.add(starts, place);
    filed.push(own);
  }
  expect(shared).toBeGreaterThan(1_000);
  // Most pairs share nothing, and are not compared.
  expect(found).toBeLessThan((200 * 199) / 2);
});

test('exact paths are found by themselves and by the prefixes that have them', () => {
  const index = createStartIndex<string>();
  for (const one of ['/a', '/ab', '/a/*', '/*', '/b']) index.add(startsOf(automatonOf(one), ANY), one);
  const sharing = (one: string): readonly string[] => index.sharing(startsOf(automatonOf(one), ANY));
  expect(sharing('/a')).toEqual(['/a', '/*']);
  expect(sharing('/a/b')).toEqual(['/a/*', '/*']);
  expect(sharing('/a*')).toEqual(['/a', '/ab', '/a/*', '/*']);
  expect(index.sharing(null)).toEqual(['/a', '/ab', '/a/*', '/*', '/b']);
});

test('starts that no text of the other automaton has are left out', () => {
  const text = (one: string): readonly number[] =>
    [...one].map((character) => letters.letterOf(character.codePointAt(0)!));
  expect(startsOf(automatonOf('*a'), automatonOf('/b*'))).toEqual([{ letters: text('/b'), whole: false }]);
});

test('a filter of any path shares with all', () => {
  const index = createStartIndex<string>();
  index.add(null, 'any');
  expect(index.sharing(startsOf(automatonOf('/a'), ANY))).toEqual(['any']);
});
