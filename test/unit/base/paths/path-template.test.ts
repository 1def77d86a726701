import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  parseTemplate,
  segmentMatches,
  type TemplateSegment,
  templateShape,
} from '../../../../src/base/paths/path-template.ts';

function segmentsOf(template: string): readonly TemplateSegment[] {
  const parsed = parseTemplate(template);
  if (!parsed.ok) throw new Error(`${template}: ${parsed.message}`);
  return parsed.segments;
}

function segmentOf(text: string): TemplateSegment {
  return segmentsOf(`/${text}`)[0]!;
}

describe('parseTemplate', () => {
  test.each<[string, readonly (readonly string[])[], readonly string[]]>([
    ['/', [['']], []],
    ['/orders', [['orders']], []],
    ['/orders/', [['orders'], ['']], []],
    ['/orders/{id}', [['orders'], ['', '']], ['id']],
    ['/{name}.{type}', [['', '.', '']], ['name', 'type']],
    ['/a{x}b{y}c', [['a', 'b', 'c']], ['x', 'y']],
    ['/%C3%A9/%61{x}', [['é'], ['a', '']], ['x']],
    ['/%7Bx%7D', [['{x}']], []],
    ['/%2A', [['*']], []],
    ['/{a b}', [['', '']], ['a b']],
    ['/.x', [['.x']], []],
    ['/...', [['...']], []],
    ['/.{x}', [['.', '']], ['x']],
  ])('splits %s', (template, texts, parameters) => {
    const segments = segmentsOf(template);
    expect(segments.map((segment) => segment.texts)).toEqual(texts);
    expect(segments.flatMap((segment) => segment.parameters)).toEqual(parameters);
  });

  test.each([
    ['', 'must start with `/`'],
    ['orders', 'must start with `/`'],
    ['/a?b', 'query'],
    ['/a#b', 'query'],
    ['/%', 'bad percent escape'],
    ['/%zz', 'bad percent escape'],
    ['//', 'empty segments'],
    ['/a//b', 'empty segments'],
    ['/.', 'dot segments'],
    ['/a/..', 'dot segments'],
    ['/%2e%2E/a', 'dot segments'],
    ['/..;p/a', 'dot segments'],
    ['/;p', 'dot segments'],
    ['/b;p=1', 'without what follows the `;`'],
    ['/b%3Bp/c', 'without what follows the `;`'],
    ['/{x};{y}', 'without what follows the `;`'],
    ['/a%2Fb', 'escaped slash'],
    ['/a%5cb', 'escaped slash'],
    ['/a\\b', 'escaped slash'],
    ['/{x}%2F{y}', 'escaped slash'],
    ['/{}', '{name}'],
    ['/{x', '{name}'],
    ['/x}', '{name}'],
    ['/{{x}}', '{name}'],
    ['/{x/y}', '{name}'],
    ['/{x}{y}', 'text between'],
    ['/a{x}{y}b', 'text between'],
  ])('refuses %s', (template, words) => {
    const parsed = parseTemplate(template);
    expect(parsed.ok ? 'accepted' : parsed.message).toContain(words);
  });
});

describe('segmentMatches', () => {
  test.each<[string, readonly string[], readonly string[]]>([
    ['a', ['a'], ['', 'A', 'aa', 'b']],
    ['{x}', ['a', '*', 'a b', '{x}', ';p'], ['']],
    ['a{x}', ['ab', 'aa'], ['a', 'b', '']],
    ['{x}a', ['ba', 'aa'], ['a', 'ab']],
    ['a{x}a', ['aba', 'aaa'], ['aa', 'a', 'ab']],
    ['{x}-{y}', ['a-b', '---', '--x', 'x--', 'a-b-c'], ['-', '-a', 'a-', '--']],
    ['{x}.{y}.{z}', ['a.b.c', '.....', 'a.b.c.d'], ['a.b', '...', 'a..b', '....']],
    ['x{a}x{b}x', ['xaxbx', 'xxxxx'], ['xxx', 'xxxx', 'xaxx']],
  ])('%s', (template, matching, others) => {
    const segment = segmentOf(template);
    for (const text of matching) expect(segmentMatches(segment, text), text).toBe(true);
    for (const text of others) expect(segmentMatches(segment, text), text).toBe(false);
  });

  test('a segment matches exactly if some text for each parameter makes it', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 2 });
    const filled = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 2 });
    const between = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 2 });
    const template = fc.tuple(letters, fc.array(between, { maxLength: 3 }), letters);
    const made = fc.tuple(template, fc.array(filled, { minLength: 4, maxLength: 4 }));
    const tried = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 9 });
    fc.assert(
      fc.property(made, tried, ([[start, middle, end], values], other) => {
        const texts = [start, ...middle, end];
        const segment = segmentOf(texts.join('{x}'));
        const text = texts.map((one, index) => (index === 0 ? one : values[index - 1]! + one)).join('');
        expect(segmentMatches(segment, text)).toBe(true);
        expect(segmentMatches(segment, other)).toBe(new RegExp(`^${texts.join('[ab]+')}$`).test(other));
      }),
      { numRuns: 2_000 },
    );
  });
});

test('templates that differ in names of parameters and in escapes alone have one shape', () => {
  const shapeOf = (template: string): string => templateShape(segmentsOf(template));
  expect(shapeOf('/a/{x}/{y}.b')).toBe(shapeOf('/%61/{other}/{z}.%62'));
  const shapes = ['/a', '/a/', '/{x}', '/a{x}', '/{x}a', '/a/{x}', '/{x}/a', '/%7B%7D', '/{x}"{y}', '/%22'];
  expect(new Set(shapes.map(shapeOf)).size).toBe(shapes.length);
});
