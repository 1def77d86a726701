/** No detector takes more than linear time: a text of repeated pieces costs at most as much again when it is twice as long. */
import { expect, test } from 'vitest';
import { DETECTORS } from '../../../../../src/engine/waf/detectors/detectors.ts';

const PIECES = [
  ...[
    '`',
    '$(',
    ';',
    '|',
    '&',
    '\n',
    ' ',
    'a',
    '(',
    '"',
    "'",
    '=',
    '{',
    ',',
    '\\',
    '/',
    '.',
    '?',
    '<',
    '>',
    '-',
    '#',
  ],
  ...[
    '../',
    '..;',
    '0x2e',
    '\xc0',
    '\x01',
    '; ls ',
    '$(cat ',
    '{cat,',
    '$IFS',
    'x=',
    '/*',
    '*/',
    'or ',
    "eval('",
    '{{',
    '${',
  ],
];
const SHORT = 1_024;
const LONG = 8 * SHORT;
/** Eight times the length is eight times the work; measuring and the garbage collector may triple it. */
const AT_MOST = 24;
/** A text that is read in less than this is not measured, in milliseconds. */
const FLOOR = 2;

function milliseconds(find: (value: string) => string | null, value: string): number {
  let best = Number.POSITIVE_INFINITY;
  for (let turn = 0; turn < 3 && best >= FLOOR / 8; turn++) {
    const begun = process.cpuUsage();
    find(value);
    const { user, system } = process.cpuUsage(begun);
    best = Math.min(best, (user + system) / 1_000);
  }
  return best;
}

test.each(Object.entries(DETECTORS))('%s', (_, { find }) => {
  const slow = PIECES.flatMap((first) => PIECES.map((second) => first + second)).filter((pair) => {
    const long = milliseconds(find, pair.repeat(LONG / pair.length));
    if (long < FLOOR) return false;
    const short = milliseconds(find, pair.repeat(SHORT / pair.length));
    return long > AT_MOST * Math.max(short, FLOOR / 8);
  });
  expect(slow).toEqual([]);
});
