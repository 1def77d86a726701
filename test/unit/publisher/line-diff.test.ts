import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { diffLines } from '../../../src/publisher/line-diff.ts';

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

const lines = fc.array(fc.constantFrom('a', 'b', 'c', '', '}'), { maxLength: 40 });

describe('diffLines', () => {
  test('leads from one text to the other', () => {
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

  test('changes as few lines as the system diff does at its most thorough', () => {
    const folder = mkdtempSync(join(tmpdir(), 'edgeplan-diff-'));
    try {
      for (const [a, b] of fc.sample(fc.tuple(lines, lines), { numRuns: 40, seed: 7 })) {
        writeFileSync(join(folder, 'a'), `${a.join('\n')}\n`);
        writeFileSync(join(folder, 'b'), `${b.join('\n')}\n`);
        const theirs = spawnSync('diff', ['--minimal', '-u', 'a', 'b'], { cwd: folder, encoding: 'utf8' });
        const ours = diffLines(a.join('\n'), b.join('\n'), NAMES);
        const edits = (text: string): number =>
          text
            .split('\n')
            .slice(2)
            .filter((line) => /^[-+]/.test(line)).length;
        expect(edits(ours)).toBe(edits(theirs.stdout));
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('shows three lines around a change and joins changes that lie close', () => {
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

  test('shows texts that have nothing in common as replaced, within bounds', () => {
    const before = Array.from({ length: 20_000 }, (_, index) => `old ${index}`).join('\n');
    const after = Array.from({ length: 20_000 }, (_, index) => `new ${index}`).join('\n');
    expect(patched(before, diffLines(before, after, NAMES))).toBe(after);
  });
});
