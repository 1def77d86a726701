/** Lists of edge files: entries in the file or in a file of their own, and every mistake with its place. */
import { describe, expect, test } from 'vitest';
import { formatDiagnostic } from '../../../../src/base/diagnostics/diagnostic.ts';
import { readEdgeBytes } from '../../../../src/rules/files/edge-file.ts';
import { printEdge } from '../../../../src/rules/files/print-edge.ts';
import { printListText, readListText } from '../../../../src/rules/model/lists.ts';

const RECORDS = 'records:\n  - { name: shop, type: A, destination: 198.51.100.20, proxied: true }\n';

function read(lists: string, files: Readonly<Record<string, string | Uint8Array>> = {}, rules = '') {
  const text = `domain: example.com\nlists:\n${lists}\n${RECORDS}rules: [${rules}]\n`;
  const parts = Object.entries(files).map(([name, content]) => ({
    name,
    octets: typeof content === 'string' ? Buffer.from(content) : content,
  }));
  return readEdgeBytes(Buffer.from(text), 'edge.yaml', parts);
}

function mistakes(...given: Parameters<typeof read>): string {
  const file = read(...given);
  return file.diagnostics.map(formatDiagnostic).join('\n');
}

describe('entries', () => {
  test('are those of the file of the list', () => {
    const file = read('  - { name: bad, kind: ip }', {
      'lists/bad.txt': '\uFEFF# head\r\n203.0.113.0/24   # office\r\n\r\n 2001:DB8::1\n',
    });
    expect(file.ok && file.ruleSet.lists).toEqual([
      {
        name: 'bad',
        kind: 'ip',
        entries: [{ value: '203.0.113.0/24', comment: 'office' }, { value: '2001:db8::1' }],
      },
    ]);
  });

  test('that match the same are one entry, the last', () => {
    const file = read(
      '  - { name: p, kind: path, entries: [/a, { value: "/%61", comment: again }, /b, "/A"] }',
    );
    expect(file.ok && file.ruleSet.lists).toMatchObject([
      { entries: [{ value: '/%61', comment: 'again' }, { value: '/b' }, { value: '/A' }] },
    ]);
  });

  test('of a file are the same after printing, for every kind', () => {
    const texts = {
      ip: '203.0.113.0/24 # a\n192.0.2.1-192.0.2.9\n',
      asn: '64496\n',
      country: 'DE\n',
      host: '*.example.com\n',
      path: '/a%20b # with # marks\n*.php\n',
      user_agent: 'Mozilla/5.0 (X11; #1)  # one\n*bot*\n',
      redirect: '/old /new 301 # moved\n/x https://example.org/#top\n',
    } as const;
    for (const [kind, text] of Object.entries(texts) as [keyof typeof texts, string][]) {
      const first = readListText(kind, text);
      expect(first.ok, kind).toBe(true);
      if (first.ok) expect(printListText(kind, first.entries)).toBe(text);
    }
  });

  test('of a printed edge file read as they were', () => {
    const file = read(
      '  - { name: office, kind: ip, entries: [203.0.113.0/24, { value: 192.0.2.1, comment: desk }] }\n' +
        '  - { name: old, kind: redirect, entries: [{ from: /a, to: /b, status: 308 }] }',
      {},
      '{ type: drop, ips: ["@office"] }, { type: redirect, targets: "@old" }',
    );
    if (!file.ok) throw new Error(file.diagnostics.map(formatDiagnostic).join('\n'));
    const { domain: _, lists = [], records, rules } = file.ruleSet;
    const printed = printEdge({ domain: { name: 'example.com' }, records, rules, lists, ids: false });
    const again = readEdgeBytes(Buffer.from(printed.text), 'edge.yaml');
    expect(again.ok && again.ruleSet.lists).toEqual(lists);
    expect(again.ok && again.ruleSet.rules).toEqual(rules);
  });
});

describe('mistakes', () => {
  test.each([
    ['no list', '  office: 1', 'edge.yaml:3:', 'lists: must be a list of `name`, `kind`'],
    ['an unknown field', '  - { name: a, kind: ip, entres: [] }', 'edge.yaml:3:', 'did you mean `entries`?'],
    ['an unknown kind', '  - { name: a, kind: ips, entries: [] }', 'edge.yaml:3:', 'did you mean `ip`?'],
    ['no kind', '  - { name: a, entries: [] }', 'edge.yaml:3:', 'lists[0].kind: is missing'],
    [
      'a name with capitals',
      '  - { name: Office, kind: ip, entries: [] }',
      'edge.yaml:3:',
      'must be the name of a list',
    ],
    [
      'a name twice',
      '  - { name: a, kind: ip, entries: [] }\n  - { name: a, kind: ip, entries: [] }',
      'edge.yaml:4:',
      'names must differ',
    ],
    [
      'an address that is none',
      '  - { name: a, kind: ip, entries: [203.0.113.300] }',
      'edge.yaml:3:',
      'lists[0].entries[0]',
    ],
    ['a country that is none', '  - { name: a, kind: country, entries: [UK] }', 'edge.yaml:3:', 'write `GB`'],
    [
      'a path that no request has',
      '  - { name: a, kind: path, entries: [/a//b] }',
      'edge.yaml:3:',
      'could never match',
    ],
    [
      'a relative path',
      '  - { name: a, kind: path, entries: [a.php] }',
      'edge.yaml:3:',
      'write `/a.php` or `*a.php`',
    ],
    [
      'a redirect without target',
      '  - { name: a, kind: redirect, entries: [{ from: /a }] }',
      'edge.yaml:3:',
      'to: is missing',
    ],
    [
      'a redirect from several paths',
      '  - { name: a, kind: redirect, entries: [{ from: "/a*", to: /b }] }',
      'edge.yaml:3:',
      'must be one path, without `*`',
    ],
    [
      'a redirect to another host by two slashes',
      '  - { name: a, kind: redirect, entries: [{ from: /a, to: //evil.example }] }',
      'edge.yaml:3:',
      'must start with exactly one `/`',
    ],
    [
      'a status that is no redirect',
      '  - { name: a, kind: redirect, entries: [{ from: /a, to: /b, status: 200 }] }',
      'edge.yaml:3:',
      'must be one of 301, 302, 307, 308',
    ],
    ['no entries and no file', '  - { name: a, kind: ip }', 'edge.yaml:3:', 'there is no file `lists/a.txt`'],
  ])('%s', (_, lists, place, message) => {
    const text = mistakes(lists);
    expect(text).toContain(place);
    expect(text).toContain(message);
  });

  test('of a file have its name and line', () => {
    const text = mistakes('  - { name: a, kind: ip }', {
      'shop/lists/a.txt': '192.0.2.1\n\nnonsense\n10.0.0.0/40\n',
    });
    expect(text).toContain('shop/lists/a.txt:3:');
    expect(text).toContain('shop/lists/a.txt:4:');
    expect(text).not.toContain('a.txt:1:');
  });

  test('of more than a report has end with a sentence that reading stopped', () => {
    const text = mistakes('  - { name: a, kind: ip }', { 'lists/a.txt': 'x\n'.repeat(10_000) });
    expect(text).toContain('reading stopped after 500 mistakes');
  });

  test('a file that is no UTF-8 text, or is too long', () => {
    expect(mistakes('  - { name: a, kind: ip }', { 'lists/a.txt': new Uint8Array([0x31, 0xff]) })).toContain(
      'must be UTF-8 text',
    );
    const long = new Uint8Array(17 * 1_048_576).fill(10);
    expect(mistakes('  - { name: a, kind: ip }', { 'lists/a.txt': long })).toContain(
      'must be at most 16 MiB',
    );
  });

  test('more entries than a list may have', () => {
    const text = Array.from({ length: 100_001 }, (_, index) => `/${index}`).join('\n');
    expect(mistakes('  - { name: a, kind: path }', { 'lists/a.txt': text })).toContain(
      'must have at most 100000 entries',
    );
  });

  test('a rule that names a list under a field of another kind, or none', () => {
    const lists = '  - { name: a, kind: ip, entries: [] }';
    expect(mistakes(lists, {}, '{ type: drop, path_includes: ["@a"] }')).toContain(
      'names a list of kind `ip`, and entries here are of kind `path`',
    );
    expect(mistakes(lists, {}, '{ type: drop, ips: ["@b"] }')).toContain(
      'names a list that the domain does not have',
    );
    expect(mistakes(lists, {}, '{ type: drop, ips: ["@ab"] }')).toContain('rules[0].ips[0]');
    expect(mistakes(lists, {}, '{ type: redirect, targets: "@a" }')).toContain(
      'entries here are of kind `redirect`',
    );
  });

  test('a target beside a list of targets, or neither', () => {
    const lists = '  - { name: a, kind: redirect, entries: [{ from: /a, to: /b }] }';
    const rule = (fields: string) => mistakes(lists, {}, `{ type: redirect, ${fields} }`);
    expect(rule('targets: "@a", target: /x')).toContain('target: must be left out while `targets` is set');
    expect(rule('targets: "@a", path_includes: [/x]')).toContain('path_includes: must be left out');
    expect(rule('targets: "@a", preserve_path: true')).toContain('preserve_path: must be left out');
    expect(rule('targets: a')).toContain('must be the name of a list after `@`');
    expect(rule('status_code: 301')).toContain('target: is missing; it must be text');
    expect(rule('target: ""')).toContain('target: must not be empty');
    expect(rule('targets: "@a"')).toBe('');
  });
});
