import { describe, expect, it } from 'vitest';
import type { Diagnostic } from '../../../../src/base/diagnostics/diagnostic.ts';
import { diagnosticsText, tally } from '../../../../src/cli/print/diagnostics.ts';

const mistake: Diagnostic = {
  code: 'unknown_field',
  severity: 'error',
  path: ['rules', 1, 'limt'],
  message: 'is not a known field',
  remedy: 'did you mean `limit`?',
  at: { file: 'edge.yaml', line: 2, column: 5 },
};

function printed(diagnostic: Diagnostic, text: string): string {
  return diagnosticsText([diagnostic], { colour: false, texts: new Map([['edge.yaml', text]]) });
}

describe('diagnostics', () => {
  it('show place, sentence, line, caret and remedy', () => {
    expect(printed(mistake, 'rules:\n    limt: 1\n')).toBe(
      [
        'edge.yaml:2:5: error[unknown_field]: rules[1].limt: is not a known field',
        '  2 |     limt: 1',
        '          ^',
        '  = did you mean `limit`?',
        'edgeplan codes unknown_field says more',
        '',
      ].join('\n'),
    );
  });

  it('are printed up to a number, errors first', () => {
    const warning: Diagnostic = { code: 'unused_field', severity: 'warning', path: [], message: 'is odd' };
    const error: Diagnostic = { ...warning, severity: 'error', message: 'is wrong' };
    const options = { colour: false, texts: new Map(), most: 2 };
    expect(diagnosticsText([warning, warning, error], options)).toBe(
      'error[unused_field]: is wrong\nwarning[unused_field]: is odd\nand 1 more\nedgeplan codes unused_field says more\n',
    );
    expect(diagnosticsText([warning, error], options)).toMatch(/^warning.*\nerror.*\n/);
    expect(diagnosticsText([], options)).toBe('');
  });

  it('put the caret under the column a terminal shows', () => {
    const at = { file: 'edge.yaml', line: 1, column: 4 };
    const lines = printed({ ...mistake, at }, '日本\tx').split('\n');
    expect(lines[1]).toBe('  1 | 日本 x');
    expect(lines[2]).toBe('           ^');
  });

  it('cut a long line around the caret', () => {
    const at = { file: 'edge.yaml', line: 1, column: 5_001 };
    const lines = printed({ ...mistake, at }, `${'a'.repeat(5_000)}X${'b'.repeat(5_000)}`).split('\n');
    expect(lines[1]?.length).toBeLessThan(140);
    expect(lines[1]?.[lines[2]?.indexOf('^') ?? 0]).toBe('X');
  });

  it('are printed without a source line that does not exist', () => {
    const { at: _, ...bare } = mistake;
    expect(printed(bare, '')).toMatch(
      /^error\[unknown_field\]: rules\[1\]\.limt: is not a known field\n {2}= did you/,
    );
    expect(printed(mistake, 'one line').split('\n')).toHaveLength(4);
  });

  it('contain no control characters', () => {
    const evil = { ...mistake, message: 'no \u001b[2J' };
    expect(printed(evil, 'x\n    limt\u001b]0;\n')).not.toContain('\u001b');
  });

  it('are counted', () => {
    const warning = { ...mistake, severity: 'warning' as const };
    expect(tally([])).toBe('');
    expect(tally([mistake])).toBe('1 error');
    expect(tally([mistake, warning, mistake, warning])).toBe('2 errors, 2 warnings');
  });
});
