/** Requests that rate limits have counted before: a simulation with them decides as an evaluator that has counted them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadPlan } from '../../../../src/engine/evaluator/index.ts';
import {
  countersAfter,
  planConditions,
  readCounted,
} from '../../../../src/workbench/simulation/conditions.ts';
import {
  fixedEvaluator,
  type SimulationSubject,
  simulate,
} from '../../../../src/workbench/simulation/simulate.ts';
import { asked, SHOP, subjectOf } from './shop.ts';

/** A rate limit of a generated file. */
interface Limit {
  readonly limit: number;
  readonly burst: number;
  readonly window: number;
  readonly captcha: boolean;
  readonly perPath: boolean;
  readonly dryRun: boolean;
  readonly key: string | null;
  readonly before: number;
}

const limits = fc.array(
  fc.record<Limit>({
    limit: fc.oneof(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 100, max: 200 })),
    burst: fc.integer({ min: 0, max: 3 }),
    window: fc.constantFrom(1, 7, 60),
    captcha: fc.boolean(),
    perPath: fc.boolean(),
    dryRun: fc.boolean(),
    key: fc.constantFrom(null, 'limit', '7'),
    before: fc.oneof(fc.integer({ min: 0, max: 8 }), fc.integer({ min: 95, max: 410 })),
  }),
  { minLength: 1, maxLength: 3 },
);

/** An edge file with these limits; a key that another has is left out. */
function fileOf(all: readonly Limit[]): string {
  const used = new Set<string>();
  const rules = all.map(({ limit, burst, window, captcha, perPath, dryRun, key }, index) => {
    const isNew = key !== null && !used.has(key);
    if (isNew) used.add(key);
    const fields = [
      `type: rate_limit, priority: ${index}, limit: ${limit}, burst: ${burst}, window_sec: ${window}`,
      captcha ? 'on_breach: captcha' : 'on_breach: drop',
      ...(perPath ? ['key_by: ip_path'] : []),
      ...(dryRun ? ['action_mode: dry_run'] : []),
      ...(isNew ? [`key: "${key}"`] : []),
    ];
    return `  - { ${fields.join(', ')} }`;
  });
  const record = '{ name: "@", type: A, destination: 192.0.2.1, proxied: true }';
  return `domain: example.com\nrecords:\n  - ${record}\nrules:\n${rules.join('\n')}\n`;
}

/** The names of the limits of a plan, in their order. */
function namesOf({ bytes }: SimulationSubject): readonly string[] {
  return planConditions(bytes).limits.map(({ rule: { id, key } }) => `rate_limit/${key ?? id}`);
}

describe('counted', () => {
  it('requests give the decision of an evaluator that has counted them', () => {
    fc.assert(
      fc.property(limits, fc.boolean(), (all, solved) => {
        const { before } = all[0]!;
        const subject = subjectOf(fileOf(all));
        const names = namesOf(subject);
        const flags = { ip: '203.0.113.7', ...(solved ? { cleared: names } : {}) };
        const given = asked('https://example.com/a', flags);
        const evaluator = fixedEvaluator(subject, given.world);
        for (let sent = 0; sent < before; sent++) evaluator.evaluate(given.request);
        const world = { ...given.world, counted: new Map(names.map((name) => [name, before])) };
        expect(fixedEvaluator(subject, world).explain(given.request)).toEqual(
          evaluator.explain(given.request),
        );
      }),
      { numRuns: 300 },
    );
  });

  it('requests are those of each rule alone, and others start at zero', () => {
    fc.assert(
      fc.property(limits, (all) => {
        const subject = subjectOf(fileOf(all));
        const names = namesOf(subject);
        const counted = new Map(names.slice(1).map((name, index) => [name, all[index + 1]!.before]));
        const given = asked('https://example.com/a');
        const { phases } = fixedEvaluator(subject, { ...given.world, counted }).explain(given.request);
        const texts = phases.flatMap(({ rules }) => rules.map(({ reason }) => reason.text));
        for (const [index, { before, limit, burst }] of all.entries()) {
          const requests = index === 0 ? 1 : before + 1;
          const most = (limit + burst) * (all[index]!.captcha ? 2 : 1);
          if (requests <= most) expect(texts[index]).toContain(`request ${requests} of `);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('requests are assumed of no rule that has a number, and are in the document', () => {
    const given = asked('https://shop.example.com/api/x', { ip: '203.0.113.7' });
    const affected = (counted?: ReadonlyMap<string, number>) =>
      simulate(SHOP, { ...given, world: { ...given.world, ...(counted === undefined ? {} : { counted }) } });
    expect(affected().assumptions).toContainEqual({
      input: 'rate_counters',
      value: 'empty',
      affects: ['rate_limit/18'],
    });
    const document = affected(new Map([['rate_limit/api-rate', 120]]));
    expect(document.assumptions.map(({ input }) => input)).not.toContain('rate_counters');
    expect(document.request.counted).toEqual({ 'rate_limit/api-rate': 120 });
    expect(document.decision).toMatchObject({ action: 'block', status: 429, by: { id: 18 } });
    expect(document.effective.retry_after).toBe(60);
  });

  it('requests leave the counters of an evaluator as they are', () => {
    const counters = countersAfter(new Map([['rate_limit/api-rate', 119]]), () => 'example.com');
    const evaluator = loadPlan(SHOP.bytes, { counters });
    const { request } = asked('https://shop.example.com/api/x', { ip: '203.0.113.7' });
    expect([1, 2, 3].map(() => evaluator.evaluate(request).action)).toEqual([
      'forward',
      'forward',
      'forward',
    ]);
  });

  it.each([
    ['rate_limit/9', 'is not a count of a rate limit'],
    ['9=3', 'is not a count of a rate limit'],
    ['captcha/9=3', 'is not a count of a rate limit'],
    ['rate_limit/9=-1', 'is not a count of a rate limit'],
    ['rate_limit/9=', 'is not a count of a rate limit'],
    ['rate_limit/9=100000', 'counts too many requests; 99999 is the most'],
  ])('`%s` is refused', (word, message) => {
    expect(readCounted([word])).toMatchObject({ ok: false, error: expect.stringContaining(message) });
  });
});

describe('planConditions', () => {
  it('lists the challenges, rate limits and pools of the shop', () => {
    const { challenges, limits: found, pools } = planConditions(SHOP.bytes);
    expect(challenges.map(({ type, id, key }) => `${type} ${id} ${String(key)}`)).toEqual([
      'fingerprint 6 headless',
      'rate_limit 19 login-rate',
      'captcha 9 shop-captcha',
      'record 7 undefined',
    ]);
    expect(found.map(({ rule, requests, windowSec }) => [rule.key, requests, windowSec])).toEqual([
      ['api-rate', 120, 60],
      ['login-rate', 5, 300],
      ['scraping', 3, 10],
    ]);
    expect(pools.map(({ id, origins }) => [id, origins.length])).toEqual([
      [80, 4],
      [81, 3],
    ]);
  });

  it('leaves out what is disabled, and has the records that challenge', () => {
    const text = `domain: example.com
records:
  - { id: 4, name: "@", type: A, destination: 192.0.2.1, proxied: true, captcha: true }
rules:
  - { type: captcha, enabled: false }
  - { type: rate_limit, limit: 1, enabled: false }
`;
    const { challenges, limits: found } = planConditions(subjectOf(text).bytes);
    expect(challenges.map(({ type, id }) => `${type}/${id}`)).toEqual(['record/4']);
    expect(found).toEqual([]);
  });
});
