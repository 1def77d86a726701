import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compile } from '../../../../src/engine/compiler/index.ts';
import {
  createPatternPool,
  type PatternForm,
  type PatternKeys,
  placePattern,
} from '../../../../src/engine/compiler/patterns.ts';
import { createLoaded, patternMatches } from '../../../../src/engine/evaluator/loaded.ts';
import { PATTERN_KIND } from '../../../../src/engine/plan/layout.ts';
import { rule, ruleSet } from '../../../support/sample-rules.ts';

function compiled(form: PatternForm, source: string): { readonly kind: number; readonly keys: PatternKeys } {
  const pool = createPatternPool();
  return pool.list[placePattern(pool, form, source)]!;
}

const NO_KEYS: PatternKeys = { exact: null, prefix: null, suffix: null, inner: [], anyOf: null };

describe('the cheapest exact test', () => {
  test.each<[PatternForm, string, keyof typeof PATTERN_KIND, Partial<PatternKeys>]>([
    ['path_wildcard', '/*', 'any', {}],
    ['path_wildcard', '*', 'any', {}],
    ['path_wildcard', '/**', 'any', {}],
    ['path_wildcard', '***', 'any', {}],
    ['path_wildcard', '/a', 'exact', { exact: '/a' }],
    ['path_wildcard', '/%61%2A', 'exact', { exact: '/a*' }],
    ['path_wildcard', '/api/*', 'prefix', { prefix: '/api/' }],
    ['path_wildcard', '/api/**', 'prefix', { prefix: '/api/' }],
    ['path_wildcard', '*.php', 'suffix', { suffix: '.php' }],
    ['path_wildcard', '*x*', 'contains', { inner: ['x'] }],
    ['path_wildcard', '**x**', 'contains', { inner: ['x'] }],
    ['path_wildcard', '/*.php', 'pieces', { suffix: '.php' }],
    ['path_wildcard', '/*x*', 'pieces', { inner: ['x'] }],
    ['path_wildcard', '/a*b', 'pieces', { prefix: '/a', suffix: 'b' }],
    ['path_wildcard', '/a*m*n*b', 'pieces', { prefix: '/a', suffix: 'b', inner: ['m', 'n'] }],
    ['host_exact', 'WWW.Example.com.', 'exact', { exact: 'www.example.com' }],
    ['host_wildcard', '*', 'any', {}],
    ['host_wildcard', '*.Example.com', 'suffix', { suffix: '.example.com' }],
    ['host_wildcard', 'api.*', 'prefix', { prefix: 'api.' }],
    ['host_wildcard', 'example.com', 'exact', { exact: 'example.com' }],
    ['host_regex', '^API\\.', 'dfa', { prefix: 'api.' }],
    ['path_regex', '^/api/', 'dfa', { prefix: '/api/' }],
    ['path_regex', '/', 'dfa', {}],
  ])('%s %s: %s', (form, source, kind, keys) => {
    const pattern = compiled(form, source);
    expect(pattern.kind).toBe(PATTERN_KIND[kind]);
    if (form.endsWith('regex')) expect(pattern.keys).toMatchObject(keys);
    else expect(pattern.keys).toEqual({ ...NO_KEYS, ...keys });
  });

  test('one source in two forms is two patterns, in one form one', () => {
    const pool = createPatternPool();
    const numbers = (['path_wildcard', 'path_regex', 'host_regex', 'path_wildcard'] as const).map((form) =>
      placePattern(pool, form, '/a'),
    );
    expect(numbers).toEqual([0, 1, 2, 0]);
  });
});

describe('every text that matches carries the keys', () => {
  function expectKeys(keys: PatternKeys, text: string): void {
    if (keys.exact !== null) expect(text).toBe(keys.exact);
    if (keys.prefix !== null) expect(text.startsWith(keys.prefix)).toBe(true);
    if (keys.suffix !== null) expect(text.endsWith(keys.suffix)).toBe(true);
    for (const literal of keys.inner) expect(text).toContain(literal);
    if (keys.anyOf !== null) expect(keys.anyOf.some((literal) => text.includes(literal))).toBe(true);
  }

  const texts = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '/', '.'), maxLength: 8 }), {
    maxLength: 20,
  });
  const atoms = fc.constantFrom(
    'a',
    'b',
    '/',
    '\\.',
    '.*',
    '(?:a|b)',
    '(?:ab|ba)?',
    '[ab]',
    '^',
    '$',
    '(?i:A)',
    'a+',
    '(?:/b|/a/)',
  );

  test.each([
    ['path_wildcard', fc.string({ unit: fc.constantFrom('a', 'b', '/', '*'), minLength: 1, maxLength: 7 })],
    ['path_regex', fc.array(atoms, { minLength: 1, maxLength: 6 }).map((list) => list.join(''))],
  ] as const)('%s', (form, sources) => {
    let matched = 0;
    fc.assert(
      fc.property(sources, texts, (source, list) => {
        if (source.includes('//') && form === 'path_wildcard') return;
        const fields = {
          path_match_type: form === 'path_regex' ? 'regex' : 'wildcard',
          path_includes: [source],
        } as const;
        const { plan } = compile(ruleSet({ rules: [rule('drop', 1, fields)] }));
        const loaded = createLoaded(plan, 0);
        const { keys } = compiled(form, source);
        for (const text of list) {
          if (!patternMatches(loaded, 0, `/${text}`)) continue;
          matched++;
          expectKeys(keys, `/${text}`);
        }
      }),
      { numRuns: 800 },
    );
    expect(matched).toBeGreaterThan(150);
  });
});
