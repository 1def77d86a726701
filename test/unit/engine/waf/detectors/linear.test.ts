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
/** Four times the text is four times the work; the first characters may cost more or less than the others. */
const AT_MOST = 5;

test.each(Object.entries(DETECTORS))('%s', (_, { find }) => {
  const work = (pair: string, length: number): number =>
    countTextWork(() => find(pair.repeat(length / pair.length)));
  const worse = PIECES.flatMap((first) => PIECES.map((second) => first + second)).filter(
    (pair) => work(pair, 4 * LENGTH) > AT_MOST * Math.max(work(pair, LENGTH), LENGTH),
  );
  expect(worse).toEqual([]);
});
