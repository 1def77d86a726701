/** Lines of chunks, wherever the chunks are cut. */
import { expect, it } from 'vitest';
import { createLogLines, LONGEST_LOG_LINE } from '../../../../src/workbench/access-logs/source.ts';

/** All lines of a log that comes in chunks of some octets; `null`: a line that is too long. */
function linesOf(text: string, size: number): readonly (string | null)[] {
  const octets = Buffer.from(text);
  const lines = createLogLines();
  const read: (string | null)[] = [];
  const drain = (): void => {
    for (let line = lines.next(); line !== null; line = lines.next()) read.push(line ?? null);
  };
  for (let at = 0; at < octets.length; at += size) {
    lines.push(octets.subarray(at, at + size));
    drain();
  }
  lines.end();
  drain();
  return read;
}

it.each([1, 2, 3, 7, 1_000])('are the same in chunks of %d', (size) => {
  const text = 'one\r\n\ntwo €uro\nthrée\n\u{1F600}\nlast';
  expect(linesOf(text, size)).toEqual(['one', '', 'two €uro', 'thrée', '\u{1F600}', 'last']);
});

it('have no empty line after the last line feed', () => {
  expect(linesOf('a\n', 1)).toEqual(['a']);
  expect(linesOf('', 1)).toEqual([]);
});

it('replace a line that is longer than the limit, and go on after it', () => {
  const long = 'x'.repeat(LONGEST_LOG_LINE + 1);
  expect(linesOf(`a\n${long}\nb\n`, 65_536)).toEqual(['a', null, 'b']);
  expect(linesOf(`a\n${long}`, 65_536)).toEqual(['a', null]);
  expect(linesOf(`${'x'.repeat(LONGEST_LOG_LINE)}\n`, 65_536)[0]).toHaveLength(LONGEST_LOG_LINE);
});
