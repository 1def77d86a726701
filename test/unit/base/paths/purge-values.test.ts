/** What customers write in purges, in its normal form, and the tags of responses. */
import { expect, test } from 'vitest';
import { readPurgePrefix, readPurgeTag, readPurgeUrl } from '../../../../src/base/paths/purge-values.ts';
import { tagsOf } from '../../../../src/edge/cache/response-keys.ts';

test.each([
  ['https://Shop.example/a', 'shop.example/a'],
  ['http://shop.example:8080/a?b=1&c', 'shop.example/a?b=1&c'],
  ['https://shop.example', 'shop.example/'],
  ['https://shop.example?a=1', 'shop.example/?a=1'],
  ['https://shop.example/a/../b', 'shop.example/b'],
  ['https://shop.example/ä', 'shop.example/%C3%A4'],
  ['https://bücher.example/', 'xn--bcher-kva.example/'],
])('the URL %s is %s', (text, value) => expect(readPurgeUrl(text)).toEqual({ value }));

test.each([
  '',
  '/a',
  'shop.example/a',
  'ftp://shop.example/a',
  'https://',
  'https:///a',
  'https://user@shop.example/',
  'https://[::1]/a',
  'https://shop.example/a#b',
  'https://shop.example/a b',
  'https://shop.example/%zz',
  `https://shop.example/${'a'.repeat(100_000)}`,
])('%s is no URL', (text) => expect(readPurgeUrl(text)).toHaveProperty('mistake'));

test.each([
  ['shop.example/a/', 'shop.example/a/'],
  ['https://shop.example/a', 'shop.example/a'],
  ['SHOP.example', 'shop.example/'],
])('the prefix %s is %s', (text, value) => expect(readPurgePrefix(text)).toEqual({ value }));

test.each(['', '/a', 'shop.example/a?b', 'a b/'])('`%s` is no prefix', (text) =>
  expect(readPurgePrefix(text)).toHaveProperty('mistake'),
);

test('tags have no case, no spaces and no commas', () => {
  expect(readPurgeTag('Product-17')).toEqual({ value: 'product-17' });
  for (const text of ['', 'a b', 'a,b', 'ä', 'a\n', 'x'.repeat(1_025)]) {
    expect(readPurgeTag(text)).toHaveProperty('mistake');
  }
});

test('tags of responses are separated by commas or spaces, and bounded', () => {
  expect(tagsOf(['Cache-Tag', 'A, b,,c d', 'Surrogate-Key', ' e  F a', 'cache-tag', 'g'])).toEqual([
    ...['a', 'b', 'e', 'f', 'g'],
  ]);
  expect(tagsOf(['Content-Type', 'text/html'])).toEqual([]);
  const many = Array.from({ length: 1_000 }, (_, at) => `t${at}`).join(' ');
  expect(tagsOf(['Surrogate-Key', many])).toHaveLength(1_000);
  expect(tagsOf(['Surrogate-Key', `${many} more`])).toBeNull();
  expect(tagsOf(['Cache-Tag', 'x'.repeat(16_385)])).toBeNull();
});
