/** No detector reads more than a fixed number of characters for each character of a value, however it repeats itself. */
import { expect, test } from 'vitest';
import { DETECTORS } from '../../../../../src/engine/waf/detectors/detectors.ts';
import { countTextWork } from '../../../../support/count-text-work.ts';

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
const LENGTH = 512;
/** Four times the text is four times the work, or a little more where a look ahead is longer than the short text. */
const AT_MOST = 5;
/** Reads of each character that are few, however they grow. */
const FEW = 16;

test.each(Object.entries(DETECTORS))('%s', (_, { find }) => {
  const work = (pair: string, length: number): number =>
    countTextWork(() => find(pair.repeat(length / pair.length)));
  const worse = PIECES.flatMap((first) => PIECES.map((second) => first + second)).filter((pair) => {
    const long = work(pair, 4 * LENGTH);
    return long > FEW * 4 * LENGTH && long > AT_MOST * work(pair, LENGTH);
  });
  expect(worse).toEqual([]);
});
