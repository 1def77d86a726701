import fc from 'fast-check';
import { expect, test } from 'vitest';
import { literalIndex, literalOf, setsIn } from '../../../../../src/engine/waf/patterns/literal-index.ts';

const WORDS = fc
  .array(fc.constantFrom('a', 'b', 'c', '/', '\xe9', '1'), { minLength: 1, maxLength: 5 })
  .map((parts) => parts.join(''));
const SETS = fc.array(fc.array(WORDS, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 40 });
const TEXT = fc
  .array(fc.constantFrom('a', 'b', 'c', 'A', 'B', 'C', '/', '\xe9', '1', 'z'), { maxLength: 60 })
  .map((parts) => parts.join(''));

test('setsIn returns the sets that a case-insensitive search for each literal finds', () => {
  fc.assert(
    fc.property(SETS, fc.array(TEXT, { minLength: 1, maxLength: 3 }), (sets, texts) => {
      const index = literalIndex(sets);
      for (const text of texts) {
        const lower = text.toLowerCase();
        const found = setsIn(index, text);
        const told = sets.map((_, set) => found.length > 0 && (found[set >> 5]! & (1 << (set & 31))) !== 0);
        expect(told).toEqual(sets.map((literals) => literals.some((one) => lower.includes(one))));
        for (const [set, literals] of sets.entries()) {
          const literal = literalOf(index, set, text);
          if (told[set]) expect(literals).toContain(literal?.toLowerCase());
          else expect(literal).toBeNull();
        }
      }
    }),
  );
});

test('setsIn returns no set for an empty index', () => {
  expect(setsIn(literalIndex([]), 'abc')).toHaveLength(0);
});
