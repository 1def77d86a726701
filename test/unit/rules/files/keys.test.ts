/**
 * The identity of a rule of an edge file does not change when other rules are added or removed (semantics §7,
 * Identity).
 */
import { expect, test } from 'vitest';
import { createReplay } from '../../../../src/cli/replay/replay.ts';
import { loggedDecision } from '../../../../src/edge/proxy/log/line.ts';
import { createDomainPools } from '../../../../src/edge/proxy/origin/pool-health.ts';
import { compile, seal } from '../../../../src/engine/compiler/index.ts';
import { refText } from '../../../../src/engine/evaluator/identity.ts';
import { type Decision, type EvaluatorOptions, loadPlan } from '../../../../src/engine/evaluator/index.ts';
import { createCounters } from '../../../../src/engine/rate-counters/counters.ts';
import { readEdgeFile } from '../../../../src/rules/files/edge-file.ts';

const HEAD = `domain: example.com
records:
  - { name: '@', type: A, destination: 192.0.2.1, proxied: true }
rules:
`;
const INSERTED = `  - { type: drop, path_includes: [/old], countries: [FR] }
  - { type: captcha, path_includes: [/old/*] }
  - { type: origin_pool, host_includes: [old.example.com], origins: [{ address: 10.0.9.9 }] }
`;
const RULES = `  - { type: captcha, key: login, path_includes: [/login] }
  - { type: captcha, path_includes: [/admin] }
  - { type: rate_limit, limit: 1, window_sec: 60, path_includes: [/api] }
  - { type: fingerprint, action: tag, key: odd, match_ja4: ["t13d*"] }
  - { type: origin_pool, host_includes: [example.com], origins: [{ address: 10.0.0.1 }, { address: 10.0.0.2 }] }
`;

function load(rules: string, options: EvaluatorOptions = {}) {
  const read = readEdgeFile(HEAD + rules, 'edge.yaml');
  if (!read.ok) throw new Error(JSON.stringify(read.diagnostics));
  return loadPlan(seal(compile(read.ruleSet).plan), { clock: () => 0, ...options });
}

function ask(evaluator: ReturnType<typeof load>, target: string, more = {}): Decision {
  const request = { scheme: 'https', method: 'GET', host: 'example.com', target, ip: '192.0.2.7', ...more };
  return evaluator.evaluate(request);
}

function names(rules: string): readonly string[] {
  const evaluator = load(rules);
  const login = ask(evaluator, '/login', { ja4: 't13d9' });
  const admin = ask(evaluator, '/admin').rule;
  const pool = ask(evaluator, '/').rule;
  return [refText(login.rule!), ...login.tags, refText(admin!), refText(pool!)];
}

test('inserting rules above others changes the key of no rule', () => {
  const before = names(RULES);
  expect(before.slice(0, 2)).toEqual(['captcha/login', 'fingerprint/odd']);
  expect(before[2]).toMatch(/^captcha\/~[0-9a-f]{12}$/);
  expect(names(INSERTED + RULES)).toEqual(before);
});

test('inserting rules keeps a clearance with its rule, and no other rule accepts it', () => {
  const [login, , admin] = names(RULES);
  const after = load(INSERTED + RULES);
  expect(ask(after, '/login', { cleared: [login] }).action).toBe('forward');
  expect(ask(after, '/admin', { cleared: [admin] }).action).toBe('forward');
  expect(ask(after, '/admin', { cleared: [login, 'captcha/2', 'captcha/4'] }).action).toBe('challenge');
});

test('inserting rules keeps the counters of a rate limit', () => {
  const counters = createCounters();
  expect(ask(load(RULES, { counters }), '/api').action).toBe('forward');
  expect(ask(load(INSERTED + RULES, { counters }), '/api').status).toBe(429);
});

test('inserting rules keeps the health of the origins of a pool', () => {
  const pools = createDomainPools({ probe: async () => true, clock: () => 0 });
  const before = load(RULES, { origins: pools });
  pools.replace(before.settings().pools);
  const rule = ask(before, '/').rule!;
  for (let failure = 0; failure < 3; failure++) {
    const origin = pools.origin(rule, { address: '10.0.0.1', port: 443 })!;
    origin.begin();
    origin.end('failed');
  }
  const after = load(INSERTED + RULES, { origins: pools });
  pools.replace(after.settings().pools);
  const chosen = [1, 2, 3].map(() => ask(after, '/').origin?.address);
  expect(chosen).toEqual(['10.0.0.2', '10.0.0.2', '10.0.0.2']);
  // A request that was decided before the change still resolves to its own pool.
  expect(pools.another(rule, [])?.address).toBe('10.0.0.2');
});

test('equal rules get distinct keys, and a written id is the identity of its rule', () => {
  const twice = `  - { type: captcha, path_includes: [/a] }\n`;
  const read = readEdgeFile(
    `${HEAD}${twice}${twice}  - { type: captcha, id: 77, path_includes: [/a] }\n`,
    'e',
  );
  const keys = read.ok ? [...(read.ruleSet.keys?.rules ?? [])] : [];
  expect(keys).toHaveLength(2);
  expect(keys[1]![1]).toBe(`${keys[0]![1]}-2`);
});

test('the challenge of a record is identified by name, type and destination', () => {
  const records = (list: string): string => `domain: example.com\nrecords:\n${list}`;
  const shop = `  - { name: shop, type: A, destination: 192.0.2.1, proxied: true, captcha: true }\n`;
  const first = `  - { name: a, type: A, destination: 192.0.2.9, proxied: true, captcha: true }\n`;
  const asker = (list: string): string => {
    const read = readEdgeFile(records(list), 'edge.yaml');
    if (!read.ok) throw new Error(JSON.stringify(read.diagnostics));
    const evaluator = loadPlan(seal(compile(read.ruleSet).plan), { clock: () => 0 });
    return refText(ask(evaluator, '/', { host: 'shop.example.com' }).rule!);
  };
  expect(asker(shop)).toMatch(/^record\/~[0-9a-f]{12}$/);
  expect(asker(first + shop)).toBe(asker(shop));
});

test('replay reports no changed decision after rules were inserted above', () => {
  const request = { scheme: 'https', method: 'GET', host: 'example.com', target: '/admin', ip: '192.0.2.7' };
  const decision = loggedDecision(load(RULES).evaluate(request));
  const replay = createReplay(() => load(INSERTED + RULES));
  const line = { id: '1', time: '', domain: 'example.com', request, decision, withheld: [], sampled: 1 };
  replay.add({ kind: 'decision', line });
  expect(replay.report()).toMatchObject({ compared: 1, changed: 0 });
});
