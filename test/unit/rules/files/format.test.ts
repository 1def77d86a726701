import { describe, expect, test } from 'vitest';
import { STARTER_RULES, STARTER_TESTS } from '../../../../src/cli/starter-files.ts';
import { formatFile } from '../../../../src/rules/files/format.ts';

function format(text: string): string {
  const formatted = formatFile(text, 'edge.yaml');
  if (!formatted.ok) throw new Error(JSON.stringify(formatted.diagnostics));
  return formatted.text;
}

const UNTIDY = `# header one
rules: # the rules
  - type: drop # t
    # about key
    key: a
    countries: # where
      - DE # home

      - AT
    # end of rule

  # between
  - # inner
    id: 3
    type: origin_pool
    health_check: # probe
      # how often
      interval_sec: 5
      # where
      path: /x
    origins: [ # all of them
      { address: a.test, weight: 2 }, # first
      { address: b.test },
    ]
    # tail
records:
    - {type: A,   name: '@', destination: 192.0.2.1}
    # - { name: off }

# before domain
domain: # settings
  sec_no_sniff: true
  name: example.com
`;
const TIDY = `# header one

# before domain
domain: # settings
  name: example.com
  sec_no_sniff: true
records:
  - { name: "@", type: A, destination: 192.0.2.1 }
  # - { name: off }

rules: # the rules
  # about key
  - key: a
    type: drop # t
    countries: # where
      - DE # home

      - AT
    # end of rule

  # between
  # inner
  - id: 3
    type: origin_pool
    origins:
      # all of them
      - { address: a.test, weight: 2 } # first
      - { address: b.test }
    health_check: # probe
      # how often
      interval_sec: 5
      # where
      path: /x
    # tail
`;

describe('formatFile', () => {
  test('keys get their order, and every comment stays with what it is about', () => {
    expect(format(UNTIDY)).toBe(TIDY);
    expect(format(TIDY)).toBe(TIDY);
  });

  test.each([
    ['short lists come on one line', 'a:\n  - DE\n  - AT', 'a: [DE, AT]'],
    ['long lists come one entry a line', `a: [${'DE, '.repeat(60)}AT]`, `a:\n${'  - DE\n'.repeat(60)}  - AT`],
    ['a header of a short list comes behind it', 'a: # c\n  - DE', 'a: [DE] # c'],
    ['a list with a comment above an entry stays', 'a:\n  # c\n  - DE', 'a:\n  # c\n  - DE'],
    [
      'a comment behind an entry in brackets comes above it',
      'rules:\n  - {type: drop} # c',
      'rules:\n  # c\n  - type: drop',
    ],
    [
      'a comment behind a long list comes behind its key',
      `a: [${'DE, '.repeat(60)}AT] # c`,
      `a: # c\n${'  - DE\n'.repeat(60)}  - AT`,
    ],
    ['quotes are double', "a: 'x y'", 'a: "x y"'],
    ['quotes stay where the author wrote them', "a: 'x'", 'a: "x"'],
    ['single quotes save escapes', 'a: "\\\\d\\"x"', `a: '\\d"x'`],
    ['escapes that single quotes cannot have stay', 'a: "\\u0001\\\\"', 'a: "\\x01\\\\"'],
    ['text that YAML 1.1 reads as a boolean gets quotes', 'a: NO', 'a: "NO"'],
    ['text with a comma gets quotes between brackets', 'a:\n  - b, c', 'a: ["b, c"]'],
    ['a regex with a comma gets single quotes between brackets', 'a:\n  - \\d{1,3}', "a: ['\\d{1,3}']"],
    ['a key is text as it was written', 'a: { 0502: x }', 'a: { "0502": x }'],
    ['text of several lines stays a block', 'a:\n  b: |\n   x\n   y', 'a:\n  b: |\n    x\n    y'],
    ['a quoted line break stays an escape', `a: "${'x'.repeat(50)}\\ny\\n"`, `a: "${'x'.repeat(50)}\\ny\\n"`],
    ['line ends become LF', 'a: b\r\nc: d\r\n', 'a: b\nc: d'],
    ['several blank lines become one', 'a: b\n\n\n\nc: d', 'a: b\n\nc: d'],
    ['a long quoted text stays on a line', `a: "${'x y '.repeat(60)}"`, `a: "${'x y '.repeat(60)}"`],
    [
      'anchors stay before their aliases',
      'rules: &a []\nrecords: *a\ndomain: x',
      'rules: &a []\nrecords: *a\ndomain: x',
    ],
  ])('%s', (_, before, after) => {
    expect(format(before)).toBe(`${after}\n`);
    expect(format(`${after}\n`)).toBe(`${after}\n`);
  });

  test('comments of the outer list stay outside when one of the inner list is above them', () => {
    const text = 'records:\n  - { name: a }\n  # - { name: b }\n\n# The rules.\nrules: []\n';
    expect(format(text)).toBe(text);
    const deep = 'rules:\n  - type: drop\n    # in\n\n  # out\n  - type: drop\n    # in\n  # after\n# end\n';
    expect(format(deep)).toBe(deep);
  });

  test('rows of tests are short ones on a line, with their keys in order', () => {
    const text = `tests:
  - expect: forward
    request: GET https://a.test/
    name: t
    cases:
      - {expect: forward, name: c, with: {country: DE, ip: 192.0.2.1}}
      - GET https://a.test/x
`;
    expect(format(text)).toBe(`tests:
  - name: t
    request: GET https://a.test/
    expect: forward
    cases:
      - { name: c, with: { ip: 192.0.2.1, country: DE }, expect: forward }
      - GET https://a.test/x
`);
  });

  test('what init writes is formatted', () => {
    for (const text of [STARTER_RULES, STARTER_TESTS]) expect(format(text)).toBe(text);
  });

  test.each(['a: [', 'a: 1\na: 2', 'a: *b', '---\na: 1\n---\nb: 2'])('%j is left as it is', (text) => {
    expect(formatFile(text, 'edge.yaml').ok).toBe(false);
  });
});
