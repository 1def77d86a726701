import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDiagnostic } from '../../../../src/base/diagnostics/diagnostic.ts';
import { RULE_TYPES } from '../../../../src/base/vocabulary/vocabulary.ts';
import { type EdgeFile, readEdgeBytes, readEdgeFile } from '../../../../src/rules/files/edge-file.ts';
import { printEdge } from '../../../../src/rules/files/print-edge.ts';
import type { RuleSet } from '../../../../src/rules/model/types.ts';

const read = (text: string): EdgeFile => readEdgeFile(text, 'edge.yaml');
const messagesOf = (text: string): string[] => read(text).diagnostics.map(formatDiagnostic);

function accepted(text: string): RuleSet {
  const file = read(text);
  if (!file.ok) throw new Error(file.diagnostics.map(formatDiagnostic).join('\n'));
  return file.ruleSet;
}

const RECORDS = `domain: example.com
records:
  - { name: shop, type: A, destination: 192.0.2.1, proxied: true }
  - { name: shop.example.com, type: AAAA, destination: "::1", proxied: true }
  - { name: "*.preview", type: A, destination: 192.0.2.1, proxied: true }
`;

describe('readEdgeFile on a valid file', () => {
  it('reads the domain as a name or as a mapping', () => {
    expect(accepted('domain: Example.com').domain.name).toBe('example.com');
    expect(accepted('domain: { name: example.com, status: moved }').domain.status).toBe('moved');
    expect(accepted('domain: example.com\nrules:\nrecords:')).toMatchObject({ rules: [], records: [] });
  });

  it('reads a JSON file as YAML', () => {
    expect(accepted('{"domain":"example.com","rules":[{"type":"waf","key":"w"}]}').rules[0]).toMatchObject({
      id: 1,
    });
  });

  it('assigns missing ids in order and skips ids that are written', () => {
    const text = `domain: example.com
rules:
  - type: waf
  - { type: waf, id: 1 }
  - type: captcha
  - { type: captcha, id: 3 }
  - { type: captcha, key: last }
`;
    expect(accepted(text).rules.map(({ id }) => id)).toEqual([2, 1, 4, 3, 5]);
    expect(accepted(RECORDS).records.map(({ id }) => id)).toEqual([1, 2, 3]);
  });

  it('resolves a relative or absolute record name to all its records, or to those of one type', () => {
    const ids = (records: string): readonly number[] =>
      accepted(`${RECORDS}rules:\n  - { type: waf, records: ${records} }\n`).rules[0]!.record_ids;
    expect(ids('[shop]')).toEqual([1, 2]);
    expect(ids('[shop.example.com]')).toEqual([1, 2]);
    expect(ids('[shop aaaa]')).toEqual([2]);
    expect(ids('["*.preview"]')).toEqual([3]);
    expect(ids('[shop A, shop, "*.preview"]')).toEqual([1, 2, 3]);
    expect(ids('[]')).toEqual([]);
  });

  it('returns the place of every rule and record', () => {
    const { sources } = read(
      `${RECORDS}rules:\n  - type: origin_route\n    key: api\n    name: orders\n    address: 10.0.0.1\n  - type: waf\n`,
    );
    expect(sources.rules.get(1)).toEqual({
      key: 'api',
      name: 'orders',
      file: 'edge.yaml',
      index: 0,
      line: 7,
      column: 5,
    });
    expect(sources.rules.get(2)).toEqual({
      key: null,
      name: null,
      file: 'edge.yaml',
      index: 1,
      line: 11,
      column: 5,
    });
    expect(sources.records.get(2)).toEqual({ file: 'edge.yaml', index: 1, line: 4, column: 5 });
    expect(sources.at(['rules', 0, 'address'])).toEqual({ file: 'edge.yaml', line: 10, column: 14 });
    expect(sources.at(['rules', 0, 'path_includes'])).toMatchObject({ line: 7 });
    expect(sources.at(['domain', 'name'])).toEqual({ file: 'edge.yaml', line: 1, column: 9 });
  });
});

describe('readEdgeFile on a file with mistakes', () => {
  it.each([
    [
      'domain: example.com\nrules:\n  - type: waf\n    host_includes: [*.example.com]\n',
      'edge.yaml:4:21: error: `*.example.com` must be in quotes: an unquoted `*` starts a YAML alias; write "*.example.com"',
    ],
    [
      'domain: example.com\nrules:\n  - type: drop\n    countries: [DE, false]\n',
      'edge.yaml:4:21: error: rules[0].countries[1]: must be text, found false; write `"NO"` in quotes for Norway',
    ],
    [
      'domain: example.com\nrules:\n  - { type: waf, path_includes: [12] }\n',
      'edge.yaml:3:34: error: rules[0].path_includes[0]: must be text, found 12; write `"12"` in quotes',
    ],
    [
      'domain: example.com\nrules:\n  - { type: waf, enabled: no }\n',
      'edge.yaml:3:27: error: rules[0].enabled: must be `true` or `false`, found `no`; write `false`',
    ],
    [
      'domain: example.com\nrules:\n  - type: waf\n    priorty: 3\n',
      'edge.yaml:4:5: error: rules[0].priorty: is not a known field; did you mean `priority`?',
    ],
    [
      'domain: example.com\nrules:\n  - type: rate_limit\n    key: api\n',
      'edge.yaml:3:5: error: rules[0].limit: is missing; it must be a whole number',
    ],
    [
      'domain: example.com\nrules:\n  - { type: waf, key: Api }\n',
      'edge.yaml:3:23: error: rules[0].key: must be at most 64 lower-case letters, digits and hyphens, found `Api`',
    ],
    [
      'domain: example.com\nrules:\n  - { type: waf, key: a }\n  - { type: waf, key: a }\n',
      'edge.yaml:4:23: error: rules[1].key: is the key of an earlier rule (line 3); keys must differ, found `a`',
    ],
    [
      `${RECORDS}rules:\n  - type: waf\n    records: [shpo]\n`,
      'edge.yaml:8:15: error: rules[0].records[0]: is not a record of this file; write its name, or its name and type like `shop AAAA`, found `shpo`; did you mean `shop`?',
    ],
    [
      `${RECORDS}rules:\n  - type: waf\n    records: shop\n`,
      'edge.yaml:8:14: error: rules[0].records: must be a list of record names, found `shop`; write `[shop]`',
    ],
    [
      `${RECORDS}rules:\n  - type: waf\n    records: [shop]\n    record_ids: [1]\n`,
      'edge.yaml:8:14: error: rules[0].records: must not be given together with record ids; write either record names or record ids',
    ],
    [
      'domain: example.com\nrules:\n  - { type: waf, record_ids: [9] }\n',
      'edge.yaml:3:31: error: rules[0].record_ids[0]: record_ids do not belong to this domain',
    ],
    [
      'domain: example.com\nrules:\n  - { type: waf, id: 1 }\n  - { type: waf, id: 1 }\n',
      'edge.yaml:4:22: error: rules[1].id: is the id of an earlier rule; ids must differ, found 1',
    ],
    [
      'domain: example.com\nruels: []\n',
      'edge.yaml:2:1: error: ruels: is not a known field; did you mean `rules`?',
    ],
    [
      'rules: []\n',
      'edge.yaml:1:1: error: must be a mapping with `domain`, `records` and `rules`; start with `domain: example.com`',
    ],
    ['domain: 3\n', 'edge.yaml:1:9: error: domain: must be an object, found a number'],
    ['domain: a b\n', expect.stringContaining('edge.yaml:1:9: error: domain.name: must be a domain name')],
    [
      'domain: example.com\n\trules: []\n',
      'edge.yaml:2:1: error: a tab is used as indentation; indent with spaces',
    ],
  ])('reports the mistake of %j with its place', (text, message) =>
    expect(messagesOf(text)).toEqual([message]),
  );

  it('reports a repeated key alone, at both of its places', () => {
    const text = 'domain: a.test\nrules:\n  - type: rate_limit\n    limt: 1\nrules:\n  - type: nonsense\n';
    expect(messagesOf(text)).toEqual([
      'edge.yaml:5:1: error: the key `rules` is repeated; the first is on line 2; remove one of the two, or join their values',
      'edge.yaml:2:1: info: `rules` is first written here',
    ]);
  });

  it('accepts words of closed lists that are written in two ways, in either case', () => {
    const text = `domain: example.com
records:
  - { name: shop, type: aaaa, destination: '2001:db8::1', proxied: true, scheme: https }
rules:
  - { type: origin_route, address: 192.0.2.1, scheme: HTTP, records: [shop AAAA] }
`;
    const file = read(text);
    if (!file.ok) throw new Error(messagesOf(text).join('; '));
    expect(file.ruleSet.records[0]).toMatchObject({ type: 'AAAA', scheme: 'Https' });
    expect(file.ruleSet.rules[0]).toMatchObject({ scheme: 'http', record_ids: [1] });
  });

  it('warns about a prefix with host bits, with the network and the single address', () => {
    const text =
      "domain: a.test\nrules:\n  - { type: drop, ips: [10.0.0.5/8, 10.0.0.0/8, '2001:db8::1/32'] }\n";
    expect(messagesOf(text)).toEqual([
      'edge.yaml:3:25: warning: rules[0].ips[0]: has bits set beyond its prefix length, so it is all of `10.0.0.0/8`, found `10.0.0.5/8`; write `10.0.0.0/8` for the network, or `10.0.0.5` for the one address',
      'edge.yaml:3:49: warning: rules[0].ips[2]: has bits set beyond its prefix length, so it is all of `2001:db8::/32`, found `2001:db8::1/32`; write `2001:db8::/32` for the network, or `2001:db8::1` for the one address',
    ]);
    expect(read(text).ok).toBe(true);
  });

  describe('a record without type and destination', () => {
    it('is proxied, and answered by the application', () => {
      const file = read('domain: a.test\nrecords: [{ name: shop }]\nrules: []\n');
      expect(file.ok && file.ruleSet.records[0]).toMatchObject({
        name: 'shop',
        type: 'ALIAS',
        destination: 'application.invalid',
        proxied: true,
      });
    });

    it('is printed as it is written', () => {
      const text = 'domain: a.test\nrecords: [{ name: shop, captcha: true }]\n';
      const file = read(text);
      if (!file.ok) throw new Error('refused');
      const { domain, records, rules } = file.ruleSet;
      const printed = printEdge({ domain: { name: domain.name }, records, rules, ids: false });
      expect(printed.text).not.toMatch(/application|ALIAS|proxied/);
      const again = read(printed.text);
      expect(again.ok && again.ruleSet.records).toEqual(records);
    });

    it.each([
      [
        '{ name: shop, proxied: false }',
        'must not be `false` without a `destination`: the application answers only what the edge gets; leave `proxied` out, or give `type` and `destination`',
      ],
      [
        '{ name: shop, type: A }',
        'is missing; it must be text; add it; without `type` too, the application that embeds the edge answers the host',
      ],
    ])('%s is refused with what is missing', (record, message) => {
      const [first, ...others] = messagesOf(`domain: a.test\nrecords: [${record}]\n`);
      expect(first).toContain(message);
      expect(others).toEqual([]);
    });
  });

  it('reports all mistakes, in the order of the file', () => {
    const text = `domain: example.com
records:
  - { name: shop, type: A, destination: nowhere }
rules:
  - { type: drop, countries: [UK], record: 1 }
  - { type: waf, host_includes: [*.a], paranoia: 9 }
  - { type: rate_limit, limit: 0 }
`;
    const lines = read(text).diagnostics.map(({ at }) => at!.line);
    expect(lines).toEqual([3, 5, 5, 6, 6, 7]);
  });

  it.each([
    ['  - { type: waf, path_includes: [api] }', 34, 'rules[0].path_includes[0]: matches no path'],
    ['  - { type: error_page, codes: [] }', 32, 'rules[0].codes: must not be empty'],
    ['  - { type: rewrite, priority: 3 }', 5, 'rules[0]: this rule changes nothing'],
  ])('reports which field a rule without effect lacks: %s', (rule, column, message) => {
    expect(messagesOf(`domain: example.com\nrules:\n${rule}\n`)).toEqual([
      expect.stringContaining(`edge.yaml:3:${column}: error: ${message}`),
    ]);
  });

  it.each([
    [
      '{ name: www, type: CNAME, destination: www.example.com }',
      "must be another name: this is the record's own",
    ],
    ['{ name: "@", type: MX, destination: 192.0.2.1 }', 'must name a host for type `MX`, never an address'],
  ])('reports what the destination of a record must be: %s', (record, message) => {
    expect(messagesOf(`domain: example.com\nrecords:\n  - ${record}\n`)).toEqual([
      expect.stringMatching(/^edge\.yaml:3:\d+: error: records\[0\]\.destination: /),
    ]);
    expect(messagesOf(`domain: example.com\nrecords:\n  - ${record}\n`)[0]).toContain(message);
  });

  it('returns the warnings of an accepted file', () => {
    expect(read('domain: example.com\nrules:\n  - { type: waf, path_includes: [/a?b] }\n')).toMatchObject({
      ok: true,
      diagnostics: [{ severity: 'warning', at: { line: 3, column: 34 } }],
    });
  });

  it('stops checking patterns after fifty refused ones', () => {
    const rule = (count: number): string => {
      const patterns = Array.from(
        { length: count },
        (_, index) => `      - "${'(a|b)'.repeat(400)}${index}"\n`,
      );
      return `domain: example.com\nrules:\n  - type: waf\n    path_match_type: regex\n    path_includes:\n${patterns.join('')}`;
    };
    expect(messagesOf(rule(5_000))).toEqual([
      expect.stringContaining('a file must be at most 4 MiB (4194304 octets)'),
    ]);
    expect(messagesOf(rule(2_000))).toEqual([
      expect.stringContaining('must have at most 200 entries, found 2000'),
    ]);
    // After fifty refused patterns no further pattern is checked.
    expect(messagesOf(rule(100))).toHaveLength(50);
  });

  it('reports the place of invalid UTF-8', () => {
    expect(readEdgeBytes(new Uint8Array([0x61, 0x3a, 0x20, 0xff]), 'edge.yaml')).toMatchObject({
      ok: false,
      diagnostics: [{ code: 'invalid_utf8', at: { line: 1, column: 4 } }],
    });
  });

  it('returns diagnostics instead of throwing, for any text', () => {
    const junk = fc.jsonValue({ maxDepth: 4 });
    const nearly = fc.record({
      domain: fc.oneof(fc.constant('example.com'), junk),
      records: junk,
      rules: junk,
    });
    const rules = fc.array(
      fc.record({ type: fc.constantFrom(...RULE_TYPES), key: junk, records: junk, id: junk }),
    );
    fc.assert(
      fc.property(fc.oneof(junk, nearly, fc.record({ domain: fc.constant('a.test'), rules })), (value) => {
        const file = read(JSON.stringify(value));
        for (const { at } of file.diagnostics) expect(at).toBeDefined();
      }),
      { numRuns: 500 },
    );
  });
});

describe('the shop fixture', () => {
  const bytes = readFileSync(new URL('../../../../fixtures/shop/edge.yaml', import.meta.url));
  const file = readEdgeBytes(bytes, 'edge.yaml');

  it('is accepted without a warning, has every rule type but `gateway` and `headers`, and names every rule by a key', () => {
    expect(file.diagnostics).toEqual([]);
    if (!file.ok) throw new Error('the fixture is refused');
    const { rules } = file.ruleSet;
    expect(rules.length).toBeGreaterThanOrEqual(25);
    // `fixtures/headers` and `fixtures/gateways` have those: a plan with one of them is none that earlier releases read.
    const types = new Set(rules.map(({ type }) => type));
    expect(RULE_TYPES.filter((type) => !types.has(type))).toEqual(['gateway', 'headers']);
    expect(rules.filter(({ action_mode }) => action_mode === 'dry_run').length).toBeGreaterThanOrEqual(4);
    for (const { id } of rules) expect(file.sources.rules.get(id)?.key).toMatch(/^[a-z0-9-]+$/);
  });

  it('has a requests file with one JSON object on each line', () => {
    const text = readFileSync(new URL('../../../../fixtures/shop/requests.jsonl', import.meta.url), 'utf8');
    const requests = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(requests.length).toBeGreaterThanOrEqual(60);
    for (const request of requests) expect(typeof request['target']).toBe('string');
    const times = requests.map(({ now }) => now).filter((now) => typeof now === 'number');
    expect(times).toEqual([...times].sort((a, b) => a - b));
  });
});

describe('readEdgeFile on typical first mistakes', () => {
  const messagesOf = (text: string) =>
    readEdgeFile(text, 'edge.yaml').diagnostics.map(({ message, remedy, at }) => [at?.line, message, remedy]);

  it('a misspelt `domain` is reported as an unknown field', () => {
    expect(messagesOf('records: []\ndomian: example.com\n')).toEqual([
      [2, 'is not a known field', 'did you mean `domain`?'],
    ]);
  });

  it('a bare rule type and a single value in place of a list get a remedy that says what to write', () => {
    const rules = [
      'drop',
      '{ type: drop, country_match_type: include, countries: NO }',
      '{ type: drop, path_includes: a:b }',
      '{ type: drop, path_includes: [/x], records: shop }',
    ];
    const list = rules.map((rule) => `  - ${rule}\n`).join('');
    expect(messagesOf(`domain: example.com\nrecords: [www]\nrules:\n${list}`)).toEqual(
      expect.arrayContaining([
        [2, 'must be a mapping with `name`, `type` and `destination`', undefined],
        [4, 'must be a mapping with `type` and the fields of that type', 'write `- { type: drop, … }`'],
        [5, 'must be a list', 'write `[NO]`'],
        [6, 'must be a list', 'write `["a:b"]`'],
        [7, 'must be a list of record names', 'write `[shop]`'],
      ]),
    );
  });
});

describe('a fragment', () => {
  it('is marked, and its entries have the ids of the server', () => {
    const text =
      'domain: example.com\nfragment: true\nrules:\n  - { id: 7, type: drop, countries: ["NO"] }\n';
    const file = read(text);
    expect(file.sources.fragment).toBe(true);
    expect(file.ok && file.ruleSet.rules).toMatchObject([{ id: 7, type: 'drop' }]);
    expect(read('domain: example.com').sources.fragment).toBe(false);
  });

  it('is refused if an entry has no id, or if the mark is not `true`', () => {
    const text =
      'domain: example.com\nfragment: true\nrecords:\n  - { name: a, type: A, destination: 192.0.2.1 }\nrules:\n  - { type: drop, countries: ["NO"] }\n';
    expect(messagesOf(text)).toEqual([
      expect.stringMatching(/^edge.yaml:4:\d+: error: records\[0\].id: is missing/),
      expect.stringMatching(/^edge.yaml:6:\d+: error: rules\[0\].id: is missing/),
    ]);
    expect(messagesOf('domain: example.com\nfragment: false')).toEqual([
      'edge.yaml:2:11: error: fragment: must be `true`, or left out, found false',
    ]);
  });
});
