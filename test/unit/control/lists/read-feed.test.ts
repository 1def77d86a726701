/** Bodies of feeds: what each format is read to, and what is refused at which place. */
import { describe, expect, test } from 'vitest';
import { MAX_NAMED_ENTRIES } from '../../../../src/base/vocabulary/limits.ts';
import type { ListKind } from '../../../../src/base/vocabulary/vocabulary.ts';
import { MAX_COLUMNS } from '../../../../src/control/lists/feed/limits.ts';
import { type FeedBody, readFeedBody } from '../../../../src/control/lists/feed/read-feed.ts';

type Given = Partial<Omit<FeedBody, 'octets'>>;

function read(text: string | Uint8Array, { format = 'text', of = 'ip', ...rest }: Given = {}) {
  const octets = typeof text === 'string' ? Buffer.from(text) : text;
  return readFeedBody({ octets, format, of, ...rest });
}

/** The values, with the comment, target and status of those that have one. */
function values(text: string, given: Given = {}): readonly unknown[] {
  const found = read(text, given);
  if ('reason' in found) throw new Error(found.reason);
  const rows = found.packed.flatMap((part) => JSON.parse(part) as Record<string, unknown>[]);
  expect(found.count).toBe(rows.length);
  return rows.map(({ value, target, status, comment }) => {
    const rest = [target, status, comment].filter((one) => one !== null && one !== undefined);
    return rest.length === 0 ? value : [value, ...rest];
  });
}

function reason(text: string | Uint8Array, given: Given = {}): string {
  const found = read(text, given);
  if (!('reason' in found)) throw new Error(`${found.count} entries were read`);
  return `${found.code}: ${found.reason}`;
}

describe('text', () => {
  test('comments after # and ; are read as comments, as public lists write them', () => {
    const body =
      '; Spamhaus DROP\r\n# head\r\n1.10.16.0/20 ; SBL256894\r\n\r\n192.0.2.1 # one\n 2001:DB8::/32 \n192.0.2.1';
    expect(values(body)).toEqual([['1.10.16.0/20', 'SBL256894'], '192.0.2.1', '2001:db8::/32']);
  });

  test('a User-Agent has single blanks and semicolons of its own', () => {
    const body = 'Mozilla/5.0 (X11; Linux) ;x #y\ncurl/*  ; tool';
    expect(values(body, { of: 'user_agent' })).toEqual([
      'Mozilla/5.0 (X11; Linux) ;x #y',
      ['curl/*', 'tool'],
    ]);
  });

  test('lines of redirects have path, target and status', () => {
    expect(values('/a https://shop.example/b 301\n/c /d', { of: 'redirect' })).toEqual([
      ['/a', 'https://shop.example/b', 301],
      ['/c', '/d'],
    ]);
  });

  test('an empty body is an empty list', () => expect(values('# nothing today\n')).toEqual([]));

  const wrong: readonly (readonly [string, string | Uint8Array, string, ListKind?])[] = [
    ['an address with a number above 255', '192.0.2.1\n192.0.2.256', 'line 2: '],
    ['a prefix that is too long', '192.0.2.0/33', 'line 1: '],
    ['a page of HTML', '<!DOCTYPE html>\n<html>', 'line 1: '],
    ['octets that are no UTF-8', Uint8Array.of(0xff, 0xfe), 'not valid UTF-8'],
    ['a line with two addresses', '192.0.2.1 192.0.2.2', 'line 1: '],
    ['no number of a system', 'AS64496\nASX', 'line 2: ', 'asn'],
    ['no country', 'DE\nXX', 'line 2: ', 'country'],
    ['a redirect without a target', '/a /b\n/c', 'line 2.to: is missing', 'redirect'],
    ['a redirect with an unknown status', '/a /b 200', 'line 1.status: ', 'redirect'],
    ['a host with a blank', 'a b.example', 'line 1: ', 'host'],
    ['a NUL', '192.0.2.1\0', 'line 1: '],
  ];
  for (const [title, body, place, of = 'ip'] of wrong)
    test(`${title} is refused with its place`, () => {
      const found = reason(body, { of });
      expect(found).toMatch(/^unparsable: /);
      expect(found).toContain(place);
    });

  test('three mistakes are named and the others are counted', () => {
    expect(reason('a\n192.0.2.1\nb\nc\nd\ne')).toMatch(
      /line 1: .*line 3: .*line 4: .*; and at least 2 more$/,
    );
  });

  test('more entries than a list has are over the limits', () => {
    const body = Array.from({ length: MAX_NAMED_ENTRIES + 1 }, (_, index) => index + 1).join('\n');
    expect(reason(body, { of: 'asn' })).toMatch(
      /^over_limits: line 100001: must have at most 100000 entries/,
    );
  });
});

describe('CSV', () => {
  const csv = (more: Given = {}): Given => ({ format: 'csv', ...more });

  test.each([
    ['the first column without a path', 'ip,port\n192.0.2.1,80\n192.0.2.2,443\n', undefined],
    ['a column by its name', '# comment\r\n"port","Ip"\r\n80,192.0.2.1\r\n443,"192.0.2.2"', 'ip'],
    ['a column by its number', 'a,192.0.2.1\nb,192.0.2.2', '2'],
    [
      'fields with line feeds, commas and quotes',
      'ip,"re\nmark"\n192.0.2.1,"a, ""b""\n"\n\n192.0.2.2,',
      'ip',
    ],
  ])('%s is read', (_, body, path) => {
    expect(values(body, csv(path === undefined ? {} : { path }))).toEqual(['192.0.2.1', '192.0.2.2']);
  });

  test('redirects are read by the names of columns, or in their order', () => {
    const rows = [
      ['/a', '/b', 301],
      ['/c', '/d', 'moved'],
    ];
    expect(values('comment,to,status,from\n,/b,301,/a\nmoved,/d,,/c', csv({ of: 'redirect' }))).toEqual(rows);
    expect(values('/a,/b,301\n/c,/d,,moved', csv({ of: 'redirect' }))).toEqual(rows);
  });

  const wrong: readonly (readonly [string, string, string, Given?])[] = [
    ['a column that is not there', 'a,b\n1,2', 'line 1: has no column `ip`', { path: 'ip' }],
    ['a number beyond the columns', 'a,b', 'line 1: has no column 3', { path: '3' }],
    ['a quote that nothing closes', 'ip\n"192.0.2.1', 'line 2: has a quote that nothing closes'],
    ['a quote inside a field', 'ip\n192"0.2.1', 'line 2: has a quote inside'],
    ['text after a quoted field', 'ip\n"192.0.2.1"x', 'line 2: has text after a quoted field'],
    ['a row that is too short', 'a,ip\nb,192.0.2.1\nc', 'line 3: ', { path: 'ip' }],
    ['a wrong entry after fields with line feeds', 'ip,x\n192.0.2.1,"a\nb"\nnone,', 'line 4: '],
    ['a wrong entry in the first row', '192.0.2.256\n192.0.2.1', 'line 1: '],
    ['too many columns', ','.repeat(MAX_COLUMNS), 'line 1: must have at most 256 columns'],
    ['a path for redirects', 'from,to\n/a,/b', 'without `path`', { of: 'redirect', path: 'from' }],
    ['a status that is no number', 'from,to,status\n/a,/b,x', 'line 2.status: ', { of: 'redirect' }],
  ];
  for (const [title, body, place, more = {}] of wrong)
    test(`${title} is refused with its place`, () => {
      const found = reason(body, csv(more));
      expect(found).toMatch(/^unparsable: /);
      expect(found).toContain(place);
    });
});

describe('JSON', () => {
  const json = (path?: string, of: ListKind = 'ip'): Given => ({
    format: 'json',
    of,
    ...(path === undefined ? {} : { path }),
  });

  test.each([
    ['a list of texts', '["192.0.2.1","192.0.2.2"]', undefined],
    ['a list of entries', '[{"value":"192.0.2.1"},{"value":"192.0.2.2"}]', undefined],
    [
      'a field of each object',
      '{"prefixes":[{"ip_prefix":"192.0.2.1"},{"ip_prefix":"192.0.2.2"}]}',
      'prefixes.*.ip_prefix',
    ],
    [
      'whichever field an object has',
      '{"prefixes":[{"ipv4":"192.0.2.1"},{"ipv6":"192.0.2.2"}]}',
      'prefixes.*.*',
    ],
    ['a list at the end of the path', '{"meta":{"hooks":["192.0.2.1","192.0.2.2"]}}', 'meta.hooks'],
    ['lists of an object', '{"de":["192.0.2.1"],"fr":["192.0.2.2"]}', '*'],
    ['an element by its place', '[[],["192.0.2.1","192.0.2.2"]]', '1'],
  ])('%s is read', (_, body, path) => {
    expect(values(body, json(path))).toEqual(['192.0.2.1', '192.0.2.2']);
  });

  const wrong: readonly (readonly [string, string, string, string?])[] = [
    ['no JSON', '{', 'valid JSON'],
    ['nothing', '', 'empty'],
    ['an object without a path', '{"a":[]}', 'must be a list where the feed has no `path`'],
    ['a path that leads to nothing', '{"a":[]}', 'has nothing at `b`', 'b'],
    ['a path through lists that are empty', '{"a":[{},{}]}', 'has nothing at `a.*.b`', 'a.*.b'],
    ['a wrong text', '{"a":["192.0.2.1","x"]}', 'a.1: ', 'a'],
    ['a wrong text in an object', '{"a":[{"b":"192.0.2.1"},{"b":"x"}]}', 'a.1.b: ', 'a.*.b'],
    ['an entry with an unknown field', '[{"value":"192.0.2.1","id":3}]', '0.id: '],
    ['null', '[null]', '0: '],
    ['a list in a list', '[["192.0.2.1"]]', '0: '],
    ['a name twice', '{"a":[],"a":["192.0.2.1"]}', 'twice', 'a'],
    ['lists that are too deep', '['.repeat(1_000), ''],
  ];
  for (const [title, body, place, path] of wrong)
    test(`${title} is refused with its place`, () => {
      const found = reason(body, json(path));
      expect(found).toMatch(/^unparsable: /);
      expect(found).toContain(place);
    });

  test('a name of Object.prototype leads to nothing', () => {
    expect(reason('{"a":1}', json('constructor'))).toContain('has nothing');
  });
});

test('equal entries have one digest, and others another', () => {
  const digest = (text: string): unknown => (read(text) as { digest?: string }).digest;
  expect(digest('192.0.2.1\n192.0.2.2')).toBe(digest('# new head\n192.0.2.1\n\n192.0.2.2\n'));
  expect(digest('192.0.2.1')).not.toBe(digest('192.0.2.2'));
  expect(digest('192.0.2.1')).not.toBe(digest('192.0.2.1 # comment'));
});
