import { expect, test } from 'vitest';
import { pairUp } from '../../../../src/cli/apply/pair-rules.ts';

const whole = { desired: (text: string) => text, existing: (text: string) => text, unique: false };
const first = (unique: boolean) => ({
  desired: (text: string) => text[0] ?? null,
  existing: (text: string) => text[0] ?? null,
  unique,
});

test.each([
  { desired: ['a1', 'b1'], existing: ['b1', 'a1'], unique: true, pairs: { a1: 'a1', b1: 'b1' }, left: [] },
  { desired: ['a1'], existing: ['a2'], unique: true, pairs: { a1: 'a2' }, left: [] },
  { desired: ['a1'], existing: ['a2', 'a3'], unique: true, pairs: {}, left: ['a2', 'a3'] },
  { desired: ['a1'], existing: ['a2', 'a3'], unique: false, pairs: { a1: 'a2' }, left: ['a3'] },
  { desired: ['a1', 'a2'], existing: ['a2', 'a3'], unique: true, pairs: { a2: 'a2', a1: 'a3' }, left: [] },
  { desired: ['a1', 'a1'], existing: ['a1'], unique: false, pairs: { a1: 'a1' }, left: [] },
  { desired: [''], existing: [''], unique: false, pairs: { '': '' }, left: [] },
])('pairs $desired with $existing (unique: $unique)', ({ desired, existing, unique, pairs, left }) => {
  const found = pairUp(desired, existing, [whole, first(unique)]);
  expect(Object.fromEntries(found.pairs)).toEqual(pairs);
  expect(found.left).toEqual(left);
});
