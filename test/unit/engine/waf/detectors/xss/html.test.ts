import { describe, expect, test } from 'vitest';
import {
  beginHtml,
  IN_BACK,
  IN_DATA,
  IN_DOUBLE,
  IN_SINGLE,
  IN_UNQUOTED,
  newHtml,
  nextPiece,
} from '../../../../../../src/engine/waf/detectors/xss/html.ts';
import { isScriptUrl } from '../../../../../../src/engine/waf/detectors/xss.ts';

const NAMES = ['', 'text', 'tag', 'end', 'self', 'close', 'name', 'value', 'comment', 'doctype'];

function pieces(text: string, state = IN_DATA): string {
  const html = newHtml();
  beginHtml(html, text, state);
  const found: string[] = [];
  while (nextPiece(html)) found.push(`${NAMES[html.kind]}:${text.slice(html.start, html.end)}`);
  return found.join(' | ');
}

describe('the tokenizer of HTML', () => {
  test.each([
    ['', ''],
    ['plain', 'text:plain'],
    ['a<b>c</b>', 'text:a | tag:b | end:> | text:c | close:b'],
    ['<b/>', 'tag:b | self:/>'],
    [
      '<b c=d e="f g" h=\'i\' j=`k` l>',
      'tag:b | name:c | value:d | name:e | value:f g | name:h | value:i | name:j | value:k | name:l | end:>',
    ],
    ['<b c = d>', 'tag:b | name:c | value:d | end:>'],
    ['<b c=>', 'tag:b | name:c | value: | end:>'],
    ['<b =c=d>', 'tag:b | name:=c | value:d | end:>'],
    ['<b/c/d=e>', 'tag:b | name:c | name:d | value:e | end:>'],
    ['<b c="d', 'tag:b | name:c | value:d'],
    ['<b\x00c>', 'tag:b\x00c | end:>'],
    ['<b c\x0b=d>', 'tag:b | name:c | value:d | end:>'],
    ['1 < 2', 'text:1  | text:< | text: 2'],
    ['</>a', 'text:a'],
    ['</ b>a', 'comment: b | text:a'],
    ['</b c=d>', 'tag:b | name:c | value:d | end:>'],
    ['<!--a--b-->c', 'comment:a--b | text:c'],
    ['<!-->a', 'comment: | text:a'],
    ['<!--->a', 'comment: | text:a'],
    ['<!--a--!>b', 'comment:a | text:b'],
    ['<!--a', 'comment:a'],
    ['<!a>b', 'comment:a | text:b'],
    ['<?a>b', 'comment:a | text:b'],
    ['<%a>b%>c', 'comment:a>b | text:c'],
    ['<!DocType a>b', 'doctype:DocType a | text:b'],
    ['<![CDATA[a<b]]>c', 'text:a<b | text:c'],
    ['<', 'text:<'],
  ])('reads %j as %s', (text, expected) => expect(pieces(text)).toBe(expected));

  test.each([
    [IN_UNQUOTED, 'a b=c>d', 'value:a | name:b | value:c | end:> | text:d'],
    [IN_SINGLE, "a b' c=d", 'value:a b | name:c | value:d'],
    [IN_DOUBLE, 'a\'b" c', "value:a'b | name:c"],
    [IN_BACK, 'a"b` c', 'value:a"b | name:c'],
    [IN_DOUBLE, 'never closed', 'value:never closed'],
  ])('in state %i reads %j as %s', (state, text, expected) => expect(pieces(text, state)).toBe(expected));
});

describe('isScriptUrl', () => {
  test.each([
    ['javascript:x', true],
    ['  JAVASCRIPT:x', true],
    ['java\tscript:x', true],
    ['\x01\xa0javascript:x', true],
    ['&#106;avascript:x', true],
    ['&#x6A;avascript:x', true],
    ['&#0000000106avascript:x', true],
    ['java&Tab;script&colon;x', true],
    ['java&NewLine;script:x', true],
    ['vbscript:x', true],
    ['data:text/html,x', true],
    ['data:image/svg+xml,x', true],
    ['data:image/png;base64,x', false],
    ['view-source:x', true],
    ['java-guide.html', false],
    ['data/x.png', false],
    ['https://example.com/?javascript:x', false],
    ['/javascript:x', false],
    ['&amp;javascript:x', false],
    ['', false],
    ['&', false],
    ['&#', false],
    ['&#x', false],
    [`${' '.repeat(500)}javascript:x`, true],
  ])('%j: %s', (url, expected) => {
    expect(isScriptUrl(url, 0, url.length)).toBe(expected);
    expect(isScriptUrl(`"${url}"`, 1, url.length + 1)).toBe(expected);
  });
});
