import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDiagnostic } from '../../../../src/base/diagnostics/diagnostic.ts';
import { readYaml, readYamlBytes, type YamlFile } from '../../../../src/rules/files/yaml.ts';

function told({ diagnostics }: YamlFile): string[] {
  return diagnostics.map(formatDiagnostic);
}
const read = (text: string): YamlFile => readYaml(text, 'f.yaml');

describe('readYaml', () => {
  it.each([
    ['a: 1\nb: [x, "y", true, null, ~]\n', { a: 1, b: ['x', 'y', true, null, null] }],
    ['a: [no, NO, yes, on, off]', { a: ['no', 'NO', 'yes', 'on', 'off'] }],
    ['%YAML 1.1\n---\na: no', { a: 'no' }],
    ['{"a": {"b": [1.5, "\\u00e4"]}}', { a: { b: [1.5, 'ä'] } }],
    ['a: &x [1]\nb: *x', { a: [1], b: [1] }],
    ['', null],
    ['502: x\n0502: y', { '502': 'x', '0502': 'y' }],
    ['\ufeffa: 1', { a: 1 }],
  ])('reads %j', (text, value) => expect(read(text)).toMatchObject({ ok: true, value, diagnostics: [] }));

  it.each([
    [
      'hosts:\n  - *.example.com\n',
      'f.yaml:2:5: error: `*.example.com` must be in quotes: an unquoted `*` starts a YAML alias; write "*.example.com"',
    ],
    [
      'a: [*.x, b]',
      'f.yaml:1:5: error: `*.x` must be in quotes: an unquoted `*` starts a YAML alias; write "*.x"',
    ],
    ['a: *', 'f.yaml:1:4: error: an unquoted `*` starts a YAML alias; put the text in quotes: `"*"`'],
    ['a:\n\t- b', 'f.yaml:2:1: error: a tab is used as indentation; indent with spaces'],
    [
      'a: 1\nb: 2\na: 3',
      'f.yaml:3:1: error: the key `a` is repeated; the first is on line 1; remove one of the two, or join their values',
    ],
    [
      '{"a":1,"a":2}',
      'f.yaml:1:8: error: the key `a` is repeated; the first is on line 1; remove one of the two, or join their values',
    ],
    ['a: @x', 'f.yaml:1:4: error: unquoted text must not start with this character; put the text in quotes'],
    [
      'a: b: c',
      'f.yaml:1:4: error: a value contains another `: `; put the text in quotes, or fix the indentation',
    ],
    ['a: 1\n---\nb: 2', 'f.yaml:2:1: error: a file must contain one document; remove the `---` line'],
    ['a: !x', 'f.yaml:1:4: error: an unquoted `!` starts a YAML tag; put the text in quotes'],
    ['<<: {a: 1}', 'f.yaml:1:1: error: merge keys (`<<`) are not supported'],
    ['? [a]\n: b', 'f.yaml:1:3: error: a key must be text'],
    ['a: &x [*x]', 'f.yaml:1:8: error: the alias `*x` refers to a value that contains it'],
    ['a: "x', 'f.yaml:1:6: error: missing closing "quote'],
  ])('refuses %j with its place', (text, message) => {
    const file = read(text);
    expect(file.ok).toBe(false);
    expect(told(file)[0]).toBe(message);
  });

  it('reads an alias without an anchor as text, and reports later mistakes too', () => {
    expect(read('a: [*.x, b]').value).toEqual({ a: ['*.x', 'b'] });
  });

  it('refuses an alias bomb without expanding it', () => {
    const levels = 'bcdefgh'.split('').map((name, index) => {
      const above = 'abcdefg'[index]!;
      return `${name}: &${name} [${Array(20).fill(`*${above}`).join(', ')}]`;
    });
    const file = read(`a: &a [${Array(20).fill('x').join(', ')}]\n${levels.join('\n')}\n`);
    expect(told(file)).toEqual([
      expect.stringContaining('a file must contain at most 500000 values once its aliases are resolved'),
    ]);
  });

  it('refuses a text that is too long or nested too deep', () => {
    expect(told(read('x'.repeat(4_194_305)))).toEqual([
      'f.yaml:1:1: error: a file must be at most 4 MiB (4194304 octets), found 4194305 octets',
    ]);
    expect(read('x'.repeat(4_194_304)).ok).toBe(true);
    expect(told(readYamlBytes(new Uint8Array(10_000_000), 'f.yaml'))).toHaveLength(1);
    expect(read(`${'['.repeat(32)}${']'.repeat(32)}`).ok).toBe(true);
    expect(told(read(`${'['.repeat(33)}${']'.repeat(33)}`)).join()).toContain('at most 32 deep');
    expect(read('- '.repeat(20_000)).ok).toBe(false);
  });

  it('finds repeated keys in one pass', () => {
    const keys = Array.from({ length: 30_000 }, (_, index) => `key${index}: 1`).join('\n');
    expect(told(read(`${keys}\nkey7: 2`))).toEqual([
      'f.yaml:30001:1: error: the key `key7` is repeated; the first is on line 8; remove one of the two, or join their values',
      'f.yaml:8:1: info: `key7` is first written here',
    ]);
  });

  it('returns the place of a value, of its key, or of the value around a missing one', () => {
    const file = read('a:\n  - b: 1\n    c:\n      - x\n      - y\nd:\n');
    expect(file.at(['a', 0, 'b'])).toEqual({ file: 'f.yaml', line: 2, column: 8 });
    expect(file.keyAt(['a', 0, 'b'])).toEqual({ file: 'f.yaml', line: 2, column: 5 });
    expect(file.at(['a', 0, 'c', 1])).toEqual({ file: 'f.yaml', line: 5, column: 9 });
    expect(file.at(['a', 0, 'c', 7, 'z'])).toEqual({ file: 'f.yaml', line: 4, column: 7 });
    expect(file.at(['d'])).toMatchObject({ line: 6 });
    expect(file.at(['nothing'])).toEqual({ file: 'f.yaml', line: 1, column: 1 });
    expect(file.at([])).toEqual({ file: 'f.yaml', line: 1, column: 1 });
  });

  it('returns a plain scalar as it was written', () => {
    const file = read('a: [no, 0x10, "q", true]\nb:');
    expect([0, 1, 2, 3].map((index) => file.plainSource(['a', index]))).toEqual(['no', '0x10', null, 'true']);
    expect(file.plainSource(['a', 9])).toBeNull();
  });

  it('reads every JSON text as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4, noUnicodeString: false }), (value) => {
        const text = JSON.stringify(value, null, 1);
        fc.pre(!text.includes('"<<"'));
        expect(readYaml(text, 'f.json')).toMatchObject({ ok: true, value: JSON.parse(text) });
      }),
      { numRuns: 200 },
    );
  });

  it('returns a diagnostic with a place instead of throwing, for any text', () => {
    const piece = fc.constantFrom(
      ...[
        'a',
        ': ',
        '- ',
        '\n',
        '  ',
        '\t',
        '*x',
        '&x ',
        '[',
        ']',
        '{',
        '}',
        '"',
        "'",
        '|',
        '>',
        '#',
        '!t ',
        '---',
        '?',
        ',',
      ],
    );
    const text = fc.oneof(
      fc.string(),
      fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join('')),
    );
    fc.assert(
      fc.property(text, (source) => {
        const file = read(source);
        expect(file.ok).toBe(file.diagnostics.length === 0);
        for (const { at } of file.diagnostics) expect(at!.line).toBeGreaterThan(0);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('readYamlBytes', () => {
  const bytes = (...parts: (string | number)[]): Uint8Array =>
    new Uint8Array(
      parts.flatMap((part) => (typeof part === 'number' ? [part] : [...new TextEncoder().encode(part)])),
    );

  it('reads UTF-8 text', () =>
    expect(readYamlBytes(bytes('a: ä€🛒'), 'f')).toMatchObject({ ok: true, value: { a: 'ä€🛒' } }));
  it.each([
    [bytes('a: 1\nb: ', 0xff), 2, 4],
    [bytes('a: ä', 0xe4, 'b'), 1, 5],
    [bytes('a: x\nb: 🛒', 0xc3, '\nc: 1'), 2, 6],
    [bytes('a: ', 0xe2, 0x82), 1, 4],
    [bytes(0xff, 0xfe, 'a', 0), 1, 1],
  ])('refuses invalid UTF-8 and returns its place (%#)', (input, line, column) => {
    expect(readYamlBytes(input, 'f')).toMatchObject({
      ok: false,
      diagnostics: [{ code: 'invalid_utf8', at: { file: 'f', line, column } }],
    });
  });
});

it('counts commas and brackets before it parses, so that a file of brackets allocates no nodes', () => {
  const file = readYaml(`[${','.repeat(500_001)}]`, 'edge.yaml');
  expect(file.ok).toBe(false);
  expect(file.diagnostics).toEqual([
    {
      code: 'file_too_long',
      severity: 'error',
      path: [],
      message: 'a file must contain at most 500000 commas and opening brackets',
      remedy: 'divide it, or write lists one entry a line',
      at: { file: 'edge.yaml', line: 1, column: 1 },
    },
  ]);
});

describe('readYamlBytes on octets that are not text', () => {
  const told = (bytes: Uint8Array) => readYamlBytes(bytes, 'edge.yaml').diagnostics;
  const utf16 = (text: string) => new Uint8Array(Buffer.from(text, 'utf16le'));

  it('reports UTF-16 with and without its byte order mark', () => {
    const message = 'must be UTF-8 text; this looks like UTF-16';
    for (const text of ['domain: example.com\n', '\ufeffdomain: example.com\n']) {
      expect(told(utf16(text))).toMatchObject([
        { code: 'invalid_utf8', message, remedy: 'save the file as UTF-8' },
      ]);
      expect(told(utf16(text).reverse())).toMatchObject([{ message }]);
    }
  });

  it('returns the place of the first zero octet', () => {
    expect(told(new Uint8Array(Buffer.from('a: 1\nb: 2\u0000')))).toEqual([
      {
        code: 'invalid_utf8',
        severity: 'error',
        path: [],
        message: 'must be UTF-8 text; these octets are not',
        remedy: 'save the file as UTF-8',
        at: { file: 'edge.yaml', line: 2, column: 5 },
      },
    ]);
  });
});
