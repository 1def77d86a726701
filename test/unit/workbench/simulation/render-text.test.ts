import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { InspectionDocument } from '../../../../src/workbench/simulation/decision-document.ts';
import { paint } from '../../../../src/workbench/simulation/paint.ts';
import {
  columns,
  hang,
  lineColumns,
  pad,
  type RenderedLine,
  span,
  visible,
  wrap,
} from '../../../../src/workbench/simulation/render-text.ts';
import { inspectionFacts, signatureLines } from '../../../../src/workbench/simulation/render-why.ts';

describe('columns', () => {
  it('counts wide characters as two columns and combining marks as none', () => {
    expect(columns('abc')).toBe(3);
    expect(columns('日本')).toBe(4);
    expect(columns('e\u0301')).toBe(1);
    expect(columns('→ ✔ ·')).toBe(5);
    expect(columns('😀')).toBe(2);
  });

  it('pads by columns, not by characters', () => {
    expect(pad('日', 4)).toBe('日  ');
    expect(pad('long', 2)).toBe('long');
  });
});

describe('visible', () => {
  it('does not change ordinary text of any script', () => {
    expect(visible('/päge/日本/😀 x')).toBe('/päge/日本/😀 x');
  });

  it('escapes controls, direction marks and lone surrogates', () => {
    expect(visible('a\u001b[31m\n\u202e\ud800\u009b')).toBe('a\\u{1b}[31m\\u{a}\\u{202e}\\u{d800}\\u{9b}');
  });
});

describe('wrap', () => {
  const flat = (lines: ReturnType<typeof wrap>) => lines.map((line) => line.map((one) => one.text).join(''));

  it('breaks between words, and splits words that are wider than a line', () => {
    expect(flat(wrap([span('one two three')], 8))).toEqual(['one two', 'three']);
    expect(flat(wrap([span('x'.repeat(7))], 3))).toEqual(['xxx', 'xxx', 'x']);
    expect(flat(wrap([span('anything at all')], Number.POSITIVE_INFINITY))).toEqual(['anything at all']);
  });

  it('keeps tones across a break', () => {
    const lines = wrap([span('aa bb', 'good'), span(' cc', 'bad')], 5);
    expect(lines).toEqual([
      [
        { text: 'aa bb', tone: 'good' },
        { text: '', tone: 'bad' },
      ],
      [{ text: 'cc', tone: 'bad' }],
    ]);
  });

  it('drops only blanks and never exceeds the width', () => {
    const words = fc.array(fc.string({ unit: 'grapheme', maxLength: 12 }), { maxLength: 12 });
    fc.assert(
      fc.property(words, fc.integer({ min: 2, max: 40 }), (parts, room) => {
        const text = visible(parts.join(' '));
        const lines = wrap([span(text)], room);
        expect(flat(lines).join('').replace(/\s/g, '')).toBe(text.replace(/\s/g, ''));
        for (const line of lines) expect(lineColumns(line)).toBeLessThanOrEqual(room);
      }),
    );
  });

  it('indents further lines under the first', () => {
    expect(flat(hang([span('→ ')], [[span('a')], [span('b')]]))).toEqual(['→ a', '  b']);
  });
});

const MATCH = {
  id: 942_100,
  message: 'SQL injection',
  severity: 2,
  category: 'sqli',
  score: 5,
  variable: 'ARGS:id',
  value: '1 or 1',
};

const FOUND: InspectionDocument = {
  score: 5,
  ids: [942_100],
  matches: [MATCH],
  categories: { sqli: 5 },
  denied: false,
  body_error: null,
  exhausted: false,
  truncated: false,
  paranoia: 2,
  threshold: 7,
  excludes: [],
  exclusions: [],
  uninspected: null,
  on_uninspected: 'score',
};

function text(lines: readonly RenderedLine[]): readonly string[] {
  return paint(lines, false).trimEnd().split('\n');
}

function facts(found: Partial<InspectionDocument>): readonly string[] {
  return inspectionFacts({ ...FOUND, ...found }).flatMap(({ head, parts }) =>
    text([parts]).map((line) => `${head}: ${line}`),
  );
}

describe('signatureLines', () => {
  test('each signature is one line: id, score, severity, message, category, variable and value', () => {
    const other = { ...MATCH, id: 7, score: 0, severity: -1, category: '', variable: '', message: 'a note' };
    expect(text(signatureLines({ ...FOUND, matches: [other, MATCH] }, { width: 100, most: 9 }))).toEqual([
      '7       none          a note',
      '942100  +5 critical   SQL injection (sqli)  ARGS:id `1 or 1`',
    ]);
  });

  test('signatures beyond the limit are counted', () => {
    const matches = [1, 2, 3].map((id) => ({ ...MATCH, id }));
    const lines = text(signatureLines({ ...FOUND, matches }, { width: 100, most: 1 }));
    expect(lines.slice(1)).toEqual(['+ 2 more signatures']);
    expect(text(signatureLines({ ...FOUND, matches }, { width: 100, most: 2 })).at(-1)).toBe(
      '+ 1 more signature',
    );
  });

  test('no line is wider than the terminal, and control characters are escaped', () => {
    const lines = text(
      signatureLines(
        { ...FOUND, matches: [{ ...MATCH, value: `\u001b[2J${'a b '.repeat(30)}` }] },
        { width: 60, most: 1 },
      ),
    );
    expect(lines.every((line) => line.length <= 60)).toBe(true);
    expect(lines.join('')).toContain('\\u{1b}[2J');
  });
});

describe('inspectionFacts', () => {
  test('the facts list the settings and the score by category', () => {
    expect(facts({})).toEqual(['paranoia: 2', 'score: 5, threshold 7 · sqli 5']);
  });

  test.each<[Partial<InspectionDocument>, string]>([
    [{ truncated: true }, 'body: cut at body_cap_kb, the rest was not inspected'],
    [{ uninspected: 'coding', on_uninspected: 'block' }, 'body: uninspected: coding, on_uninspected block'],
    [{ body_error: 'json: it ends inside a text' }, 'body: not readable: json: it ends inside a text'],
    [{ exhausted: true }, 'steps: exhausted, which counts as reaching the threshold'],
    [{ denied: true }, 'denied: by a signature, whatever the score'],
    [
      {
        excludes: ['1'],
        exclusions: [
          { id: 942_100, tag: null, target: 'ARGS:comment' },
          { id: null, tag: 'attack-xss', target: null },
        ],
      },
      'excluded: 1 · 942100 for ARGS:comment · tag attack-xss',
    ],
  ])('the inspection %j is printed as a fact', (found, line) => {
    expect(facts(found)).toContain(line);
  });
});
