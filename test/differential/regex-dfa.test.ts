/** The DFA answers as `re2js` and as Google's own RE2 do, on every construct and every kind of character. */
import { RE2 } from 're2-wasm';
import { RE2JS } from 're2js';
import { expect, test } from 'vitest';
import { buildDfa } from '../../src/base/regex/dfa.ts';
import { type Pattern, parsePattern, requiredLiterals } from '../../src/base/regex/regex.ts';
import { dfaMatches } from '../../src/base/regex/table.ts';
import { anchorPattern, generatePattern, generateText, seededRandom } from './regex-generator.ts';

/** re2-wasm's heap is fixed and never freed: it aborts after some thousand patterns. */
const PATTERNS_WITH_WASM = 300;
const PATTERNS = 1_200;
const TEXTS = 30;
const TEXTS_WITH_WASM = 70;

function accept(source: string, ignoreCase: boolean): Pattern {
  const result = parsePattern(source, { ignoreCase });
  if (!result.ok) throw new Error(`${source}: ${result.reason}`);
  return result.pattern;
}

function lowerAscii(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** RE2 searches UTF-8 octets, and there `\\B` holds between two octets of one character, where re2js has no place. */
function octetwise(source: string, text: string): boolean {
  return source.includes('\\B') && /[^\0-\x7f]/.test(text);
}

test('the DFA, re2js and RE2 agree on generated patterns and texts', () => {
  const random = seededRandom(20_260_101);
  let pairs = 0;
  let matched = 0;
  let unfit = 0;
  for (let count = 0; count < PATTERNS; count++) {
    const generated = generatePattern(random, 4);
    const ignoreCase = random.below(2) === 1;
    const pattern = accept(generated.source, ignoreCase);
    const dfa = buildDfa(pattern.program);
    const flags = ignoreCase ? RE2JS.DOTALL | RE2JS.CASE_INSENSITIVE : RE2JS.DOTALL;
    const regex = RE2JS.compile(generated.source, flags);
    const wasm = count < PATTERNS_WITH_WASM ? new RE2(generated.source, ignoreCase ? 'usi' : 'us') : null;
    if (!dfa.ok) {
      unfit++;
      continue;
    }
    for (let i = 0; i < (wasm === null ? TEXTS : TEXTS_WITH_WASM); i++) {
      const text = generateText(random, generated);
      const expected = regex.test(text);
      const actual = dfaMatches(dfa.table, 0, text);
      const third = wasm === null || octetwise(generated.source, text) ? expected : wasm.test(text);
      pairs++;
      if (expected) matched++;
      if (actual !== expected || third !== expected) {
        const { source } = generated;
        expect.fail(JSON.stringify({ source, ignoreCase, text, dfa: actual, re2js: expected, re2: third }));
      }
    }
  }
  expect(pairs).toBeGreaterThan(45_000);
  expect(unfit).toBeLessThan(PATTERNS / 100);
  expect(matched / pairs).toBeGreaterThan(0.25);
  expect(matched / pairs).toBeLessThan(0.75);
});

test('every matching text holds the required literals', () => {
  const random = seededRandom(7);
  const told = { exact: 0, prefix: 0, suffix: 0, inner: 0, anyOf: 0 };
  for (let count = 0; count < PATTERNS; count++) {
    const free = generatePattern(random, 3);
    const generated = random.below(3) > 0 ? anchorPattern(random, free) : free;
    const ignoreCase = random.below(2) === 1;
    const pattern = accept(generated.source, ignoreCase);
    const dfa = buildDfa(pattern.program);
    if (!dfa.ok) continue;
    const anyText = requiredLiterals(pattern);
    const asciiText = requiredLiterals(pattern, { asciiText: true });
    for (const key of ['exact', 'prefix', 'suffix', 'anyOf'] as const) if (anyText[key] !== null) told[key]++;
    if (anyText.inner.length > 0) told.inner++;
    for (let i = 0; i < TEXTS; i++) {
      const text = generateText(random, generated);
      if (!dfaMatches(dfa.table, 0, text)) continue;
      const seen = ignoreCase ? lowerAscii(text) : text;
      for (const literals of /[^\0-\x7f]/.test(text) ? [anyText] : [anyText, asciiText]) {
        const sound =
          (literals.exact === null || seen === literals.exact) &&
          seen.startsWith(literals.prefix ?? '') &&
          seen.endsWith(literals.suffix ?? '') &&
          literals.inner.every((literal) => seen.includes(literal)) &&
          (literals.anyOf === null || literals.anyOf.some((literal) => seen.includes(literal)));
        if (!sound) expect.fail(JSON.stringify({ source: generated.source, ignoreCase, text, literals }));
      }
    }
  }
  // The generator must make patterns of every kind for the above to mean anything.
  expect(Math.min(...Object.values(told)), JSON.stringify(told)).toBeGreaterThan(10);
});
