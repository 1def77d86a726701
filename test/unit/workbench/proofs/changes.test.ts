/** Changes of rewrites that write groups of their patterns: what they do depends on the first pattern that matches. */
import { describe, expect, test } from 'vitest';
import { formatDiagnostic } from '../../../../src/base/diagnostics/diagnostic.ts';
import { compile } from '../../../../src/engine/compiler/compile.ts';
import { openPlan, seal } from '../../../../src/engine/plan/seal.ts';
import { parseRuleSet } from '../../../../src/rules/model/parse.ts';
import { type ProvedChanges, proveChanges } from '../../../../src/workbench/proofs/changes.ts';
import { changeInput, changesAt } from '../../../../src/workbench/proofs/differences.ts';

const RECORDS = [{ id: 1, name: '@', type: 'A', destination: '198.51.100.1', proxied: true }];

type Fields = Readonly<Record<string, unknown>>;

function sealed(rules: readonly Fields[]): Uint8Array {
  const numbered = rules.map((rule, index) => ({ id: index + 1, priority: index + 1, ...rule }));
  const parsed = parseRuleSet({ domain: { name: 'example.com' }, records: RECORDS, rules: numbered });
  if (!parsed.ok) throw new Error(parsed.diagnostics.map(formatDiagnostic).join('\n'));
  return seal(compile(parsed.ruleSet).plan, { revision: 1 });
}

function changesOf(before: readonly Fields[], after: readonly Fields[]): ProvedChanges {
  const [was, now] = [sealed(before), sealed(after)];
  return proveChanges(
    changeInput({ opened: openPlan(was), bytes: was }, { opened: openPlan(now), bytes: now }),
  );
}

const rewrite = (target: string, ...patterns: readonly string[]): Fields => ({
  type: 'rewrite',
  path_match_type: 'regex',
  path_includes: patterns,
  path_target: target,
});

test('patterns of a rewrite that match the same paths and capture others are a change, or open', () => {
  const { changes, open } = changesOf(
    [rewrite('/v2/$1', '^/api/(.*)$', '^/api/(a).*$')],
    [rewrite('/v2/$1', '^/api/(a).*$', '^/api/(.*)$')],
  );
  const named = [...changes, ...open].map(({ component, before, after }) => [
    component,
    before?.ref.id,
    after?.ref.id,
  ]);
  expect(named).toEqual([['rewrite', 1, 1]]);
});

const redirect = (target: string, ...patterns: readonly string[]): Fields => ({
  type: 'redirect',
  path_match_type: 'regex',
  path_includes: patterns,
  target,
  target_mode: 'captures',
});

const componentsOf = ({ changes, open }: ProvedChanges): readonly unknown[] =>
  [...changes, ...open].map(({ component, before, after }) => [component, before?.ref.id, after?.ref.id]);

test('patterns of a redirect that match the same paths and capture others are a change, or open', () => {
  const [wide, narrow] = ['^/api/(.*)$', '^/api/(a).*$'];
  const compared = changesOf([redirect('/v2/$1', wide, narrow)], [redirect('/v2/$1', narrow, wide)]);
  expect(componentsOf(compared)).toEqual([['end', 1, 1]]);
});

test('a redirect with captures that is narrowed changes the paths that it leaves, and no others', () => {
  const compared = changesOf([redirect('/new/$1', '^/old/(.*)$')], [redirect('/new/$1', '^/old/a/(.*)$')]);
  expect(compared.isIncomplete).toBe(false);
  expect(compared.open).toEqual([]);
  expect(componentsOf(compared)).toEqual([
    ['end', 1, undefined],
    ['end', 1, 1],
  ]);
});

test('a redirect with captures that may lead to the own URL leaves what comes after it open, and claims nothing', () => {
  const after = { type: 'redirect', path_includes: ['/same/*'], target: '/elsewhere', priority: 9 };
  const same = redirect('/same/$1', '^/same/(.*)$');
  const { changes, open } = changesOf([same, after], [after]);
  // Every location of the first rule is the own URL: it acts on no request, which is not proved.
  expect(changes).toEqual([]);
  expect(open.length).toBeGreaterThan(0);
});

test.each([
  [410, 451],
  [undefined, 404],
])('a drop rule that answers %s and then %s is a change of its outcome', (was, now) => {
  const drop = (status: number | undefined): Fields => ({
    type: 'drop',
    path_includes: ['/gone'],
    ...(status === undefined ? {} : { status }),
  });
  const { changes, open } = changesOf([drop(was)], [drop(now)]);
  expect(open).toEqual([]);
  expect(changes.map(({ component, kind }) => [component, kind])).toEqual([['end', 'outcome']]);
  const [{ profiles }] = changes as [ProvedChanges['changes'][number]];
  expect([profiles.before.decision.status, profiles.after.decision.status]).toEqual([was ?? 403, now]);
});

test('drop rules with the same status take each other’s place without a change of the outcome', () => {
  const drop = (status: number, priority: number): Fields => ({
    ...{ type: 'drop', path_includes: ['/gone'], status, priority },
  });
  const before = [drop(404, 1), drop(410, 2)];
  const { changes } = changesOf(before, [drop(404, 2), drop(410, 1)]);
  expect(changes.map(({ kind }) => kind)).toEqual(['outcome']);
});

test('patterns of a rewrite that captures nothing are compared by what they match', () => {
  const [before, after] = [
    [rewrite('/v2', '^/api/(.*)$', '^/api/(a).*$')],
    [rewrite('/v2', '^/api/(a).*$', '^/api/(.*)$')],
  ];
  expect(changesOf(before, after)).toMatchObject({ changes: [], open: [], isIncomplete: false });
});

test('what a rewrite refuses for a dot segment is a change of the rewrite alone', () => {
  const route = { type: 'origin_route', path_includes: ['/x/*'], address: '203.0.113.1' };
  const { changes, open } = changesOf(
    [rewrite('/.$1', '^/x(/.*)$'), { ...route, id: 9 }],
    [{ ...route, id: 9 }],
  );
  expect(open).toEqual([]);
  expect(changes.map(({ component, before, after }) => [component, before?.type, after])).toEqual([
    ['rewrite', 'rewrite', null],
  ]);
  const [{ profiles }] = changes as [ProvedChanges['changes'][number]];
  expect([profiles.before.decision.action, profiles.after.decision.action]).toEqual(['refuse', 'forward']);
});

test('a rule that pins the origin of requests that the edge answers itself changes nothing', () => {
  const pin = {
    type: 'bot_route',
    bot_kinds: ['gptbot'],
    action: 'alt_origin',
    alt_dest: '203.0.113.7',
    host_match_type: 'exact',
    host_includes: ['example.com'],
  };
  const route = { id: 9, type: 'origin_route', address: '203.0.113.1' };
  const [was, now] = [sealed([pin, route]), sealed([route])];
  const input = changeInput({ opened: openPlan(was), bytes: was }, { opened: openPlan(now), bytes: now });
  const url = 'https://example.com/.well-known/edgeplan/solve';
  const bot = { kind: 'gptbot', verified: true };
  const unknown = { ip: null, country: null, asn: null, ja4: null, ja4h: null };
  const facts = { ...unknown, headers: {}, cleared: [], status: null };
  expect(changesAt(input, { method: 'GET', url, bot, ...facts })).toEqual([]);
  expect(changesAt(input, { method: 'GET', url: 'https://example.com/', bot, ...facts })).toHaveLength(1);
});

describe('a tag of requests that end in its own phase', () => {
  const fingerprint = (action: string): Fields => ({ type: 'fingerprint', action, match_ja4: ['t13d*'] });
  const bots = (action: string): Fields => ({ type: 'bot_route', action, bot_kinds: ['gptbot'] });

  test.each([
    ['fingerprint', [fingerprint('tag'), { ...fingerprint('drop'), id: 9 }]],
    ['bot_tag', [bots('tag'), { ...bots('block'), id: 9 }]],
  ] as const)('is a change of %s where it is deleted, or added', (component, rules) => {
    const [, drop] = rules;
    const removed = changesOf(rules, [drop]);
    expect(removed.changes.map((change) => [change.component, change.before?.ref.id, change.after])).toEqual([
      [component, 1, null],
    ]);
    const added = changesOf([drop], rules);
    expect(added.changes.map((change) => [change.component, change.before, change.after?.ref.id])).toEqual([
      [component, null, 1],
    ]);
    expect([removed.open, added.open]).toEqual([[], []]);
  });

  test('is no change where the rule that ends the request is before it', () => {
    const rules = [{ ...fingerprint('drop'), id: 9 }, fingerprint('tag')];
    expect(changesOf(rules, [rules[0]!])).toMatchObject({ changes: [], open: [], isIncomplete: false });
  });

  test('is a change where a tag and a challenge change places', () => {
    const [first, second] = [fingerprint('tag'), fingerprint('challenge')];
    const drop = { ...fingerprint('drop'), id: 9, priority: 9 };
    const { changes } = changesOf(
      [{ ...first, id: 1, priority: 1 }, { ...second, id: 2, priority: 2 }, drop],
      [{ ...first, id: 1, priority: 2 }, { ...second, id: 2, priority: 1 }, drop],
    );
    expect(changes.map(({ component, kind }) => [component, kind])).toContainEqual(['fingerprint', 'order']);
  });
});

describe('rules with conditions', () => {
  const named = ({ changes, open, isIncomplete }: ProvedChanges): readonly unknown[] => [
    ...changes.map(({ component, before, after }) => [
      component,
      before?.ref.id ?? null,
      after?.ref.id ?? null,
    ]),
    ...open.map(() => 'open'),
    ...(isIncomplete ? ['incomplete'] : []),
  ];
  const captcha = (conditions: object): Fields => ({
    ...{ id: 5, type: 'captcha', path_includes: ['/x'], conditions },
  });

  test('other words for the same requests change nothing', () => {
    const before = captcha({ headers: [{ name: 'x-a', op: 'prefix', values: ['a', 'b'] }] });
    const after = captcha({ headers: [{ name: 'X-A', op: 'regex', values: ['^[ab]'] }] });
    expect(named(changesOf([before], [after]))).toEqual([]);
  });

  test('another value is a change both ways, each with its request', () => {
    const cookie = (value: string): Fields =>
      captcha({ cookies: [{ name: 'c', op: 'equals', values: [value] }] });
    const proved = changesOf([cookie('1')], [cookie('2')]);
    expect(named(proved)).toEqual([
      ['captcha', 5, null],
      ['captcha', null, 5],
    ]);
    expect(proved.changes.map(({ witness }) => witness.headers['cookie'])).toEqual(['c=1', 'c=2']);
  });

  test('a rule that asks for a tag changes with the rule that tags', () => {
    const tag = (ja4: string): Fields => ({ id: 2, type: 'fingerprint', action: 'tag', match_ja4: [ja4] });
    const asking = captcha({ tags: { includes: ['fingerprint/2'] } });
    const found = named(changesOf([tag('t13d*'), asking], [tag('t13i*'), asking]));
    expect(found).toEqual(
      expect.arrayContaining([
        ['captcha', 5, null],
        ['captcha', null, 5],
      ]),
    );
    expect(found).not.toContain('open');
  });
});
