import { describe, expect, test } from 'vitest';
import { detectXPath, SHORTEST_XPATH } from '../../../../../src/engine/waf/detectors/xpath.ts';

describe('a value is reported with its construct', () => {
  test.each([
    ['XPath behind a value', "']|//*|//*['"],
    ['XPath behind a value', "' or count(/*)=1"],
    ['XPath behind a value', '1 or position()=1'],
    ['XPath behind a value', "' or name()='x'"],
    ['XPath behind a value', "' or //user"],
    ['XPath behind a value', "' or ../password"],
    ['XPath behind a value', "' or child::node()"],
    ['XPath behind a value', "' or not(//x)"],
    ['XPath behind a value', "x'] | /users[1]"],
    ['XPath behind a value', "' or contains(name,'adm') or '"],
    ['XPath behind a value', "') or (contains(.,'a"],
    ['XPath behind a value', "' or .='x"],
    ['XPath behind a value', '1 or true()'],
    ['XPath behind a value', "x'] return $u/a, for $u in //user[name='x"],
    ['XPath behind a value', "'; for $i in //user return $i/a; '"],
    ['XPath behind a value', "' or (some $u in //user satisfies $u/@a) or '"],
    ['XPath behind a value', "x'] union //a['"],
    ['XPath behind a value', "'=//user[1]/a or '"],
    ['XPath behind a value', "' or system-property('xsl:vendor') or '"],
    ['XPath behind a value', "' or fn:exists(a) or '"],
    ['XPath behind a value', "' or @role='admin"],
    ['XPath behind a value', "' or user/name='x"],
    ['XPath behind a value', "' or user[1]/name or '"],
    ['XPath behind a value', "' or contains('abc','b') or '"],
    ['XPath behind a value', "' or * or '"],
    ['XPath behind a value', "' or /descendant::a or '"],
    ['XPath behind a value', "']/../*['"],
    ['XPath behind a value', "' or 1]\0"],
    ['structure of a document read by XPath', 'count(//user)'],
    ['structure of a document read by XPath', 'substring((//user[1]),1,1)'],
    ['structure of a document read by XPath', 'string-length(/*)'],
    ['document read by XPath', "doc('http://a.example/')"],
    ['document read by XPath', "document(concat('a',b))"],
  ])('%s: %j', (construct, value) => expect(detectXPath(value)).toBe(construct));
});

describe('texts and whole expressions are not reported', () => {
  test.each([
    "' or '1'='1",
    "//div[@id='x']",
    "it's a/b or c",
    'count(x)',
    "db.doc('http://a')",
    '/api/x | /api/y',
    'parent::__construct()',
    "don't or ./configure",
    "it's true or (contains it)",
    "don't or .gitignore",
    "'a' | 'b'",
    "rock 'n' roll",
    '//book[price>35] selects books; count(//book) is their number',
    'count(//item) counts items',
    "'x' or 'y-z (w)'",
    "'me' or @anna?",
    '"yes" return to me',
    "echo 'a'; for ($i = 0",
    "my sister's and/or brother's = both",
    "$['a']/b",
    'x]]/list',
    "'use strict', //comment",
    '"a" or http://example.org/',
  ])('%j', (value) => expect(detectXPath(value)).toBeNull());
});

test('the shortest reported value has SHORTEST_XPATH octets', () => {
  const value = "'|//";
  expect(detectXPath(value)).not.toBeNull();
  expect(value).toHaveLength(SHORTEST_XPATH);
});
