import { describe, expect, it } from 'vitest';
import {
  describeDiagnostic,
  formatDiagnostic,
  formatPath,
  hasErrors,
  quoteValue,
} from '../../../../src/base/diagnostics/diagnostic.ts';

const mistake = {
  code: 'out_of_range',
  severity: 'error',
  path: ['rules', 3, 'limit'],
  message: 'must be at least 1',
  found: '0',
  remedy: 'remove the rule to allow nothing',
} as const;

describe('a diagnostic as text', () => {
  it('names the place, the field, what was found and what to do', () => {
    expect(formatDiagnostic({ ...mistake, at: { file: 'edge.yaml', line: 12, column: 7 } })).toBe(
      'edge.yaml:12:7: error: rules[3].limit: must be at least 1, found 0; remove the rule to allow nothing',
    );
    expect(
      formatDiagnostic({ code: 'unused_field', severity: 'info', path: [], message: 'that is all' }),
    ).toBe('info: that is all');
    expect(describeDiagnostic(mistake)).toMatch(/^rules\[3\]\.limit: must/);
  });
  it('a path is printed as `field[0].name`', () => {
    expect(formatPath([])).toBe('');
    expect(formatPath(['rules', 3, 'path_includes', 0])).toBe('rules[3].path_includes[0]');
    expect(formatPath(['content', '502'])).toBe('content["502"]');
  });
  it('quotes values without letting them grow or move the cursor', () => {
    expect(quoteValue('a\u001b[31mb\n\ud800\u202e')).toBe('`a\\u001b[31mb\\u000a\\ud800\\u202e`');
    expect(quoteValue('x'.repeat(1000))).toBe(`\`${'x'.repeat(80)}…\``);
    expect([quoteValue(null), quoteValue(1.5), quoteValue([1]), quoteValue([]), quoteValue({})]).toEqual([
      'null',
      '1.5',
      'a list of 1 entry',
      'a list of 0 entries',
      'an object',
    ]);
    expect([quoteValue(undefined), quoteValue(1n), quoteValue(Symbol('x'))]).toEqual([
      'nothing',
      'a bigint',
      'a symbol',
    ]);
  });
  it('only severity `error` makes a diagnostic an error', () => {
    expect(hasErrors([{ ...mistake, severity: 'warning' }])).toBe(false);
    expect(hasErrors([{ ...mistake, severity: 'warning' }, mistake])).toBe(true);
  });
});
