/** Sealed lists against naive ones, their faults, and plans that name them. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sha256Hex } from '../../../../src/base/platform/cryptography.ts';
import type { ListKind } from '../../../../src/base/vocabulary/vocabulary.ts';
import { compile, seal } from '../../../../src/engine/compiler/index.ts';
import { ListTooLarge, sealList } from '../../../../src/engine/compiler/seal-list.ts';
import { loadPlan, openList, PlanFault } from '../../../../src/engine/evaluator/index.ts';
import { hasStart, hasText, redirectOf, rowOf } from '../../../../src/engine/evaluator/lists.ts';
import { CONDITIONS_VERSION, LISTS_VERSION } from '../../../../src/engine/plan/layout.ts';
import {
  hashOn,
  hashPlace,
  hashStart,
  LIST_HEADER,
  LIST_VERSION,
  listChecksum,
} from '../../../../src/engine/plan/lists.ts';
import { openPlan } from '../../../../src/engine/plan/seal.ts';
import { readEntries } from '../../../../src/rules/model/lists.ts';
import { parseRuleSet } from '../../../../src/rules/model/parse.ts';
import type { RuleSet } from '../../../../src/rules/model/types.ts';

function listOf(kind: ListKind, entries: readonly unknown[]) {
  const read = readEntries(kind, entries);
  if (!read.ok) throw new Error(JSON.stringify(read.diagnostics));
  return openList(sealList({ kind, entries: read.entries }));
}

/** Whether a wildcard, whose star is any run, matches a text; by trying every place. */
function matches(pattern: string, text: string): boolean {
  if (pattern === '') return text === '';
  if (pattern[0] !== '*')
    return text[0] === pattern[0] && text !== '' && matches(pattern.slice(1), text.slice(1));
  for (let at = 0; at <= text.length; at++) if (matches(pattern.slice(1), text.slice(at))) return true;
  return false;
}

const word = fc.string({ unit: fc.constantFrom('a', 'b', '*'), minLength: 1, maxLength: 6 });
const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 });

describe('a list of texts', () => {
  test('has what one of its wildcards matches', () => {
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), fc.array(text, { maxLength: 6 }), (entries, texts) => {
        const list = listOf('user_agent', entries);
        for (const one of [...texts, ...texts]) {
          expect(hasText(list, one)).toBe(entries.some((entry) => matches(entry, one)));
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test('has a start only if an entry matches however the text goes on', () => {
    fc.assert(
      fc.property(fc.array(word, { maxLength: 6 }), text, (entries, start) => {
        const list = listOf('user_agent', entries);
        const goesOn = entries.some((entry) => entry.endsWith('*') && matches(entry, start));
        expect(hasStart(list, start)).toBe(goesOn);
      }),
      { numRuns: 1_000 },
    );
  });

  test('compares characters beyond an octet', () => {
    const list = listOf('path', ['/日本/*', '/ü', '/%E6%97%A5']);
    expect(['/日本/x', '/ü', '/日', '/u', '/日本'].map((path) => hasText(list, path))).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
  });

  test('finds its texts among 100,000', () => {
    const paths = Array.from({ length: 100_000 }, (_, index) => `/p/${(index * 7919) % 1_000_003}`);
    const list = listOf('path', paths);
    expect(list.entries).toBe(100_000);
    expect(paths.every((path) => hasText(list, path))).toBe(true);
    const others = paths.slice(0, 10_000).map((path) => `${path}x`);
    expect(others.some((path) => hasText(list, path))).toBe(false);
  });

  test('without entries has nothing', () => {
    for (const kind of ['path', 'host', 'user_agent', 'redirect', 'asn', 'country'] as const)
      expect(hasText(listOf(kind, []), 'DE')).toBe(false);
  });

  test('whose author chose texts of one hash is sealed with another start of hashes, or refused', () => {
    const mask = 1023;
    const colliding: string[] = [];
    for (let index = 0; colliding.length < 300; index++) {
      const path = `/${index}`;
      let hash = hashStart(0);
      for (let at = 0; at < path.length; at++) hash = hashOn(hash, path.charCodeAt(at));
      if (hashPlace(hash, mask) === 5) colliding.push(path);
    }
    const list = listOf('path', colliding);
    expect(list.words[0]).toBeGreaterThan(0);
    expect(colliding.every((path) => hasText(list, path))).toBe(true);
  });

  test('that is too large names both numbers', () => {
    const long = 'x'.repeat(2_000);
    const entries = Array.from({ length: 20_000 }, (_, index) => ({ value: `/${index}${long}` }));
    expect(() => sealList({ kind: 'path', entries })).toThrow(ListTooLarge);
    expect(() => sealList({ kind: 'path', entries })).toThrow(/has \d+ octets .* at most 33554432/);
  });
});

test.each([
  ['asn', ['64496', 'AS13335', 4294967295], ['64496', '13335', '4294967295'], ['1', '64497', '13334']],
  ['country', ['de', 'AT', 'ZW'], ['DE', 'AT', 'ZW'], ['FR', 'AA', 'ZZ']],
  [
    'host',
    ['Shop.example.com', '*.b.example'],
    ['shop.example.com', 'x.b.example'],
    ['b.example', 'example.com'],
  ],
] as const)('a list of kind %s has its entries and no others', (kind, entries, held, others) => {
  const list = listOf(kind, entries);
  expect(held.map((one) => hasText(list, one))).toEqual(held.map(() => true));
  expect(others.map((one) => hasText(list, one))).toEqual(others.map(() => false));
});

test('a redirect has its target and status', () => {
  const list = listOf('redirect', [
    { from: '/old', to: '/new', status: 301 },
    { from: '/caf%C3%A9', to: 'https://example.org/?a=ü#x' },
  ]);
  expect(redirectOf(list, rowOf(list, '/old'))).toEqual({ to: '/new', status: 301 });
  expect(redirectOf(list, rowOf(list, '/café'))).toEqual({ to: 'https://example.org/?a=ü#x', status: 0 });
  expect(rowOf(list, '/old/')).toBe(-1);
});

describe('octets that are no list', () => {
  const bytes = sealList({ kind: 'path', entries: [{ value: '/a' }, { value: '/b*' }, { value: '*c*d' }] });

  function changed(word: number, value: number, checksum = true): Uint8Array {
    const copy = bytes.slice();
    const view = new DataView(copy.buffer);
    view.setUint32(word * 4, value, true);
    if (checksum) view.setUint32(LIST_HEADER.checksum * 4, listChecksum(copy), true);
    return copy;
  }

  test.each([
    ['too short', bytes.slice(0, 12), 'truncated'],
    ['of another length', bytes.slice(0, -8), 'truncated'],
    ['of another magic', changed(LIST_HEADER.magic, 7), 'not_a_plan'],
    ['of a newer version', changed(LIST_HEADER.version, LIST_VERSION + 1), 'version'],
    ['with a wrong checksum', changed(LIST_HEADER.size, 9, false), 'checksum'],
    ['of an unknown kind', changed(LIST_HEADER.kind, 99), 'layout'],
    ['with more words than there are', changed(LIST_HEADER.words, 1 << 20), 'layout'],
  ] as const)('%s are refused', (_, octets, code) => {
    expect(() => openList(octets)).toThrow(PlanFault);
    expect(() => openList(octets)).toThrow(expect.objectContaining({ code }));
  });

  test('with any one word changed are refused, or every look-up ends', () => {
    for (let word = LIST_HEADER.size; word < bytes.length / 4; word++) {
      for (const value of [0, 1, 0xffffffff, 0x7fffffff]) {
        try {
          const list = openList(changed(word, value));
          for (const path of ['/a', '/bx', 'cd', '/']) hasText(list, path);
        } catch (error) {
          expect(error).toBeInstanceOf(PlanFault);
        }
      }
    }
  });
});

describe('a plan whose rules name a list', () => {
  const entries = [{ value: '203.0.113.0/24' }];
  const parsed = (lists: readonly object[]) =>
    parseRuleSet({
      domain: { name: 'example.com' },
      records: [{ id: 1, name: '@', type: 'A', destination: '198.51.100.1', proxied: true }],
      rules: [{ id: 1, type: 'drop', ips: ['@bad', '192.0.2.1'] }],
      lists,
    });
  const ruleSet = (): RuleSet => {
    const read = parsed([{ name: 'bad', kind: 'ip', entries }]);
    if (!read.ok) throw new Error(JSON.stringify(read.diagnostics));
    return read.ruleSet;
  };
  const request = (ip: string) =>
    ({ scheme: 'https', method: 'GET', host: 'example.com', target: '/', ip }) as const;
  const answers = (bytes: Uint8Array, options = {}) => {
    const evaluator = loadPlan(bytes, options);
    return ['203.0.113.7', '192.0.2.1', '192.0.2.2'].map((ip) => evaluator.evaluate(request(ip)).action);
  };

  test('contains it, or finds it by digest, and decides the same', () => {
    const contained = seal(compile(ruleSet()).plan);
    expect(openPlan(contained).version).toBe(LISTS_VERSION);
    expect(LISTS_VERSION).toBeGreaterThan(CONDITIONS_VERSION);
    expect(answers(contained)).toEqual(['block', 'block', 'forward']);
    const sealed = sealList({ kind: 'ip', entries });
    const digest = sha256Hex(sealed);
    const referring = seal(compile({ ...ruleSet(), lists: [{ name: 'bad', kind: 'ip', digest }] }).plan);
    const lists = (asked: string) => (asked === digest ? openList(sealed) : null);
    expect(answers(referring, { lists })).toEqual(['block', 'block', 'forward']);
    expect(() => loadPlan(referring)).toThrow(PlanFault);
    expect(() => loadPlan(referring)).toThrow(
      expect.objectContaining({
        code: 'list',
        message: expect.stringContaining(`\`bad\` with digest ${digest}`),
      }),
    );
  });

  test('says by which entry an address was blocked', () => {
    const trace = loadPlan(seal(compile(ruleSet()).plan)).explain(request('203.0.113.7'));
    const texts = trace.phases.flatMap(({ rules }) =>
      rules.flatMap(({ checks }) => checks.map(({ text }) => text)),
    );
    expect(texts).toContain('203.0.113.7 is in @bad');
  });

  test.each([
    ['no such list', [], 'rules[0].ips[0]', 'unknown_list'],
    ['one of another kind', [{ name: 'bad', kind: 'path', entries: ['/a'] }], 'rules[0].ips[0]', 'list_kind'],
  ] as const)('is refused for %s', (_, lists, path, code) => {
    const read = parsed(lists);
    expect(read.ok).toBe(false);
    expect(read.diagnostics.map((one) => one.code)).toContain(code);
    expect(JSON.stringify(read.diagnostics[0]!.path)).toBe(JSON.stringify(['rules', 0, 'ips', 0]));
    expect(path).toContain('ips');
  });
});
