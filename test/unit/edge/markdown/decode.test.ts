/** Decoding of pages: content codings and character encodings. */
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { decodePage } from '../../../../src/edge/markdown/convert.ts';
import { MAX_PAGE_OCTETS } from '../../../../src/edge/markdown/limits.ts';
import type { Coding } from '../../../../src/edge/markdown/outcome.ts';

function decoded(octets: Uint8Array, charset: string | null = null, coding: Coding = 'identity'): string {
  const page = decodePage({ octets, coding, charset });
  return page.ok ? page.html : `(${page.reason})`;
}

const latin = (text: string): Buffer => Buffer.from(text, 'latin1');

describe('character encodings', () => {
  test.each([
    ['UTF-8 without a word', Buffer.from('ä€'), null, 'ä€'],
    ['what is not UTF-8', latin('\xe4'), null, 'ä'],
    ['as the header says', latin('\xe4'), 'ISO-8859-1', 'ä'],
    ['as the header says, in another', Buffer.from([0x82, 0xa0]), 'shift_jis', 'あ'],
    ['a header that names none', Buffer.from('ä'), 'x-none', 'ä'],
    ['a byte order mark', Buffer.from([0xff, 0xfe, 0xe4, 0]), 'utf-8', 'ä'],
    ['a meta element', latin('<meta charset=windows-1251>\xe4'), null, '<meta charset=windows-1251>д'],
    [
      'a meta element of another time',
      latin('<META http-equiv=x content="text/html; charset=koi8-r">\xe4'),
      null,
      '<META http-equiv=x content="text/html; charset=koi8-r">Д',
    ],
    [
      'a meta element without one',
      latin('<meta name=x><meta charset><p>\xe4'),
      null,
      '<meta name=x><meta charset><p>ä',
    ],
    [
      'a meta element too late',
      latin(`${' '.repeat(1_024)}<meta charset=koi8-r>\xe4`),
      null,
      `${' '.repeat(1_024)}<meta charset=koi8-r>ä`,
    ],
  ])('%s', (_name, octets, charset, text) => {
    expect(decoded(octets, charset)).toBe(text);
  });
});

describe('codings', () => {
  const page = Buffer.from('<p>page</p>');
  test.each([
    ['gzip', 'gzip', gzipSync(page)],
    ['br', 'br', brotliCompressSync(page)],
    ['deflate', 'deflate', deflateSync(page)],
    ['deflate without its format', 'deflate', deflateRawSync(page)],
  ] as const)('%s', (_name, coding, octets) => {
    expect(decoded(octets, null, coding)).toBe('<p>page</p>');
  });

  test('octets that are not in the declared content coding give the reason coding', () => {
    for (const coding of ['gzip', 'br', 'deflate'] as const) {
      expect(decoded(Buffer.from('\x01page'), null, coding)).toBe('(coding)');
      expect(decoded(Buffer.alloc(0), null, coding)).toBe('(coding)');
    }
    expect(decoded(gzipSync(page).subarray(0, -9), null, 'gzip')).toBe('(coding)');
  });

  test('a small page that inflates beyond the limit gives the reason size', () => {
    const whole = Buffer.alloc(MAX_PAGE_OCTETS, 'a');
    expect(decoded(gzipSync(whole), null, 'gzip')).toBe(whole.toString());
    const larger = Buffer.alloc(MAX_PAGE_OCTETS + 1, 'a');
    expect(decoded(gzipSync(larger), null, 'gzip')).toBe('(size)');
    expect(decoded(brotliCompressSync(larger), null, 'br')).toBe('(size)');
    expect(decoded(deflateSync(larger), null, 'deflate')).toBe('(size)');
  });
});
