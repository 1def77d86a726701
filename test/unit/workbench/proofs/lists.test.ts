/** Proofs about rules that name lists: what is claimed of lists of each kind, and what is left open. */
import { describe, expect, test } from 'vitest';
import { sha256Hex } from '../../../../src/base/platform/cryptography.ts';
import { compile } from '../../../../src/engine/compiler/compile.ts';
import { sealList } from '../../../../src/engine/compiler/seal-list.ts';
import { openList } from '../../../../src/engine/evaluator/index.ts';
import { openPlan, seal } from '../../../../src/engine/plan/seal.ts';
import { parseInvariants } from '../../../../src/rules/model/invariant.ts';
import type { RuleSet } from '../../../../src/rules/model/types.ts';
import { proveChanges } from '../../../../src/workbench/proofs/changes.ts';
import { likelyCircles } from '../../../../src/workbench/proofs/circles.ts';
import { diffPlans } from '../../../../src/workbench/proofs/diff.ts';
import { changeInput } from '../../../../src/workbench/proofs/differences.ts';
import { proveInvariants } from '../../../../src/workbench/proofs/invariants.ts';
import { lintRuleSet } from '../../../../src/workbench/proofs/lint.ts';
import { apartTest, proveReach } from '../../../../src/workbench/proofs/reach.ts';
import { openRegions } from '../../../../src/workbench/proofs/regions.ts';
import { compileSubject, readSubject } from '../../../../src/workbench/proofs/subject.ts';
import { type Lists, listedRules, type RuleFields } from '../../../support/listed-rules.ts';

const drop = (fields: RuleFields): RuleFields => ({ type: 'drop', ...fields });

/** What lint reports, as `<rule> <field>: <code>`. */
function found(ruleSet: RuleSet): readonly string[] {
  return lintRuleSet(ruleSet).map(
    ({ path: [, index, ...field], code }) => `${Number(index) + 1} ${field.join('.')}: ${code}`,
  );
}

const manyPaths = Array.from({ length: 600 }, (_, index) => `/old/${index}`);
const manyHosts = Array.from({ length: 600 }, (_, index) => `h${index}.example.com`);
const manyAgents = Array.from({ length: 600 }, (_, index) => `agent ${index}`);
const manyAddresses = Array.from({ length: 20_001 }, (_, index) => `10.${index >> 8}.${index & 255}.0/25`);

/** For each kind: a rule that names a list, and one that it takes all requests of. */
const KINDS: readonly (readonly [string, Lists, RuleFields, RuleFields])[] = [
  [
    'paths',
    { of: ['path', '*.php', '/wp-*', '/a*b*c'] },
    { path_includes: ['@of'] },
    { path_includes: ['/wp-login', '/a1b2c'] },
  ],
  [
    'hosts',
    { of: ['host', 'a.example.com', '*.b.example.com'] },
    { host_match_type: 'exact', host_includes: ['@of'] },
    { host_includes: ['x.b.example.com', 'a.example.com'] },
  ],
  ['addresses', { of: ['ip', '10.0.0.0/8', '2001:db8::/32'] }, { ips: ['@of'] }, { ips: ['10.1.0.0/16'] }],
  [
    'countries',
    { of: ['country', 'DE', 'FR'] },
    { countries: ['@of'] },
    { conditions: { countries: { includes: ['FR'] } } },
  ],
  [
    'addresses of conditions',
    { of: ['ip', '10.0.0.0/8'], part: ['ip', '10.2.0.0/16'] },
    { conditions: { ips: { includes: ['192.0.2.1', '@of'] } } },
    { conditions: { ips: { includes: ['@part'] } } },
  ],
  [
    'autonomous systems',
    { of: ['asn', 64496, 64499] },
    { conditions: { asns: { includes: ['@of'] } } },
    { conditions: { asns: { includes: [64499] } } },
  ],
  [
    'User-Agents',
    { of: ['user_agent', 'curl/*', '*Bot*', 'Wget'] },
    { conditions: { user_agents: { includes: ['@of'] } } },
    { conditions: { user_agents: { includes: ['WGET', 'my-bot/1'] } } },
  ],
];

describe('a rule that names a list', () => {
  test.each(KINDS)('of %s is reached, and takes what the list has', (_, lists, naming, narrow) => {
    expect(found(listedRules(lists, drop(naming), drop(narrow)))).toContain('2 type: shadowed_rule');
    const reach = proveReach(compileSubject(listedRules(lists, drop(narrow), drop(naming))));
    expect(reach.map(({ result }) => result.kind)).toEqual(['reached', 'reached']);
  });

  test.each(KINDS)('of %s is not said to miss its entries', (_, lists, naming) => {
    const wrong = ['relative_path', 'unmatched_rule', 'unproved_rule', 'empty_scope', 'foreign_host'];
    const codes = lintRuleSet(listedRules(lists, drop(naming))).map(({ code }) => code);
    expect(codes.filter((code) => wrong.includes(code))).toEqual([]);
  });

  test('excludes what the list has', () => {
    const lists: Lists = { api: ['path', '/api/*'], office: ['ip', '203.0.113.0/24'] };
    const shadowed = listedRules(
      lists,
      drop({ path_includes: ['/*'], path_excludes: ['@api'], ip_match_type: 'exclude', ips: ['@office'] }),
      drop({ path_includes: ['/x'], ips: ['192.0.2.1'] }),
      drop({ path_includes: ['/api/x'], ips: ['192.0.2.1'] }),
      drop({ path_includes: ['/x'], ips: ['203.0.113.9'] }),
    );
    expect(found(shadowed).filter((one) => one.includes('shadowed'))).toEqual(['2 type: shadowed_rule']);
  });

  test('matches nothing if the list is empty, and the finding says so', () => {
    const ruleSet = listedRules({ none: ['path'] }, drop({ path_includes: ['@none'] }));
    expect(lintRuleSet(ruleSet)).toEqual([
      expect.objectContaining({
        code: 'unmatched_rule',
        message: 'matches no request: the list `@none` has no entries',
      }),
    ]);
  });

  test('lets nobody through if the list is empty and its only allowlist', () => {
    const allow = { path_includes: ['/x'], ip_match_type: 'exclude' };
    const lists: Lists = { none: ['ip'], some: ['ip', '192.0.2.1'] };
    expect(found(listedRules(lists, drop({ ...allow, ips: ['@none'] })))).toContain('1 ips.0: empty_list');
    for (const ips of [['@none', '192.0.2.7'], ['@some']])
      expect(found(listedRules(lists, drop({ ...allow, ips })))).not.toContain('1 ips.0: empty_list');
  });

  test('is said to have entries twice that the list has, and its own name only if that is listed twice', () => {
    const lists: Lists = {
      php: ['path', '*.php'],
      net: ['ip', '10.0.0.0/8'],
      agents: ['user_agent', 'curl*'],
    };
    const ruleSet = listedRules(
      lists,
      drop({ path_includes: ['@php', '/x.php', '/y'] }),
      drop({ path_includes: ['/*', '@php'], ips: ['192.0.2.1'] }),
      drop({ ips: ['10.1.2.3', '@net', '192.0.2.9'] }),
      drop({ conditions: { user_agents: { includes: ['Curl/8', '@agents'] } } }),
      drop({ path_includes: ['@php', '@php'], ips: ['192.0.2.2'] }),
    );
    expect(found(ruleSet).filter((one) => one.includes('needless'))).toEqual([
      '1 path_includes.1: needless_entry',
      '3 ips.0: needless_entry',
      '4 conditions.user_agents.includes.0: needless_entry',
      '5 path_includes.1: needless_entry',
    ]);
  });
});

describe('a rule that names a list that is too large for proofs', () => {
  const LARGE: readonly (readonly [string, Lists, RuleFields, RuleFields])[] = [
    ['paths', { of: ['path', ...manyPaths] }, { path_includes: ['@of'] }, { path_includes: ['/old/7'] }],
    [
      'hosts',
      { of: ['host', ...manyHosts] },
      { host_includes: ['@of'] },
      { host_includes: ['h7.example.com'] },
    ],
    ['addresses', { of: ['ip', ...manyAddresses] }, { ips: ['@of'] }, { ips: ['10.0.1.7'] }],
    [
      'addresses of conditions',
      { of: ['ip', ...manyAddresses] },
      { conditions: { ips: { includes: ['@of'] } } },
      { ips: ['10.0.1.7'] },
    ],
    [
      'User-Agents',
      { of: ['user_agent', ...manyAgents] },
      { conditions: { user_agents: { includes: ['@of'] } } },
      { conditions: { user_agents: { includes: ['agent 7'] } } },
    ],
  ];

  test.each(LARGE)('of %s is left open, and makes no other rule unreachable', (_, lists, naming, narrow) => {
    const other = drop({ path_includes: ['/elsewhere'], ips: ['192.0.2.1'] });
    const ruleSet = listedRules(lists, drop(naming), drop(narrow), other);
    const kinds = proveReach(compileSubject(ruleSet)).map(({ result }) => result.kind);
    expect(kinds).toEqual(['unknown', 'unknown', 'reached']);
  });

  test.each(LARGE)('of %s: a change of the list is open', (_, lists, naming) => {
    const [kind, ...entries] = lists['of']!;
    const [was, now] = [entries, entries.slice(0, -1)].map((list) =>
      sealedSide(listedRules({ of: [kind, ...list] }, drop(naming))),
    );
    const { changes, open, isIncomplete } = proveChanges(changeInput(was!, now!));
    expect(changes).toEqual([]);
    expect(open.length > 0 || isIncomplete).toBe(true);
  });

  test('numbers are never too many', () => {
    const numbers = Array.from({ length: 100_000 }, (_, index) => index * 2 + 1);
    const naming = (entry: unknown): RuleFields => drop({ conditions: { asns: { includes: [entry] } } });
    const ruleSet = listedRules({ of: ['asn', ...numbers] }, naming('@of'), naming(77_777), naming(77_778));
    const kinds = proveReach(compileSubject(ruleSet)).map(({ result }) => result.kind);
    expect(kinds).toEqual(['reached', 'shadowed', 'reached']);
  });
});

function sealedSide(ruleSet: RuleSet) {
  const bytes = seal(compile(ruleSet).plan, { revision: 1 });
  return { opened: openPlan(bytes), bytes };
}

describe('two plans whose lists differ', () => {
  test.each(KINDS)('of %s: a request shows what the change of the list changes', (_, lists, naming) => {
    const [kind, ...entries] = lists['of']!;
    const changed: Lists = { ...lists, of: [kind, ...entries.slice(1)] };
    const [was, now] = [lists, changed].map((of) => sealedSide(listedRules(of, drop(naming))));
    const { changes, open } = proveChanges(changeInput(was!, now!));
    expect(open).toEqual([]);
    expect(changes.map(({ component, before, after }) => [component, before?.ref.id, after])).toContainEqual([
      'end',
      1,
      null,
    ]);
    expect(proveChanges(changeInput(was!, was!))).toMatchObject({
      changes: [],
      open: [],
      isIncomplete: false,
    });
  });

  test('are said to differ in the rules that name the list, and in no others', () => {
    const rules = [drop({ path_includes: ['@php'] }), drop({ ips: ['@net'] })];
    const sides = [['*.php'], ['*.php', '*.asp']].map((php) =>
      sealedSide(listedRules({ php: ['path', ...php], net: ['ip', '10.0.0.0/8'] }, ...rules)),
    );
    const { same, rules: changed } = diffPlans(sides[0]!, sides[1]!);
    expect({ same, changed }).toMatchObject({
      same: false,
      changed: [
        {
          change: 'changed',
          rule: 'drop/1',
          fields: [
            {
              field: 'lists.php',
              was: expect.stringMatching(/^1 entry, checksum [0-9a-f]{16}$/),
              now: expect.stringMatching(/^2 entries, checksum [0-9a-f]{16}$/),
            },
          ],
        },
      ],
    });
    expect(diffPlans(sides[0]!, sides[0]!)).toMatchObject({ same: true, rules: [] });
  });
});

describe('a list that a plan refers to by digest', () => {
  const contained = listedRules(
    { net: ['ip', '10.0.0.0/8'] },
    drop({ ips: ['@net'] }),
    drop({ ips: ['10.1.1.1'] }),
  );
  const sealed = sealList(contained.lists![0] as Parameters<typeof sealList>[0]);
  const digest = sha256Hex(sealed);
  const referring: RuleSet = { ...contained, lists: [{ name: 'net', kind: 'ip', digest }] };
  const lists = (asked: string) => (asked === digest ? openList(sealed) : null);

  test('is part of proofs where it is found', () => {
    const subject = readSubject(sealedSide(referring).bytes, { lists });
    expect(proveReach(subject).map(({ result }) => result.kind)).toEqual(['reached', 'shadowed']);
    const codes = lintRuleSet(referring, undefined, { lists }).map(({ code }) => code);
    expect(codes).toContain('shadowed_rule');
    const same = diffPlans(sealedSide(contained), { ...sealedSide(referring), lists });
    expect(same).toMatchObject({ same: true });
    const input = changeInput({ ...sealedSide(contained) }, { ...sealedSide(referring), lists });
    expect(proveChanges(input)).toMatchObject({ changes: [], open: [], isIncomplete: false });
  });

  test('is no reason for a claim where it is not', () => {
    const codes = lintRuleSet(referring).map(({ code }) => code);
    expect(codes.filter((code) => code.endsWith('_rule'))).toEqual([]);
    const [first, second] = referring.rules;
    expect(apartTest(referring)(first!, second!)).toBe(false);
    expect(likelyCircles(referring)).toEqual([]);
    expect(proveInvariants(referring, invariants({ path: '/x' }, 'forward'))[0]!.result.kind).toBe('unknown');
    expect(() => compileSubject(referring)).toThrow(/the plan names list `net`/);
  });
});

function invariants(when: object, never: string) {
  const parsed = parseInvariants([{ name: 'one', when, never }]);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.diagnostics));
  return parsed.invariants;
}

describe('an invariant', () => {
  const lists: Lists = { php: ['path', '*.php'], office: ['ip', '203.0.113.0/24'] };

  test('is proved or broken about requests that a list has', () => {
    const ruleSet = listedRules(
      lists,
      drop({ path_includes: ['@php'], ip_match_type: 'exclude', ips: ['@office'] }),
    );
    const kindOf = (when: object): string =>
      proveInvariants(ruleSet, invariants(when, 'forward'))[0]!.result.kind;
    expect(kindOf({ path: '@php', ip: { not: '@office' } })).toBe('proved');
    expect(kindOf({ path: '@php' })).toBe('broken');
    expect(kindOf({ path: '@php', ip: '@office' })).toBe('broken');
  });

  test('that names a list that does not exist, or of another kind, proves nothing', () => {
    const ruleSet = listedRules(lists, drop({ path_includes: ['/*'], ips: ['0.0.0.0/0'] }));
    for (const path of ['@missing', '@office'])
      expect(proveInvariants(ruleSet, invariants({ path }, 'forward'))[0]!.result.kind).toBe('unknown');
  });
});

describe('a redirect with a list of targets', () => {
  const moved = (...entries: readonly object[]): Lists => ({ moved: ['redirect', ...entries] });
  const redirect: RuleFields = { type: 'redirect', targets: '@moved' };
  const entries = [
    { from: '/a', to: '/b' },
    { from: '/c', to: '/d' },
  ];
  const sideOf = (...list: readonly object[]) => sealedSide(listedRules(moved(...list), redirect));
  const changesOf = (was: ReturnType<typeof sideOf>, now: ReturnType<typeof sideOf>) =>
    proveChanges(changeInput(was, now));

  test('matches the paths of the list alone', () => {
    const wide = drop({ path_includes: ['/a', '/c'] });
    const ruleSet = listedRules(moved(...entries), wide, redirect);
    expect(found(ruleSet)).toContain('2 type: shadowed_rule');
    expect(lintRuleSet(listedRules(moved(), redirect))).toEqual([
      expect.objectContaining({
        code: 'unmatched_rule',
        message: 'matches no request: the list `@moved` has no entries',
      }),
    ]);
  });

  test('that leads elsewhere is a change, or open', () => {
    for (const changed of [
      [entries[0]!, { from: '/c', to: '/e' }],
      [{ from: '/a', to: '/e' }, entries[1]!],
      [entries[0]!, { from: '/c', to: '/d', status: 308 }],
    ]) {
      const { changes, open } = changesOf(sideOf(...entries), sideOf(...changed));
      const pairs = [...changes, ...open].map(({ before, after }) => [before?.ref.id, after?.ref.id]);
      expect(pairs).toContainEqual([1, 1]);
    }
  });

  test('that has one more path is a change from no rule to it', () => {
    const { changes } = changesOf(sideOf(entries[0]!), sideOf(...entries));
    const pairs = changes.map(({ before, after }) => [before, after?.ref.id]);
    expect(pairs).toContainEqual([null, 1]);
  });

  test('that is the same decides alike', () => {
    const same = changesOf(sideOf(...entries), sideOf(...entries));
    expect(same).toMatchObject({ changes: [], open: [], isIncomplete: false });
  });
});

test('a region beside a rule is a request that the list alone keeps away', () => {
  const ruleSet = listedRules(
    { php: ['path', '*.php'], all: ['path', '*'] },
    drop({ path_includes: ['@php'], ips: ['10.0.0.0/8'] }),
    drop({ path_includes: ['@all'], ips: ['10.0.0.0/8'] }),
  );
  const regions = openRegions(compileSubject(ruleSet));
  expect(regions.find('drop', 1, 'path')).toMatchObject({ kind: 'found' });
  expect(regions.find('drop', 2, 'path')).toMatchObject({ kind: 'empty' });
});
