/** The union of wildcards against each of them alone. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  acceptsLetters,
  createLetters,
  FATE,
  wildcardAutomaton,
} from '../../../../../src/workbench/proofs/space/automaton.ts';
import { createRoom } from '../../../../../src/workbench/proofs/space/budget.ts';
import { unionAutomaton } from '../../../../../src/workbench/proofs/space/union.ts';

const letters = createLetters({ literals: ['abc'], tables: [] });
const spelled = (text: string): readonly number[] =>
  [...text].map((character) => letters.letterOf(character.codePointAt(0)!));
const wildcard = fc
  .string({ unit: fc.constantFrom('a', 'b', '*'), minLength: 1, maxLength: 7 })
  .map((text) => text.replace(/\*+/g, '*').split('*'));
const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 9 });

test('a union accepts what one of its wildcards accepts', () => {
  fc.assert(
    fc.property(
      fc.array(wildcard, { maxLength: 10 }),
      fc.array(text, { maxLength: 8 }),
      (wildcards, texts) => {
        const union = unionAutomaton(wildcards, { letters, room: createRoom() })!;
        const each = wildcards.map((pieces) => wildcardAutomaton(pieces, letters));
        for (const one of texts) {
          const some = each.some((automaton) => acceptsLetters(automaton, spelled(one)));
          expect(acceptsLetters(union, spelled(one))).toBe(some);
        }
      },
    ),
    { numRuns: 3_000 },
  );
});

test('a state of a union is decided if one wildcard matches whatever follows', () => {
  const union = unionAutomaton(
    [
      ['a', ''],
      ['', 'b'],
      ['', 'cc', ''],
    ],
    { letters, room: createRoom() },
  )!;
  const fateAfter = (text: string): number => {
    const state = spelled(text).reduce((at, letter) => union.next[at * letters.count + letter]!, union.start);
    return union.fate[state]!;
  };
  expect(['', 'a', 'bb', 'bcc'].map(fateAfter)).toEqual([FATE.open, FATE.all, FATE.open, FATE.all]);
});

test('a union of more states than a space may have is not made', () => {
  const long = Array.from({ length: 1_024 }, (_, index) => [
    `${index.toString(2).padStart(10, '0').replaceAll('0', 'b').replaceAll('1', 'c')}${'a'.repeat(100)}`,
  ]);
  expect(unionAutomaton(long, { letters, room: createRoom() })).toBeNull();
});
