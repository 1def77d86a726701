/** What holds for every parser, whatever it gets. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BODY_PARSERS, type BodyProcessor } from '../../../../../../src/engine/waf/request/bodies/body.ts';
import { MAX_BODY_ARGUMENTS } from '../../../../../../src/engine/waf/request/bodies/parsed-body.ts';
import { countTextWork } from '../../../../../support/count-text-work.ts';
import { parse } from './body-cases.ts';

const CONTENT_TYPE = 'multipart/form-data; boundary=B';

/** Pieces of each language, so that random bodies come near to being valid. */
const PIECES = [
  ...'{}[]",:\\&=%+<>/!?-\'; \t\r\n\0aB1\xff\xfe\xef\xbb\xbf',
  '"a":',
  '\\u00e9',
  '\\ud83d',
  'true',
  '-1.5e3',
  '<a b="1">',
  '</a>',
  '<!--',
  '-->',
  '<![CDATA[',
  ']]>',
  '<?xml encoding="utf-16"?>',
  '<!DOCTYPE a [',
  '<!ENTITY x "y">',
  '&lt;',
  '&#x41;',
  '--B',
  '--B--',
  '--B\r\n',
  'Content-Disposition: form-data; name="a"; filename*=U\'\'%41',
  '\r\n\r\n',
];
const text = fc.array(fc.constantFrom(...PIECES), { maxLength: 40 }).map((pieces) => pieces.join(''));
const octets = fc.uint8Array({ maxLength: 60 }).map((list) => String.fromCharCode(...list));

/** Characters read for each character of a body. Short names are compared with each tag and each `&`. */
const MOST_READS = 60;

describe.each(Object.keys(BODY_PARSERS) as readonly BodyProcessor[])('%s', (processor) => {
  test.each([false, true])('never throws and returns Latin-1 text, truncated: %j', (truncated) => {
    fc.assert(
      fc.property(fc.oneof(text, octets), (value) => {
        const body = parse(processor, value, { contentType: CONTENT_TYPE, truncated });
        const texts = [
          ...body.args.flatMap(({ name, value: held }) => [name, held]),
          ...body.xmlAttributes,
          body.xmlText ?? '',
        ];
        for (const character of texts.join('')) expect(character.charCodeAt(0)).toBeLessThan(256);
        expect(body.error ?? `${processor.toLowerCase()}: x`).toMatch(/^(?:urlencoded|multipart|json|xml): /);
      }),
      { numRuns: 400 },
    );
  });

  test('reads each octet of a body a bounded number of times', () => {
    for (const piece of [
      ...PIECES,
      '<a>',
      '<a ',
      '<a b="',
      '{"a":',
      '["',
      'a=',
      '%4',
      '--',
      '-- B\n',
      ' x\r\n',
      '&#1',
    ]) {
      for (const [before, after] of [
        ['', ''],
        ['[', ']'],
        ['<a>', '</a>'],
        ['--B\r\nContent-Disposition: form-data; name=a\r\n\r\n', '\r\n--B--'],
        ['--B\r\nContent-Disposition: form-data; name="', ''],
      ] as const) {
        const value = before + piece.repeat(Math.ceil(32_768 / piece.length)) + after;
        let size = 0;
        const work = countTextWork(() => {
          size = parse(processor, value, { contentType: CONTENT_TYPE }).args.length;
        });
        expect(work / value.length, JSON.stringify([before, piece])).toBeLessThan(MOST_READS);
        expect(size).toBeLessThanOrEqual(MAX_BODY_ARGUMENTS);
      }
    }
  });
});
