import { expect, test } from 'vitest';
import { pairUp } from '../../../../src/cli/apply/pair-up.ts';

const whole = { wanted: (text: string) => text, there: (text: string) => text, unique: false };
const first = (unique: boolean) => ({
  wanted: (text: string) => text[0] ?? null,
  there: (text: string) => text[0] ?? null,
  unique,
});

test.each([
  { wanted: ['a1', 'b1'], there: ['b1', 'a1'], unique: true, pairs: { a1: 'a1', b1: 'b1' }, left: [] },
  { wanted: ['a1'], there: ['a2'], unique: true, pairs: { a1: 'a2' }, left: [] },
  { wanted: ['a1'], there: ['a2', 'a3'], unique: true, pairs: {}, left: ['a2', 'a3'] },
  { wanted: ['a1'], there: ['a2', 'a3'], unique: false, pairs: { a1: 'a2' }, left: ['a3'] },
  { wanted: ['a1', 'a2'], there: ['a2', 'a3'], unique: true, pairs: { a2: 'a2', a1: 'a3' }, left: [] },
  { wanted: ['a1', 'a1'], there: ['a1'], unique: false, pairs: { a1: 'a1' }, left: [] },
  { wanted: [''], there: [''], unique: false, pairs: { '': '' }, left: [] },
])('$wanted and $there, alone: $unique', ({ wanted, there, unique, pairs, left }) => {
  const found = pairUp(wanted, there, [whole, first(unique)]);
  expect(Object.fromEntries(found.pairs)).toEqual(pairs);
  expect(found.left).toEqual(left);
});
