/** Bodies as applications read them: what their members are called, what is an error, and what bounds the work. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { BodyProcessor } from '../../../../../../src/engine/waf/request/bodies/body.ts';
import {
  type DecodingResult,
  decodeBody,
} from '../../../../../../src/engine/waf/request/bodies/decode-body.ts';
import { MAX_BODY_ARGUMENTS } from '../../../../../../src/engine/waf/request/bodies/parsed-body.ts';
import { countTextWork } from '../../../../../support/count-text-work.ts';
import { pairs, utf8 } from './body-cases.ts';

const FORM = 'application/x-www-form-urlencoded';

function decode(
  contentType: string,
  text: string,
  { processor = null, truncated = false }: { processor?: BodyProcessor | null; truncated?: boolean } = {},
): DecodingResult {
  return decodeBody({ text, contentType, truncated }, processor);
}

/** The arguments, and the error if there is one. */
function read(contentType: string, text: string, processor: BodyProcessor | null = null): readonly string[] {
  const { args, error } = decode(contentType, text, { processor }).parsed;
  return [...pairs(args), ...(error === null ? [] : [error])];
}

function multipart(headers: string, data: string, boundary = 'b'): string {
  return `--${boundary}\r\n${headers}\r\n\r\n${data}\r\n--${boundary}--\r\n`;
}

const field = (name: string): string => `Content-Disposition: form-data; name="${name}"`;
const NESTED = 'multipart/form-data; boundary=b';

describe('a document in a value is read under the name of the value', () => {
  test.each<readonly [string, string, readonly string[]]>([
    [FORM, 'a={"b":[1]}&c=2', ['a={"b":[1]}', 'a.json.b.array_0=1', 'c=2']],
    [FORM, '{"a":1}', ['{"a":1}=', 'json.a=1']],
    ['application/json', '{"a":"{\\"b\\":\\"x\\"}"}', ['json.a={"b":"x"}', 'json.a.json.b=x']],
    [NESTED, multipart(field('f'), '[1]'), ['f=[1]', 'f.json.array_0=1']],
    ['application/octet-stream', '{"a":1}', ['json.a=1']],
    ['application/octet-stream', 'a=1&b=2', ['a=1', 'b=2']],
    ['', '\n{"a":1}', ['json.a=1']],
    [
      NESTED,
      multipart(`${field('f')}\r\nContent-Type: application/x-www-form-urlencoded`, 'a=1'),
      ['f=a=1', 'f.a=1'],
    ],
  ])('%s: %j', (type, text, expected) => {
    expect(read(type, text)).toEqual(expected);
  });

  test.each(['{not json}', '{"a":1', '[see below]', '{{ name }}', '<not xml', '<a><b></a>', '<p>text', '<3'])(
    '%j in a value is that text only',
    (text) => {
      const { parsed } = decode(FORM, `a=${encodeURIComponent(text)}`);
      expect(pairs(parsed.args)).toEqual([`a=${text}`]);
      expect(parsed).toMatchObject({ xmlParts: [], xmlAttributes: [], error: null });
    },
  );

  test('octets that JSON may not have do not hide it', () => {
    expect(read(FORM, 'a={"b":"%ff%01\\q"}')).toContain('a.json.b=\xff\x01q');
    expect(read('application/octet-stream', '{"a":"\x01\x7f\xff"}')).toEqual(['json.a=\x01\x7f\xff']);
  });

  test('HTML in a value is no XML, so escaped code in it stays escaped', () => {
    const html = '<!-- wp:code --><p class="a">&lt;script&gt;</p>';
    const { parsed } = decode(FORM, `a=${encodeURIComponent(html)}`);
    expect(parsed).toMatchObject({ xmlText: null, xmlParts: [], error: null });
  });

  test('XML in a value has its text, its texts and its attributes', () => {
    const { parsed } = decode(FORM, `a=${encodeURIComponent('<r b="1;"><c>one</c><c>two&amp;</c></r>')}`);
    expect(parsed).toMatchObject({ xmlParts: ['onetwo&', 'two&', '1;'], xmlAttributes: ['1;'] });
  });

  test('the fourth document in documents is inspected as text', () => {
    let text = 'x';
    for (let level = 0; level < 5; level++) text = JSON.stringify({ a: text });
    const names = decode('application/json', text).parsed.args.map(({ name }) => name);
    expect(names).toEqual(['json.a', 'json.a.json.a', 'json.a.json.a.json.a', 'json.a.json.a.json.a.json.a']);
  });
});

describe('the type of a body', () => {
  test.each(['application/octet-stream', 'image/png', 'application/x-protobuf'])(
    'binary data of %s is not parsed and is no error',
    (type) => {
      for (const text of ['\x89PNG\r\n\x1a\n', '{\0\x01', 'a=\x02\x03', '\x08\x96\x01', '\x1f\x8b\x08']) {
        expect(decode(type, text)).toMatchObject({ processor: null, parsed: { args: [], error: null } });
      }
    },
  );

  test.each(['{ key', '[2026-01-01] GET /', '<script', 'Dear all,', '-- a comment', ''])(
    'text %j of an unknown type is not parsed and is no error',
    (text) => {
      expect(decode('application/x-any', text).parsed).toMatchObject({ args: [], error: null });
    },
  );

  test.each<readonly [string, string, BodyProcessor | null]>([
    ['application/problem+json', '{}', 'JSON'],
    ['TEXT/JSON ; a=b', '{}', 'JSON'],
    ['image/svg+xml', '<a/>', 'XML'],
    ['multipart/mixed; boundary=b', '--b--', 'MULTIPART'],
    ['application/graphql', '{a}', null],
    ['application/x-any', 'a=1', 'URLENCODED'],
  ])('%s is read by %s as %s', (type, text, processor) => {
    expect(decode(type, text).processor).toBe(processor);
  });

  test('a stated language that a body is not in is an error', () => {
    expect(decode('application/json', 'a=1').parsed.error).toMatch(/^json: /);
    expect(decode('application/atom+xml', '{}').parsed.error).toMatch(/^xml: /);
    expect(decode('multipart/related', 'x').parsed.error).toBe('body: no part of it was found');
    expect(decode('', '{"a":', { processor: 'JSON' }).parsed.error).toMatch(/^json: /);
  });
});

describe('a multipart body', () => {
  test.each<readonly [string, string, readonly string[]]>([
    ['base64', 'YTxi', ['f=YTxi', 'f=a<b']],
    ['Base64', 'YT\r\nxi', ['f=YT\r\nxi', 'f=a<b']],
    ['quoted-printable', 'a=3Cb=\r\nc=zz', ['f=a=3Cb=\r\nc=zz', 'f=a<bc=zz']],
    ['8bit', 'a', ['f=a']],
  ])('has a part in %s: %j', (encoding, data, expected) => {
    const body = multipart(`${field('f')}\r\nContent-Transfer-Encoding: ${encoding}`, data);
    expect(read(NESTED, body)).toEqual(expected);
  });

  test.each([
    'multipart/form-data;charset=UTF-8;boundary=b',
    'Multipart/Form-Data; charset="utf-8"; Boundary="b";',
    'multipart/form-data; boundary=b; charset=utf-8',
  ])('has the boundary anywhere among the parameters: %s', (type) => {
    expect(read(type, multipart(field('f'), 'x'))).toEqual(['f=x']);
  });

  test.each([
    ['multipart/form-data; boundary=b; boundary=c', 'its Content-Type names more than one boundary'],
    ['multipart/form-data; x; boundary=b', 'text precedes the boundary in its Content-Type'],
    ['multipart/form-data; x-boundary=c; boundary=b', 'its Content-Type names more than one boundary'],
  ])('has an error where applications may read another boundary: %s', (type, error) => {
    expect(read(type, multipart(field('f'), 'x')).at(-1)).toBe(`multipart: ${error}`);
  });

  test('has a part with an extended file name alone as a file and as a field, as applications differ', () => {
    const disposition = `${field('f')}; filename*=UTF-8''na%C3%AFve.txt`;
    const { parsed } = decode(NESTED, multipart(disposition, 'x'));
    expect(pairs(parsed.args)).toEqual(['f=x']);
    expect(parsed).toMatchObject({ error: null, partFilenames: ['na%C3%AFve.txt'] });
    expect(parsed.files).toMatchObject([{ name: 'f', size: 1 }]);
    expect(read(NESTED, multipart(`${disposition}; filename="a"`, 'x'))).toEqual([]);
    const typed = `${disposition}\r\nContent-Type: image/png`;
    expect(read(NESTED, multipart(typed, '\x89PNG\0'))).toEqual([]);
  });

  test('has the parts of a part that is multipart', () => {
    const inner = multipart('Content-Disposition: attachment; name="g"', 'x', 'c');
    const outer = multipart(`${field('f')}\r\nContent-Type: multipart/mixed; boundary="c"`, inner);
    expect(read(NESTED, outer).slice(1)).toEqual(['f.g=x']);
    expect(read('multipart/related;boundary=b', multipart('Content-ID: <a>', 'x'))).toEqual(['part_0=x']);
  });

  test('has the text of a part that is multipart without parts, and an error where parts are nested too deep', () => {
    const mixed = (boundary: string): string => `Content-Type: multipart/mixed; boundary=${boundary}`;
    expect(read('multipart/mixed; boundary=b', multipart('Content-Type: multipart/mixed', 'x'))).toEqual([
      'part_0=x',
    ]);
    let text = multipart('', 'x', 'b5');
    for (let level = 4; level >= 0; level--) text = multipart(mixed(`b${level + 1}`), text, `b${level}`);
    expect(read('multipart/mixed; boundary=b0', text).at(-1)).toMatch(
      /more than 3 deep; the rest was not inspected$/,
    );
  });

  test('has no binary parts, unless they are JSON or XML', () => {
    const body = (data: string): string => multipart('Content-Type: image/png', data);
    expect(read('multipart/related; boundary=b', body('\x89PNG\0'))).toEqual([]);
    expect(read('multipart/related; boundary=b', body('{"a":"\x01"}'))).toEqual(['part_0.json.a=\x01']);
  });

  test('has documents of files, and no other content of files', () => {
    const file = (type: string, data: string): readonly string[] =>
      read(NESTED, multipart(`${field('f')}; filename="x"\r\nContent-Type: ${type}`, data));
    expect(file('application/json', '{"a":1}')).toEqual(['f.json.a=1']);
    expect(file('application/json', '{"a":')).toEqual([]);
    expect(file('text/plain', '{"a":1}')).toEqual([]);
    expect(file('image/svg+xml', '<a>1;</a>')).toEqual([]);
    const files = decode('multipart/mixed;boundary=b', multipart(`${field('f')}; filename="x.php"`, 'y'));
    expect(files.parsed.files).toEqual([{ name: 'f', filename: 'x.php', size: 1 }]);
  });

  test('may have the name of the parameter in its quoted boundary', () => {
    const body = multipart(field('a'), '1', '--boundary=x');
    expect(read('multipart/form-data; boundary="--boundary=x"', body)).toEqual(['a=1']);
  });

  test('is read by each of its boundaries and under each of its names, and is an error', () => {
    const { parsed } = decode('multipart/form-data; boundary=a; boundary=b', multipart(field('f'), 'x'));
    expect(pairs(parsed.args)).toEqual(['f=x']);
    expect(parsed.error).toMatch(/more than one boundary/);
    const twice = decode(NESTED, multipart(`${field('f')}\r\n${field('g')}`, 'x')).parsed;
    expect(pairs(twice.args)).toEqual(['f=x', 'g=x']);
    expect(twice.error).toMatch(/same header twice/);
  });
});

describe('a charset', () => {
  test('is read as declared and as sent, and is an error only if neither is readable', () => {
    expect(read('application/json; charset=ibm037', '{"a":1}')).toEqual(['json.a=1']);
    expect(read('application/json; charset=ibm037', '\xc0\x7f\x81\x7f\x7a\xf1\xd0')).toEqual(['json.a=1']);
    expect(read('application/json; charset=ibm037', '\x01').at(-1)).toMatch(/^json: /);
  });

  test('of windows-1252 makes JSON valid that is not UTF-8', () => {
    expect(read('application/json; charset=windows-1252', '{"a":"\xe9"}')).toEqual([`json.a=${utf8('é')}`]);
    expect(read('application/json', '{"a":"\xe9"}').at(-1)).toMatch(/is not UTF-8/);
  });

  test('that is not supported is an error, but not of binary data', () => {
    expect(read(`${FORM}; charset=iso-2022-jp`, 'a=1')).toEqual([
      'a=1',
      'body: its charset is not supported',
    ]);
    expect(read('application/octet-stream; charset=none', '\0')).toEqual([]);
    for (const label of ['utf-8', 'UTF8', '"us-ascii"', 'Shift_JIS', 'gb18030', 'binary']) {
      expect(read(`${FORM}; charset=${label}`, 'a=1')).toEqual(['a=1']);
    }
  });

  test('of an XML declaration is followed', () => {
    const text = '<?xml version="1.0" encoding="utf-7"?><a>b+ADs-</a>';
    const { parsed } = decode('text/xml', text);
    expect(parsed).toMatchObject({ xmlText: 'b+ADs-', xmlParts: ['b;'], error: null });
  });
});

/** Eight times the body is parsed, and three times converted; one conversion may exceed the bound that stops the next. */
const MOST_READ = (length: number): number => 11 * length + 3 * 65_536;

describe('bounds', () => {
  test('members of all documents together are bounded', () => {
    const value = JSON.stringify(Array.from({ length: MAX_BODY_ARGUMENTS - 10 }, () => 'x y'));
    const { args, error } = decode(FORM, `a=${value}&b=${value}`).parsed;
    expect(args).toHaveLength(MAX_BODY_ARGUMENTS);
    expect(error).toMatch(/more than 10000 values/);
  });

  test('many numbers of a nested document are no error, and do not hide a text', () => {
    const numbers = Array.from({ length: 30_000 }, () => 1);
    const { args, error } = decode(FORM, `a=${JSON.stringify([...numbers, 'x y', ...numbers])}`).parsed;
    expect(args).toHaveLength(1_002);
    expect(args.at(-1)).toEqual({ name: 'a.json.array_30000', value: 'x y' });
    expect(error).toBeNull();
  });

  test('names of nested documents are bounded', () => {
    const value = JSON.stringify(Array.from({ length: 9_000 }, () => 'x y'));
    const { parsed } = decode(FORM, `${'n'.repeat(10_000)}=${value}`);
    expect(parsed.error).toBe('body: a document in a value exceeds a bound');
  });

  test('boundaries and names multiply the work up to a bound', () => {
    let body = multipart(field('f'), '{"a":1}'.repeat(4_000), 'b2');
    for (const boundary of ['b1', 'b0']) {
      const inner = `b${Number(boundary.slice(1)) + 1}`;
      const boundaries = [inner, `${inner}x`, `${inner}y`].map((one) => `boundary=${one}`).join('; ');
      const names = ['f', 'g', 'h'].map((name) => `name=${name}`).join('; ');
      const headers = `Content-Disposition: form-data; ${names}\r\nContent-Type: multipart/mixed; ${boundaries}`;
      body = ['', 'x', 'y'].map((end) => multipart(headers, body, `${boundary}${end}`)).join('');
    }
    const { parsed, read: octets } = decode('multipart/mixed; boundary=b0; boundary=b0x; boundary=b0y', body);
    expect(octets).toBeLessThanOrEqual(MOST_READ(body.length));
    expect(parsed.error).toMatch(/was not inspected$/);
  });

  test('converted copies are bounded', () => {
    const parts = Array.from({ length: 9 }, (_, at) => field(`f${at}`)).map(
      (one) =>
        `--b\r\n${one}\r\nContent-Type: text/plain; charset=ibm037; charset=cp500; charset=cp1047\r\n\r\n`,
    );
    const body = `${parts.map((part) => `${part}${'\x42\xba'.repeat(10_000)}\r\n`).join('')}--b--`;
    const { args, error } = decode(NESTED, body).parsed;
    const copies = args.slice(9).reduce((sum, { value }) => sum + value.length, 0);
    expect(copies).toBeLessThanOrEqual(2 * body.length + 65_536);
    expect(error).toMatch(/converted copies are too long/);
  });

  test('work is linear in texts that are made to tire a parser', () => {
    const pieces = [
      '{',
      '[',
      '{"a":',
      '<a ',
      '<a>',
      '&a;',
      '<!ENTITY a "',
      '--b\r\n',
      '+',
      '=',
      "'",
      '/*',
      '#',
      '"""',
      'a:',
    ];
    const types = [
      FORM,
      'application/json',
      'text/xml',
      'application/graphql',
      NESTED,
      '',
      `${FORM}; charset=utf-7`,
    ];
    const work = (piece: string, type: string, length: number): number =>
      countTextWork(() => decode(type, piece.repeat(length / piece.length)));
    // Quadratic work on eight times the octets would read 64 times as many characters.
    const slow = pieces.flatMap((piece) =>
      types
        .filter((type) => work(piece, type, 16_000) > 16 * Math.max(work(piece, type, 2_000), 2_000))
        .map((type) => `${piece} as ${type}`),
    );
    expect(slow).toEqual([]);
  });
});

test('any octets of any type are read without a fault, and truncated ones without an error of an end', () => {
  const piece = fc.constantFrom(
    ...[
      '--b\r\n',
      '--b--',
      'Content-Type: application/json\r\n',
      'Content-Disposition: form-data; name=a\r\n',
    ],
    ...['\r\n\r\n', '{"a":', '[', ']', '}', '"', "'", '//', '/*', '*/', '<a b="', '>', '</a>', '<![CDATA['],
    ...[
      '<!DOCTYPE a [',
      '<!ENTITY b "&b;">',
      '&b;',
      '&#x',
      '%',
      '=',
      '&',
      '\0',
      '+AD',
      '\xff\xfe',
      '#',
      '"""',
    ],
  );
  const text = fc
    .array(fc.oneof(piece, fc.string({ unit: 'binary-ascii', maxLength: 9 })), { maxLength: 40 })
    .map((pieces) => pieces.join(''));
  const type = fc
    .tuple(
      fc.constantFrom(
        FORM,
        'application/json',
        'text/xml',
        'multipart/form-data; boundary=b',
        'multipart/x',
        '',
      ),
      fc.constantFrom(
        '',
        '; charset=utf-7',
        '; charset=utf-16',
        '; charset=ibm500',
        '; boundary=b',
        '; charset=x',
      ),
    )
    .map((parts) => parts.join(''));
  const processor = fc.constantFrom<BodyProcessor | null>(null, 'URLENCODED', 'JSON', 'XML', 'MULTIPART');
  fc.assert(
    fc.property(text, type, processor, fc.boolean(), (octets, contentType, chosen, truncated) => {
      const { parsed, read: count } = decode(contentType, octets, { processor: chosen, truncated });
      expect(count).toBeLessThanOrEqual(MOST_READ(octets.length));
      for (const { name, value } of parsed.args) expect(/^[\0-\xff]*$/.test(name + value)).toBe(true);
      expect((parsed.error ?? '').length).toBeLessThan(200);
    }),
    { numRuns: 2_000 },
  );
});
