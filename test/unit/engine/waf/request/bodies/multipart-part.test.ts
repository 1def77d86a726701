import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  MAX_BODY_ARGUMENTS,
  type MultipartFlags,
  type ParsedBody,
} from '../../../../../../src/engine/waf/request/bodies/parsed-body.ts';
import { type Given, pairs, parse } from './body-cases.ts';

const TYPE = 'multipart/form-data; boundary=XX';

function read(lines: readonly string[], given: Given = {}): ParsedBody {
  return parse('MULTIPART', lines.join('\r\n'), { contentType: TYPE, ...given });
}

/** The flags that are not 0. */
function raised({ multipart }: ParsedBody): Partial<MultipartFlags> {
  return Object.fromEntries(
    Object.entries(multipart)
      .filter(([, flag]) => flag !== 0)
      .map(([name, flag]) => [name.slice('MULTIPART_'.length), flag]),
  );
}

function field(name: string, ...data: readonly string[]): readonly string[] {
  return ['--XX', `Content-Disposition: form-data; name="${name}"`, '', ...data];
}

/** A body of one part with these header lines. */
function headed(...headers: readonly string[]): readonly string[] {
  return ['--XX', ...headers, '', 'v', '--XX--', ''];
}

describe('a multipart form', () => {
  test('has its fields, files and part headers in order', () => {
    const body = read([
      ...field('a', '1'),
      '--XX',
      'Content-Disposition: form-data; name="up"; filename="x.php"',
      'Content-Type: text/plain; charset=utf-7',
      '',
      '<?php',
      '?>',
      ...field('a', 'two', 'lines', ''),
      ...field('empty', ''),
      '--XX--',
      '',
    ]);
    expect(pairs(body.args)).toEqual(['a=1', 'a=two\r\nlines\r\n', 'empty=']);
    expect(body.files).toEqual([{ name: 'up', filename: 'x.php', size: 9 }]);
    expect(pairs(body.partHeaders)).toEqual([
      'a=Content-Disposition: form-data; name="a"',
      'up=Content-Disposition: form-data; name="up"; filename="x.php"',
      'up=Content-Type: text/plain; charset=utf-7',
      'a=Content-Disposition: form-data; name="a"',
      'empty=Content-Disposition: form-data; name="empty"',
    ]);
    expect(body.partNames).toEqual(['a', 'up', 'a', 'empty']);
    expect(body.partFilenames).toEqual(['x.php']);
    expect(raised(body)).toEqual({});
    expect(body.error).toBeNull();
  });

  test('is complete without a line end after the final boundary', () => {
    const body = read([...field('a', '1'), '--XX--']);
    expect(pairs(body.args)).toEqual(['a=1']);
    expect(body.error).toBeNull();
    expect(raised(body)).toEqual({});
  });

  test('has values with the octets that were sent', () => {
    expect(pairs(read([...field('a\xff', '\0\xff%41\r\x80\n'), '--XX--']).args)).toEqual([
      'a\xff=\0\xff%41\r\x80\n',
    ]);
  });
});

describe('the Content-Type decides boundary, flags and error', () => {
  const lines = [...field('a', '1'), '--XX--', ''];
  const text = lines.join('\r\n');

  test.each([
    ['Multipart/Form-Data;boundary=XX', {}, null],
    ['multipart/form-data; boundary="XX"', { BOUNDARY_QUOTED: 1, STRICT_ERROR: 1 }, null],
    ['multipart/form-data boundary=XX', { MISSING_SEMICOLON: 1, STRICT_ERROR: 1 }, null],
    ['multipart/form-data; boundary =XX', { BOUNDARY_WHITESPACE: 1, STRICT_ERROR: 1 }, null],
    ['multipart/form-data; boundary= XX', { BOUNDARY_WHITESPACE: 1, STRICT_ERROR: 1 }, null],
    ['multipart/form-data; boundary=XX; charset=utf-8', {}, null],
    [
      'multipart/form-data; boundary=XX ',
      { STRICT_ERROR: 1 },
      'its boundary is empty or holds what a boundary may not',
    ],
    [
      'multipart/form-data; charset=utf-8; boundary=XX',
      { STRICT_ERROR: 1 },
      'text precedes the boundary in its Content-Type',
    ],
    ['multipart/form-data; BOUNDARY=XX', { STRICT_ERROR: 1 }, 'the word boundary is not in lower case'],
    [
      'multipart/form-data; boundaryX=XX',
      { STRICT_ERROR: 1, BOUNDARY_WHITESPACE: 1 },
      'the name of the boundary parameter is not just boundary',
    ],
    [
      'multipart/form-data; boundary="XX',
      { STRICT_ERROR: 1, BOUNDARY_QUOTED: 1 },
      'its boundary is quoted on one side only',
    ],
    [
      'multipart/form-data; boundary=XX; boundary=YY',
      { STRICT_ERROR: 1 },
      'its Content-Type names more than one boundary',
    ],
  ])('%s', (contentType, flags, error) => {
    const body = parse('MULTIPART', text, { contentType });
    expect(pairs(body.args)).toEqual(['a=1']);
    expect(raised(body)).toEqual(flags);
    expect(body.error).toBe(error === null ? null : `multipart: ${error}`);
  });

  test.each([
    ['', 'its Content-Type is not multipart/form-data'],
    ['multipart/mixed; boundary=XX', 'its Content-Type is not multipart/form-data'],
    ['multipart/form-data', 'its Content-Type names no boundary'],
    ['multipart/form-data; boundary', 'its Content-Type names no boundary'],
    ['multipart/form-data; boundary=', 'its boundary is empty or holds what a boundary may not'],
    [`multipart/form-data; boundary=${'X'.repeat(1_000)}`, 'its Content-Type is longer than 1024 octets'],
  ])('%j has no usable boundary', (contentType, error) => {
    const body = parse('MULTIPART', text, { contentType });
    expect(body.args).toEqual([]);
    expect(body.multipart.MULTIPART_STRICT_ERROR).toBe(1);
    expect(body.error).toBe(`multipart: ${error}`);
  });

  test.each(['a_b', "a'()+,-./:=?b", 'a b'])('a boundary %j is valid', (boundary) => {
    const contentType = `multipart/form-data; boundary=${boundary}`;
    const body = parse('MULTIPART', text.replaceAll('XX', boundary), { contentType });
    expect(pairs(body.args)).toEqual(['a=1']);
    expect(body.error).toBeNull();
  });

  test.each(['a!', 'a*', 'a\xff', 'a '])('a boundary %j is an error', (boundary) => {
    const contentType = `multipart/form-data; boundary=${boundary}`;
    expect(parse('MULTIPART', text.replaceAll('XX', boundary), { contentType }).error).toBe(
      'multipart: its boundary is empty or holds what a boundary may not',
    );
  });
});

describe('boundary lines decide parts, flags and error', () => {
  test.each([
    [
      'data before the first',
      ['before', ...field('a', '1'), '--XX--', ''],
      ['a=1'],
      { DATA_BEFORE: 1, STRICT_ERROR: 1 },
    ],
    [
      'data after the last',
      [...field('a', '1'), '--XX--', 'after'],
      ['a=1'],
      { DATA_AFTER: 1, STRICT_ERROR: 1 },
    ],
    [
      'a second last one',
      [...field('a', '1'), '--XX--', ...field('b', '2'), '--XX--', ''],
      ['a=1'],
      { DATA_AFTER: 1, STRICT_ERROR: 1 },
    ],
    [
      'one where data should begin',
      ['--XX', 'Content-Disposition: form-data; name="a"', '', '--XX--', ''],
      ['a='],
      { INVALID_PART: 1, STRICT_ERROR: 1 },
    ],
    [
      'another one, then the right one',
      [...field('a', '1', '--YY', '2'), '--XX--', ''],
      ['a=1\r\n--YY\r\n2'],
      { UNMATCHED_BOUNDARY: 2 },
    ],
    [
      'the right one inside a line',
      [...field('a', 'x--XX', '2'), '--XX--', ''],
      ['a=x--XX\r\n2'],
      { UNMATCHED_BOUNDARY: 2 },
    ],
  ])('%s', (_, lines, args, flags) => {
    const body = read(lines);
    expect(pairs(body.args)).toEqual(args);
    expect(raised(body)).toEqual(flags);
    expect(body.error).toBeNull();
  });

  test.each([
    ['none', ['hello'], [], 'no boundary was found'],
    ['no last one', [...field('a', '1'), ''], ['a=1\r\n'], 'the final boundary is missing'],
    [
      'a part cut in its headers',
      [...field('a', '1'), '--XX', 'Content-Disposition: form-data; name="b"'],
      ['a=1', 'b='],
      'the headers of a part do not end',
    ],
    [
      'something behind one',
      [...field('a', '1'), '--XXY', ...field('b', '2').slice(1), '--XX--'],
      ['a=1', 'b=2'],
      'something follows the boundary at octet 53',
    ],
    [
      'white space before it',
      [...field('a', '1', '-- XX'), '--XX--'],
      ['a=1\r\n-- XX'],
      'a quote or white space precedes the boundary at octet 53',
    ],
    [
      'a quote before it',
      [...field('a', '1', '--"XX"'), '--XX--'],
      ['a=1\r\n--"XX"'],
      'a quote or white space precedes the boundary at octet 53',
    ],
  ])('%s', (_, lines, args, error) => {
    const body = read(lines);
    expect(pairs(body.args)).toEqual(args);
    expect(body.error).toBe(`multipart: ${error}`);
    expect(body.multipart.MULTIPART_STRICT_ERROR).toBe(1);
  });

  test('an empty body is not an error', () => {
    expect(read([''])).toMatchObject({ args: [], error: null });
  });
});

describe('line ends decide the flags of line ends', () => {
  const lines = [...field('a', '1'), '--XX--', ''];

  test('lines with LF only set MULTIPART_LF_LINE', () => {
    const body = parse('MULTIPART', lines.join('\n'), { contentType: TYPE });
    expect(pairs(body.args)).toEqual(['a=1']);
    expect(raised(body)).toEqual({ LF_LINE: 1, STRICT_ERROR: 1 });
  });

  test.each([0, 1, 2, 3, 4])('LF on line %i among CRLF sets MULTIPART_CRLF_LF_LINES', (which) => {
    const text = lines.map((line, at) => line + (at === which ? '\n' : '\r\n')).join('');
    const body = parse('MULTIPART', text.slice(0, -2), { contentType: TYPE });
    expect(pairs(body.args)).toEqual(['a=1']);
    expect(raised(body)).toEqual({ LF_LINE: 1, CRLF_LF_LINES: 1, STRICT_ERROR: 1 });
  });

  test('a line feed inside data is not reported', () => {
    expect(raised(read([...field('a', '1\n2'), '--XX--', '']))).toEqual({});
  });
});

describe('headers of a part decide part headers, flags and error', () => {
  test.each([
    [
      'folded',
      ['Content-Disposition: form-data;', ' name="a"'],
      ['a=Content-Disposition: form-data; name="a"'],
      { HEADER_FOLDING: 1, STRICT_ERROR: 1 },
      null,
    ],
    [
      'folded with another white space',
      ['Content-Disposition: form-data;', '\vname="a"'],
      ['a=Content-Disposition: form-data; name="a"'],
      { HEADER_FOLDING: 1, INVALID_HEADER_FOLDING: 1, STRICT_ERROR: 1 },
      null,
    ],
    [
      'folding nothing',
      [' x: y', 'Content-Disposition: form-data; name="a"'],
      ['a= x: y', 'a=Content-Disposition: form-data; name="a"'],
      { HEADER_FOLDING: 1, STRICT_ERROR: 1 },
      'a part has a folded line that continues no header',
    ],
    [
      'an invalid character',
      ['\x0eContent-Disposition: form-data; name="b"', 'Content-Disposition: form-data; name="a"'],
      ['a=\x0eContent-Disposition: form-data; name="b"', 'a=Content-Disposition: form-data; name="a"'],
      { STRICT_ERROR: 1 },
      'the name of a header of a part holds an invalid character',
    ],
    [
      'no colon',
      ['x', 'content-disposition:form-data; name="a"'],
      ['a=x', 'a=content-disposition:form-data; name="a"'],
      { STRICT_ERROR: 1 },
      'a header of a part has no name or no colon',
    ],
    [
      'twice',
      ['Content-Disposition: form-data; name="a"', 'content-disposition: form-data; name="b"'],
      ['a=Content-Disposition: form-data; name="a"', 'a=content-disposition: form-data; name="b"'],
      { STRICT_ERROR: 1 },
      'a part has the same header twice',
    ],
    [
      'a NUL',
      ['Content-Disposition: form-data; name="a"', 'X: \0'],
      ['a=Content-Disposition: form-data; name="a"', 'a=X: \0'],
      { STRICT_ERROR: 1 },
      'a header of a part holds a NUL',
    ],
    [
      'too long',
      ['Content-Disposition: form-data; name="a"', `X: ${'y'.repeat(4_096)}`],
      ['a=Content-Disposition: form-data; name="a"', `a=X: ${'y'.repeat(4_096)}`],
      { STRICT_ERROR: 1 },
      'a header of a part is longer than 4096 octets',
    ],
  ])('%s', (_, headers, partHeaders, flags, error) => {
    const body = read(headed(...headers));
    expect(pairs(body.args)).toEqual(['a=v']);
    expect(pairs(body.partHeaders)).toEqual(partHeaders);
    expect(raised(body)).toEqual(flags);
    expect(body.error).toBe(error === null ? null : `multipart: ${error}`);
  });

  test('a part without Content-Disposition is no argument and an error', () => {
    const body = read(headed('Content-Type: text/plain'));
    expect(body.args).toEqual([]);
    expect(pairs(body.partHeaders)).toEqual(['=Content-Type: text/plain']);
    expect(raised(body)).toEqual({ INVALID_PART: 1, STRICT_ERROR: 1 });
    expect(body.error).toBe('multipart: a part has no Content-Disposition');
  });

  test('a header with endless folding stays below its limit', () => {
    const body = read(headed('Content-Disposition: form-data; name="a"', ...Array<string>(9_000).fill(' x')));
    expect(body.error).toBe('multipart: a header of a part is longer than 4096 octets');
    expect(body.partHeaders[0]!.value.length).toBeLessThan(4_200);
  });
});

describe('a Content-Disposition decides name, filename, flags and error', () => {
  const wrong = 'the Content-Disposition of a part is wrong: ';

  test.each([
    ['form-data; name=a', ['a=v'], [], {}, null],
    ['form-data ;name = "a" ; filename="f"', [], ['a/f'], { STRICT_ERROR: 0 }, null],
    ['form-data; name="a"; filename=""', ['a=v'], [], {}, null],
    ['form-data; name="a\\"b\\\\c\\d"', ['a"b\\c\\d=v'], [], {}, null],
    ["form-data; name='a'", ['a=v'], [], { INVALID_QUOTING: 1 }, null],
    ["form-data; name=a'b", ["a'b=v"], [], { INVALID_QUOTING: 1 }, null],
    ['form-data; name="a\'b"', ["a'b=v"], [], {}, null],
    ['form-data; name="a"; filename="f"; filename*=UTF-8\'en\'%66', [], ['a/f'], {}, null],
    [
      'form-data; name="a"; filename*=UTF-8\'\'x%2Ephp',
      [],
      ['a/x.php'],
      {},
      `${wrong}it has \`filename*\` and no \`filename\``,
    ],
    [
      'form-data; name="a"; filename="f"; filename*=f',
      [],
      ['a/f'],
      {},
      `${wrong}\`filename*\` lacks its charset or language`,
    ],
    [
      'form-data; name="a"; filename="f"; filename*=UTF-8\'\'<',
      [],
      ['a/f'],
      {},
      `${wrong}\`filename*\` holds what should be escaped`,
    ],
    ['form-data; name="a"; name="b"', ['a=v'], [], {}, `${wrong}it has the same parameter twice`],
    [
      'form-data; name="a"; filename="f"; filename="g"',
      [],
      ['a/f'],
      {},
      `${wrong}it has the same parameter twice`,
    ],
    [
      'form-data; name="a"; x=y',
      ['a=v'],
      [],
      {},
      `${wrong}it has a parameter that is neither \`name\` nor \`filename\``,
    ],
    ['form-data; name="a" filename="f"', ['a=v'], [], {}, `${wrong}a semicolon is missing`],
    ['form-data; name="a"b"', ['a=v'], [], { INVALID_QUOTING: 1 }, `${wrong}a semicolon is missing`],
    ['form-data; name="a', ['a=v'], [], {}, `${wrong}a quote is not closed`],
    ['form-data; name="a";', ['a=v'], [], {}, `${wrong}a parameter has no value`],
    ['form-data; name="a"; filename', ['a=v'], [], {}, `${wrong}a parameter has no value`],
    ['attachment; name="a"', ['a=v'], [], {}, `${wrong}it is not form-data`],
    [
      'form-data; name="a"; filename ="f"',
      [],
      ['a/f'],
      {},
      `${wrong}\`filename\` is not directly before its \`=\``,
    ],
    ['form-data', [], [], { INVALID_PART: 1 }, 'the Content-Disposition of a part names no field'],
    ['form-data; name=""', [], [], { INVALID_PART: 1 }, 'the Content-Disposition of a part names no field'],
  ])('%s', (disposition, args, files, flags, error) => {
    const body = read(headed(`Content-Disposition: ${disposition}`));
    expect(pairs(body.args)).toEqual(args);
    expect(body.files.map(({ name, filename }) => `${name}/${filename}`)).toEqual(files);
    const { STRICT_ERROR, ...others } = raised(body) as Record<string, number>;
    expect(others).toEqual(Object.fromEntries(Object.entries(flags).filter(([, flag]) => flag !== 0)));
    expect(STRICT_ERROR ?? 0).toBe(error === null && Object.keys(others).length === 0 ? 0 : 1);
    expect(body.error).toBe(error === null ? null : `multipart: ${error}`);
  });

  test('every name and filename of a part is in MULTIPART_NAME or MULTIPART_FILENAME', () => {
    const body = read(
      headed("Content-Disposition: form-data; name=a; name=b; filename=f; filename*=UTF-8''g"),
    );
    expect(body.partNames).toEqual(['a', 'b']);
    expect(body.partFilenames).toEqual(['f', 'g']);
  });
});

test('a truncated body is no error at any length', () => {
  const text = [...field('a', '1', '2'), ...field('b', '--'), '--XX--', ''].join('\r\n');
  for (let at = 0; at <= text.length; at++) {
    const body = parse('MULTIPART', text.slice(0, at), { contentType: TYPE, truncated: true });
    expect(body.error, text.slice(0, at)).toBeNull();
    const { UNMATCHED_BOUNDARY, ...flags } = raised(body) as Record<string, number>;
    expect(flags, text.slice(0, at)).toEqual({});
  }
  const cut = parse('MULTIPART', field('a', 'attack goes').join('\r\n'), {
    contentType: TYPE,
    truncated: true,
  });
  expect(pairs(cut.args)).toEqual(['a=attack goes']);
});

test('ten thousand fields and files are no error, one more is', () => {
  const file = ['--XX', 'Content-Disposition: form-data; name=a; filename=f', '', ''];
  const many = (part: readonly string[], count: number): ParsedBody =>
    read([...Array.from({ length: count }, () => part).flat(), '--XX--']);
  expect(many(field('a', ''), MAX_BODY_ARGUMENTS)).toMatchObject({ error: null });
  expect(many(field('a', ''), MAX_BODY_ARGUMENTS + 1).args).toHaveLength(MAX_BODY_ARGUMENTS);
  const over = many(file, MAX_BODY_ARGUMENTS + 1);
  expect(over.files).toHaveLength(MAX_BODY_ARGUMENTS);
  expect(over.multipart.MULTIPART_FILE_LIMIT_EXCEEDED).toBe(1);
  expect(over.error).toBe('multipart: it holds more than 10000 values; the rest was not inspected');
});

test('the fields and files of a FormData body are those it was made of', async () => {
  const word = fc.string({ unit: fc.constantFrom(...'ab-X\r\n ;"%é'), maxLength: 10 });
  const plain = fc.string({ unit: fc.constantFrom(...'abX-_.'), minLength: 1, maxLength: 6 });
  const part = fc.record({ name: plain, value: word, filename: fc.option(plain, { nil: null }) });
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 5 }), async (parts) => {
      const form = new FormData();
      for (const { name, value, filename } of parts) {
        if (filename === null) form.append(name, value);
        else form.append(name, new Blob([value]), filename);
      }
      const response = new Response(form);
      const text = Buffer.from(await response.arrayBuffer()).toString('latin1');
      const body = parse('MULTIPART', text, { contentType: response.headers.get('content-type') ?? '' });
      const latin1 = (value: string): string => Buffer.from(value).toString('latin1');
      const lineEnds = (value: string): string => latin1(value.replace(/\r\n|\r|\n/g, '\r\n'));
      expect(body.error).toBeNull();
      expect(body.args).toEqual(
        parts
          .filter(({ filename }) => filename === null)
          .map(({ name, value }) => ({ name, value: lineEnds(value) })),
      );
      expect(body.files).toEqual(
        parts.flatMap(({ name, value, filename }) =>
          filename === null ? [] : [{ name, filename, size: latin1(value).length }],
        ),
      );
    }),
  );
});
