import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseTemplate, templateShape } from '../../../../src/base/paths/path-template.ts';
import { createRouter, type LoadedOperation } from '../../../../src/engine/evaluator/operations.ts';
import { operationsAt } from '../../../oracle/path-templates.ts';

function operation(path: string, methods: readonly string[] = ['GET']): LoadedOperation {
  return { index: 0, id: path, path, methods, scopes: [], tags: [], open: false, throttle: null };
}

function found(templates: readonly string[], path: string): string | null {
  return (
    createRouter(templates.map((one) => operation(one)))
      .find(path)
      ?.get('GET')?.path ?? null
  );
}

describe('a router', () => {
  test.each<[string, readonly string[], string, string | null]>([
    ['prefers literal text to a parameter', ['/{x}', '/a'], '/a', '/a'],
    ['prefers text with parameters to a parameter alone', ['/{x}', '/{x}.json'], '/a.json', '/{x}.json'],
    ['prefers more literal text', ['/{x}.json', '/a{x}.json'], '/ab.json', '/a{x}.json'],
    ['decides at the first segment that differs', ['/{x}/b', '/a/{x}'], '/a/b', '/a/{x}'],
    ['goes back from a template that fails later', ['/a/{x}/c', '/{x}/b/d'], '/a/b/d', '/{x}/b/d'],
    ['goes back over text with parameters', ['/a{x}/c', '/{x}b/d'], '/ab/d', '/{x}b/d'],
    ['takes a trailing slash for a segment of its own', ['/a'], '/a/', null],
    ['gives no parameter the empty segment', ['/{x}'], '/', null],
    ['finds the root', ['/{x}', '/'], '/', '/'],
    ['compares decoded text', ['/%C3%A9'], '/é', '/%C3%A9'],
    ['compares case', ['/a'], '/A', null],
    ['has no property of objects', ['/a'], '/constructor', null],
  ])('%s', (_, templates, path, expected) => {
    expect(found(templates, path)).toBe(expected);
    expect(found([...templates].reverse(), path)).toBe(expected);
  });

  test('has the methods of all operations of a path, whatever they call its parameters', () => {
    const router = createRouter([operation('/a/{x}', ['GET', 'PUT']), operation('/a/{y}', ['POST'])]);
    expect([...router.find('/a/1')!.keys()]).toEqual(['GET', 'PUT', 'POST']);
  });

  test('agrees with trying every template', () => {
    const letters = (minLength: number): fc.Arbitrary<string> =>
      fc.string({ unit: fc.constantFrom('a', 'b', '.'), minLength, maxLength: 2 });
    const mixed = fc
      .tuple(letters(0), letters(1), letters(0), fc.boolean())
      .map(([start, middle, end, two]) => (two ? `${start}{x}${middle}{y}${end}` : `${start}{x}${end}`));
    const segment = fc.oneof(letters(1), letters(1), mixed, fc.constant('{x}'));
    const template = fc
      .tuple(fc.array(segment, { minLength: 1, maxLength: 4 }), fc.boolean())
      .map(([segments, slash]) => `/${segments.join('/')}${slash ? '/' : ''}`)
      .filter((text) => parseTemplate(text).ok);
    const path = fc
      .tuple(
        fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '.'), minLength: 1, maxLength: 4 }), {
          maxLength: 4,
        }),
        fc.boolean(),
      )
      .map(([segments, slash]) => `/${segments.join('/')}${slash && segments.length > 0 ? '/' : ''}`);
    let hits = 0;
    fc.assert(
      fc.property(
        fc.uniqueArray(template, {
          minLength: 1,
          maxLength: 12,
          selector: (text) => {
            const parsed = parseTemplate(text);
            return parsed.ok ? templateShape(parsed.segments) : text;
          },
        }),
        fc.array(path, { minLength: 8, maxLength: 8 }),
        (templates, paths) => {
          const router = createRouter(templates.map((one) => operation(one)));
          const naive = templates.map((one) => ({ path: one, methods: ['GET'] }));
          for (const one of paths) {
            const expected = operationsAt(naive, one)[0]?.path ?? null;
            if (expected !== null) hits++;
            expect(router.find(one)?.get('GET')?.path ?? null).toBe(expected);
          }
        },
      ),
      { numRuns: 3_000 },
    );
    expect(hits).toBeGreaterThan(1_000);
  });
});
