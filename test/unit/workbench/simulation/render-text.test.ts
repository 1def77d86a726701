import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  columns,
  hang,
  lineColumns,
  pad,
  span,
  visible,
  wrap,
} from '../../../../src/workbench/simulation/render-text.ts';

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
