import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { diffLines } from '../../../../src/control/publishing/printed.ts';

const NAMES = { from: 'revision 1', to: 'revision 2' };

/** What `after` must be, by the diff's own account. */
function patched(before: string, diff: string): string {
  const source = before.split('\n');
  const result: string[] = [];
  let taken = 0;
  for (const line of diff.split('\n').slice(2, -1)) {
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@$/.exec(line);
    if (hunk !== null) {
      const start = hunk[2] === '0' ? Number(hunk[1]) : Number(hunk[1]) - 1;
      result.push(...source.slice(taken, start));
      taken = start;
    } else if (line.startsWith('+')) result.push(line.slice(1));
    else {
      expect(line.slice(1)).toBe(source[taken]);
      if (line.startsWith(' ')) result.push(line.slice(1));
      taken += 1;
    }
  }
  return [...result, ...source.slice(taken)].join('\n');
}

/** Lines of the longest common subsequence, by the textbook's table. */
function longestCommon(a: readonly string[], b: readonly string[]): number {
  let above = new Array<number>(b.length + 1).fill(0);
  for (const line of a) {
    const row = [0];
    for (const [at, other] of b.entries()) {
      row.push(line === other ? above[at]! + 1 : Math.max(above[at + 1]!, row[at]!));
    }
    above = row;
  }
  return above.at(-1)!;
}

const lines = fc.array(fc.constantFrom('a', 'b', 'c', '', '}'), { maxLength: 40 });

describe('diffLines', () => {
  test('applying the diff to the first text gives the second', () => {
    fc.assert(
      fc.property(lines, lines, (a, b) => {
        const [before, after] = [a.join('\n'), b.join('\n')];
        const diff = diffLines(before, after, NAMES);
        if (before === after) expect(diff).toBe('');
        else expect(patched(before, diff)).toBe(after);
      }),
      { numRuns: 2_000 },
    );
  });

  test('the diff has the fewest possible changed lines', () => {
    fc.assert(
      fc.property(lines, lines, (a, b) => {
        const [before, after] = [a.join('\n').split('\n'), b.join('\n').split('\n')];
        const diff = diffLines(before.join('\n'), after.join('\n'), NAMES);
        const edits = diff
          .split('\n')
          .slice(2)
          .filter((line) => /^[-+]/.test(line));
        expect(edits).toHaveLength(before.length + after.length - 2 * longestCommon(before, after));
      }),
      { numRuns: 300 },
    );
  });

  test('a hunk has three lines of context, and changes close together share one hunk', () => {
    const before = Array.from({ length: 30 }, (_, index) => `line ${index + 1}`);
    const after = before.map((line) => (line === 'line 10' || line === 'line 15' ? `${line} changed` : line));
    expect(diffLines(before.join('\n'), [...after, 'line 31'].join('\n'), NAMES)).toBe(
      [
        '--- revision 1',
        '+++ revision 2',
        '@@ -7,12 +7,12 @@',
        ' line 7',
        ' line 8',
        ' line 9',
        '-line 10',
        '+line 10 changed',
        ' line 11',
        ' line 12',
        ' line 13',
        ' line 14',
        '-line 15',
        '+line 15 changed',
        ' line 16',
        ' line 17',
        ' line 18',
        '@@ -28,3 +28,4 @@',
        ' line 28',
        ' line 29',
        ' line 30',
        '+line 31',
        '',
      ].join('\n'),
    );
  });

  test('texts without a common line are shown as replaced, within the time bound', () => {
    const before = Array.from({ length: 20_000 }, (_, index) => `old ${index}`).join('\n');
    const after = Array.from({ length: 20_000 }, (_, index) => `new ${index}`).join('\n');
    expect(patched(before, diffLines(before, after, NAMES))).toBe(after);
  });
});
