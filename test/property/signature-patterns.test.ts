/** What a program knows of a pattern ahead of time never rules out a text that the pattern matches. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { buildDfa } from '../../src/base/regex/dfa.ts';
import { captureGroups } from '../../src/base/regex/regex.ts';
import { dfaMatches } from '../../src/base/regex/table.ts';
import { lowerAscii } from '../../src/engine/waf/seclang/lower-operator.ts';
import { compilePattern, signaturePattern, withinLatin1 } from '../../src/engine/waf/seclang/patterns.ts';

const letter = fc.constantFrom('a', 'b', 'B', 'c', '<', '\\(', '\\x5c', ' ', '\\xe9');
const pattern = fc.letrec<{ regex: string }>((tie) => ({
  regex: fc.oneof(
    { maxDepth: 4 },
    fc.array(letter, { minLength: 1, maxLength: 3 }).map((letters) => letters.join('')),
    fc.constantFrom('[ab]', '[^a]', '\\s', '.', '\\b', '\\d', '^', '$', '(?i:ab)'),
    fc.tuple(tie('regex'), tie('regex')).map(([a, b]) => `${a}${b}`),
    fc.tuple(tie('regex'), tie('regex')).map(([a, b]) => `(?:${a}|${b})`),
    fc
      .tuple(tie('regex'), fc.constantFrom('*', '+', '?', '{2}', '*?', '{1,3}'))
      .map(([a, b]) => `(?:${a})${b}`),
  ),
})).regex;
const text = fc
  .array(fc.constantFrom('a', 'b', 'B', 'c', 'A', '<', '(', '\\', ' ', '\u000b', '\n', '\u00e9', '1'), {
    maxLength: 14,
  })
  .map((characters) => characters.join(''));

test('required literals, compiled DFAs and guards agree with re2js', () => {
  let matched = 0;
  let guarded = 0;
  const property = fc.property(
    fc.boolean(),
    pattern,
    fc.array(text, { minLength: 12, maxLength: 12 }),
    (folds, source, texts) => {
      const read = signaturePattern(source, folds);
      fc.pre(read.ok);
      const { dfa, required } = compilePattern(read.pattern.program);
      const small = buildDfa(withinLatin1(read.pattern.program), {
        states: 3,
        octets: 1 << 16,
        steps: 1 << 20,
        guard: 64,
      });
      const guard = small.ok ? null : small.guard;
      for (const one of texts) {
        const matches = captureGroups(read.pattern.source, read.pattern.ignoreCase, one) !== null;
        if (dfa !== null) expect(dfaMatches(dfa, 0, one)).toBe(matches);
        if (guard !== null && !matches && !dfaMatches(guard, 0, one)) guarded++;
        if (!matches) continue;
        matched++;
        if (guard !== null) expect(dfaMatches(guard, 0, one)).toBe(true);
        if (required !== null)
          expect(required.some((literal) => lowerAscii(one).includes(literal))).toBe(true);
      }
    },
  );
  fc.assert(property, { numRuns: 1_500 });
  expect(matched).toBeGreaterThan(1_000);
  expect(guarded).toBeGreaterThan(100);
});
