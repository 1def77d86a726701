import { describe, expect, test } from 'vitest';
import { detectInclude, SHORTEST_INCLUDE } from '../../../../../src/engine/waf/detectors/include.ts';

describe('a value is reported with its construct', () => {
  test.each([
    ['server-side include that runs a command', '<!--#exec cmd="id"-->'],
    ['server-side include that runs a command', '<!-- # EXEC cmd="id"'],
    ['server-side include of a file', '<!--#include virtual="/a"-->'],
    ['server-side include of a file', '<!--#fsize file="a"'],
    ['server-side include of a variable', '<!--#echo var="a"'],
    ['server-side include of a variable', '<!--#printenv -->'],
    ['edge-side include', '<esi:include src="a"/>'],
    ['edge-side include', '</esi:remove>'],
    ['edge-side include', '<!--esi x-->'],
  ])('%s: %j', (construct, value) => expect(detectInclude(value)).toBe(construct));
});

describe('comments and other elements are not reported', () => {
  test.each(['<!-- comment -->', '<!-- #1 -->', '<!--[if IE]>', '<b>x</b>', '<esi>', 'exec'])('%j', (value) =>
    expect(detectInclude(value)).toBeNull(),
  );
});

test('the shortest reported value has SHORTEST_INCLUDE octets', () => {
  const value = '<!--esi';
  expect(detectInclude(value)).not.toBeNull();
  expect(value).toHaveLength(SHORTEST_INCLUDE);
});
