/** Conditions of rules as the evaluator decides them: when a value is read, tags of both runs, error pages, traces. */
import { describe, expect, test } from 'vitest';
import { compile, seal } from '../../../../src/engine/compiler/index.ts';
import { printPlan } from '../../../../src/engine/compiler/print.ts';
import { type EdgeRequest, type Evaluator, loadPlan } from '../../../../src/engine/evaluator/index.ts';
import {
  CONDITIONS_VERSION,
  LISTS_VERSION,
  OLDEST_VERSION,
  PLAIN_VERSION,
} from '../../../../src/engine/plan/layout.ts';
import { openPlan } from '../../../../src/engine/plan/seal.ts';
import type { WafProgram } from '../../../../src/engine/waf/request/inspection.ts';
import { parseRuleSet } from '../../../../src/rules/model/parse.ts';
import type { RuleSet } from '../../../../src/rules/model/types.ts';

/** The rule set of rules, whose ids are their places from 1. */
function ruleSetOf(rules: readonly object[]): RuleSet {
  const parsed = parseRuleSet({
    domain: { name: 'example.com' },
    records: [{ id: 1, name: '@', type: 'A', destination: '192.0.2.1', proxied: true }],
    rules: rules.map((rule, index) => ({ id: index + 1, ...rule })),
  });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.diagnostics));
  return parsed.ruleSet;
}

function evaluatorOf(rules: readonly object[], waf: WafProgram | null = null): Evaluator {
  return loadPlan(seal(compile(ruleSetOf(rules)).plan), { waf });
}

const REQUEST = { scheme: 'https', method: 'GET', host: 'example.com', target: '/', headers: {} } as const;

/** Ids of the drop rules that would match, each in dry_run so that none hides another. */
function matched(conditions: readonly object[], request: Partial<EdgeRequest>): readonly number[] {
  const rules = conditions.map((one) => ({ type: 'drop', action_mode: 'dry_run', conditions: one }));
  const { matches } = evaluatorOf(rules).evaluate({ ...REQUEST, ...request });
  return matches.map(({ id }) => id);
}

describe('what a condition reads', () => {
  test('each line of a header, without blanks around it', () => {
    const rules = [
      { headers: [{ name: 'X-A', op: 'equals', values: ['one'] }] },
      { headers: [{ name: 'x-a', op: 'not_equals', values: ['one'] }] },
      { headers: [{ name: 'x-a', op: 'present' }] },
      { headers: [{ name: 'x-a', op: 'absent' }] },
      { headers: [{ name: 'x-a', op: 'contains', values: ['ON'], ignore_case: true }] },
    ];
    expect(matched(rules, { headers: { 'x-a': ['two', '\t one '] } })).toEqual([1, 3, 5]);
    expect(matched(rules, { headers: { 'X-A': 'two' } })).toEqual([2, 3]);
    expect(matched(rules, { headers: {} })).toEqual([2, 4]);
    expect(matched(rules, { headers: null as never })).toEqual([2, 4]);
    expect(matched(rules, { headers: { 'x-a': 7 as never } })).toEqual([2, 4]);
  });

  test('names of objects are no headers', () => {
    const rules = ['constructor', '__proto__', 'tostring'].map((name) => ({
      headers: [{ name, op: 'present' }],
    }));
    expect(matched(rules, {})).toEqual([]);
  });

  test('query parameters, decoded once; cookies', () => {
    const rules = [
      { query: [{ name: 'a b', op: 'equals', values: ['é+%2'] }] },
      { query: [{ name: 'x', op: 'equals', values: [''] }] },
      { cookies: [{ name: 'c', op: 'suffix', values: ['=2'] }] },
      { cookies: [{ name: 'd', op: 'absent' }] },
    ];
    const headers = { cookie: ['a=1; c = x=2 ;d', 'e=3'] };
    expect(matched(rules, { target: '/?a+b=%C3%A9%2B%252&x&x=1', headers })).toEqual([1, 2, 3, 4]);
    expect(matched(rules, { target: '/?a%20b=%25C3&y=', headers: { cookie: 'd=' } })).toEqual([]);
  });

  test('8,192 octets of a value', () => {
    const long = `${'a'.repeat(8192)}b`;
    const of = (op: string, value: string) => ({ headers: [{ name: 'x', op, values: [value] }] });
    const rules = [
      of('prefix', 'aa'),
      of('suffix', 'b'),
      of('not_suffix', 'b'),
      of('equals', long.slice(0, 2000)),
      of('wildcard', 'a*a*'),
      of('wildcard', 'a*b'),
      of('wildcard', '*'),
      of('regex', 'b'),
      of('regex', 'a{5}'),
      of('regex', 'a$'),
      of('not_regex', '^a+$'),
    ];
    expect(matched(rules, { headers: { x: long } })).toEqual([1, 3, 5, 7, 9, 11]);
    // The last octet is read, and it is an `a`.
    expect(matched(rules, { headers: { x: long.slice(0, 8192) } })).toEqual([1, 3, 5, 7, 9, 10]);
  });

  test('facts, also unknown ones', () => {
    const rules = [
      { methods: ['POST', 'PUT'] },
      { schemes: ['http'] },
      { ips: { includes: ['203.0.113.0/24'], excludes: ['203.0.113.7'] } },
      { ips: { excludes: ['203.0.113.7'] } },
      { countries: { excludes: ['DE'] } },
      { asns: { includes: [64496] } },
      { asns: { excludes: [64496] } },
      { bot_kinds: { includes: ['*'] } },
      { bot_kinds: { excludes: ['gptbot'] } },
      { verified_bot: true },
      { verified_bot: false },
      { ja4: { includes: ['t13*'] } },
      { user_agents: { includes: ['*CURL*'] } },
      { user_agents: { excludes: ['curl/*'] } },
      { except_methods: ['GET', 'HEAD'] },
    ];
    const bot = { kind: 'gptbot', verified: true };
    const known = {
      ip: '203.0.113.7',
      country: 'DE',
      asn: 64496,
      bot,
      ja4: 't13d',
      headers: { 'user-agent': 'curl/8' },
    };
    expect(matched(rules, { ...known, method: 'PUT', scheme: 'http' })).toEqual([1, 2, 6, 8, 10, 12, 13, 15]);
    expect(matched(rules, {})).toEqual([4, 5, 7, 9, 11, 14]);
    expect(matched(rules, { ip: '203.0.113.8', bot: { kind: 'own', verified: false } })).toEqual([
      3, 4, 5, 7, 8, 9, 11, 14,
    ]);
  });
});

describe('when a value is read', () => {
  /** Headers that count how often each is read. */
  function counting(names: readonly string[]): {
    headers: Record<string, string>;
    reads: Record<string, number>;
  } {
    const reads: Record<string, number> = {};
    const headers = {};
    for (const name of names) {
      reads[name] = 0;
      Object.defineProperty(headers, name, {
        enumerable: true,
        get: () => {
          reads[name]!++;
          return 'v';
        },
      });
    }
    return { headers, reads };
  }

  test('a header is read once if candidates ask, and not otherwise', () => {
    const asks = (path: string, name: string, value: string) => ({
      type: 'drop',
      path_includes: [path],
      conditions: { headers: [{ name, op: 'prefix', values: [value] }] },
    });
    const evaluator = evaluatorOf([asks('/a', 'x', 'n'), asks('/a', 'x', 'w'), asks('/b', 'y', 'w')]);
    const { headers, reads } = counting(['x', 'y']);
    evaluator.evaluate({ ...REQUEST, target: '/c', headers, bot: null });
    expect(reads).toEqual({ x: 0, y: 0 });
    evaluator.evaluate({ ...REQUEST, target: '/a', headers, bot: null });
    expect(reads).toEqual({ x: 1, y: 0 });
  });

  test('rules are filed by methods and values of headers, so that others are no candidates', () => {
    const rules = Array.from({ length: 50 }, (_, index) => ({
      type: 'drop',
      conditions: { headers: [{ name: `x-${index}`, op: 'equals', values: [`v${index}`] }] },
    }));
    const { plan } = compile(ruleSetOf([...rules, { type: 'drop', conditions: { methods: ['TRACE'] } }]));
    expect(printPlan(openPlan(seal(plan))).indexes).toMatchObject({ always: [] });
    const evaluator = loadPlan(seal(plan));
    expect(evaluator.evaluate({ ...REQUEST, headers: { 'X-7': 'v7', 'x-8': 'v9' } }).rule).toMatchObject({
      id: 8,
    });
    expect(evaluator.evaluate({ ...REQUEST, method: 'TRACE' }).rule).toMatchObject({ id: 51 });
    expect(evaluator.evaluate(REQUEST).action).toBe('forward');
  });
});

describe('tags', () => {
  const tagging = { type: 'fingerprint', match_ja4: ['t13'], action: 'tag' };
  const tagged = { type: 'waf', conditions: { tags: { includes: ['fingerprint/1'] } } };

  test('of the run itself: the shadow has those of dry_run rules', () => {
    const drop = { type: 'redirect', target: '/x', conditions: { tags: { includes: ['fingerprint/1'] } } };
    const [enforced, dry] = [tagging, { ...tagging, action_mode: 'dry_run' }].map((first) =>
      evaluatorOf([first, drop]).evaluate({ ...REQUEST, ja4: 't13' }),
    );
    expect(enforced).toMatchObject({ action: 'redirect', tags: ['fingerprint/1'] });
    expect(dry).toMatchObject({ action: 'forward', shadow: { action: 'redirect', tags: ['fingerprint/1'] } });
  });

  test('of rules that a key names, and of none that was deleted', () => {
    const redirect = (includes: readonly string[]) => ({
      type: 'redirect',
      target: '/x',
      conditions: { tags: { includes } },
    });
    const { rules, ...rest } = ruleSetOf([tagging, redirect(['fingerprint/1'])]);
    const keys = { rules: new Map([[1, 'office']]), records: new Map() };
    const action = (tags: readonly string[], request: Partial<EdgeRequest>) => {
      const ruleSet = {
        ...rest,
        keys,
        rules: [rules[0]!, { ...rules[1]!, conditions: { tags: { includes: tags } } }],
      };
      return loadPlan(seal(compile(ruleSet).plan)).evaluate({ ...REQUEST, ...request }).action;
    };
    for (const name of ['office', 'fingerprint/office', 'fingerprint/1']) {
      expect(action([name, 'bot_route/9'], { ja4: 't13' })).toBe('redirect');
      expect(action([name], {})).toBe('forward');
    }
    expect(action(['bot_route/9'], { ja4: 't13' })).toBe('forward');
  });

  test('bodyWanted knows them, in both runs', () => {
    const program = {
      inspect: () => {
        throw new Error('not asked');
      },
      has: () => true,
    } as unknown as WafProgram;
    for (const first of [tagging, { ...tagging, action_mode: 'dry_run' }]) {
      const evaluator = evaluatorOf([first, tagged], program);
      expect(evaluator.bodyWanted({ ...REQUEST, ja4: 't13' })).toBe(128 * 1024 + 1);
      expect(evaluator.bodyWanted(REQUEST)).toBe(0);
    }
  });

  test('error pages know those of the request', () => {
    const page = {
      type: 'error_page',
      mode: 'svc',
      codes: [404],
      conditions: { tags: { includes: ['fingerprint/1'] } },
    };
    const of = (rules: readonly object[], request: Partial<EdgeRequest>) =>
      evaluatorOf(rules).errorPage({ ...REQUEST, ...request }, 404, 'origin');
    expect(of([tagging, page], { ja4: 't13' }).page).toMatchObject({ rule: { id: 2 } });
    expect(of([tagging, page], {}).page).toBeNull();
    const dry = { ...page, action_mode: 'dry_run' };
    expect(of([{ ...tagging, action_mode: 'dry_run' }, dry], { ja4: 't13' })).toEqual({
      page: null,
      matches: [],
      shadow: null,
    });
    const dropped = [tagging, page, { type: 'drop', conditions: { ja4: { includes: ['t13'] } } }];
    expect(of(dropped, { ja4: 't13' }).page).toBeNull();
  });
});

describe('traces', () => {
  const checksOf = (conditions: object, request: Partial<EdgeRequest>) => {
    const trace = evaluatorOf([{ type: 'drop', conditions }]).explain({ ...REQUEST, ...request });
    const [rule] = trace.phases.find(({ name }) => name === 'drop')!.rules;
    return rule!;
  };

  test('a check for each condition, with its entry', () => {
    const rule = checksOf(
      {
        methods: ['PUT', 'POST'],
        ips: { excludes: ['203.0.113.0/24'] },
        headers: [{ name: 'x-a', op: 'prefix', values: ['one', 'two'] }],
        cookies: [{ name: 'c', op: 'absent' }],
      },
      { method: 'POST', ip: '198.51.100.1', headers: { 'x-a': 'twofold' } },
    );
    expect(rule).toMatchObject({ outcome: 'matched', effect: 'block' });
    expect(rule.checks.slice(-4)).toEqual([
      {
        check: 'method',
        pass: true,
        text: 'method POST is in conditions.methods [POST]',
        entry: 'conditions.methods[1]',
      },
      {
        check: 'ip',
        pass: true,
        text: 'address 198.51.100.1 is not in conditions.ips.excludes [203.0.113.0/24]',
      },
      {
        check: 'header',
        pass: true,
        text: 'header x-a starts with [two]',
        entry: 'conditions.headers[0].values[1]',
      },
      { check: 'cookie', pass: true, text: 'cookie c is absent', entry: 'conditions.cookies[0]' },
    ]);
  });

  test('an excepted method is named', () => {
    const { reason } = checksOf({ except_methods: ['HEAD', 'GET'] }, {});
    expect(reason).toEqual({
      code: 'condition_not_met',
      text: 'method GET is in conditions.except_methods [GET]',
    });
  });

  test('the first condition that fails is the reason; an unknown fact has a code of its own', () => {
    const conditions = { methods: ['PUT'], asns: { includes: [64496] } };
    expect(checksOf(conditions, {}).reason).toEqual({
      code: 'condition_not_met',
      text: 'method GET is not in conditions.methods [PUT]',
    });
    expect(checksOf(conditions, { method: 'PUT' }).reason).toEqual({
      code: 'condition_unknown',
      text: 'autonomous system is unknown, so it is in no conditions.asns.includes',
    });
  });

  test('values of headers and cookies are not repeated', () => {
    const secret = 'dGhlIHNlY3JldA';
    const conditions = {
      headers: [{ name: 'authorization', op: 'regex', values: ['^Basic '] }],
      cookies: [{ name: 'sid', op: 'not_prefix', values: ['x'] }],
    };
    const rule = checksOf(conditions, {
      headers: { authorization: `Basic ${secret}`, cookie: `sid=${secret}` },
    });
    expect(rule.outcome).toBe('matched');
    expect(JSON.stringify(rule)).not.toContain(secret);
  });
});

describe('plans', () => {
  const WITH = {
    type: 'drop',
    conditions: {
      methods: ['GET'],
      headers: [{ name: 'x', op: 'not_suffix', values: ['A'], ignore_case: true }],
    },
  };

  test('the version rises with conditions only, and the octets without them stay as they were', () => {
    const version = (rules: readonly object[]) => openPlan(seal(compile(ruleSetOf(rules)).plan)).version;
    expect(version([{ type: 'drop', path_includes: ['/a'] }])).toBe(PLAIN_VERSION);
    expect(version([WITH])).toBe(CONDITIONS_VERSION);
    expect(version([{ type: 'drop', conditions: { except_methods: ['GET'] } }])).toBe(LISTS_VERSION);
    expect(PLAIN_VERSION).toBeGreaterThan(OLDEST_VERSION);
  });

  test('printed as they were written', () => {
    const conditions = {
      methods: ['GET', 'HEAD'],
      except_methods: ['HEAD'],
      schemes: ['https'],
      ips: { includes: ['203.0.113.0/24', '2001:db8::1'], excludes: ['203.0.113.9'] },
      asns: { excludes: [64496] },
      bot_kinds: { includes: ['*', 'gptbot'] },
      verified_bot: false,
      ja4: { excludes: ['t13*'] },
      user_agents: { includes: ['*curl*'], excludes: ['*Bot*'] },
      headers: [
        { name: 'x', op: 'not_suffix', values: ['A', 'b'], ignore_case: true },
        { name: 'y', op: 'absent', values: [], ignore_case: false },
      ],
      cookies: [{ name: 'c', op: 'regex', values: ['^a$'], ignore_case: false }],
    };
    const { plan } = compile(ruleSetOf([{ type: 'drop', conditions }]));
    const { rules } = printPlan(openPlan(seal(plan))) as { rules: readonly { conditions: object }[] };
    const text = (value: unknown) =>
      JSON.parse(JSON.stringify(value, (_, one) => (typeof one === 'number' ? String(one) : one)));
    expect(text(rules[0]!.conditions)).toEqual(text(conditions));
  });
});
