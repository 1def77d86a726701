/** `concurrency` of usage plans: what an evaluator compares, and what its slots are under. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compile, parseRuleSet, seal } from '../../../../src/engine/compiler/index.ts';
import {
  type Counters,
  createCounters,
  type Decision,
  type EdgeRequest,
  type Evaluator,
  loadPlan,
} from '../../../../src/engine/evaluator/index.ts';

const KEYS = { api_key: { sources: [{ in: 'header', name: 'X-Api-Key' }] } };
const BASES = ['/a', '/b', '/open', '/dry', '/wide'] as const;

/** A domain whose plan `two` allows two requests at the same time. */
function load(counters: Counters, domain = 'example.com'): Evaluator {
  const parsed = parseRuleSet({
    domain: { name: domain },
    records: [{ id: 1, name: '@', type: 'A', destination: '192.0.2.1', proxied: true }],
    rules: [
      { type: 'gateway', base_path: '/a', auth: KEYS, default_plan: 'two' },
      { type: 'gateway', base_path: '/b', auth: KEYS, default_plan: 'two' },
      { type: 'gateway', base_path: '/open', auth: { ...KEYS, require: 'none' }, default_plan: 'two' },
      { type: 'gateway', base_path: '/dry', auth: KEYS, default_plan: 'two', action_mode: 'dry_run' },
      { type: 'gateway', base_path: '/wide', auth: KEYS },
      { type: 'gateway', base_path: '/slow', auth: KEYS, default_plan: 'slow' },
      { type: 'redirect', path_includes: ['/a/old'], target: '/a/new', status_code: 301 },
    ].map((rule, index) => ({ id: index + 1, ...rule })),
    registry: {
      consumers: [{ username: 'acme' }, { username: 'beta' }],
      usage_plans: [
        { name: 'two', concurrency: 2 },
        { name: 'slow', concurrency: 1, throttle: { rate: 2, per_sec: 60 } },
      ],
      token_issuers: [],
    },
  });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.diagnostics));
  return loadPlan(seal(compile(parsed.ruleSet).plan, { revision: 1 }), { counters });
}

function request(target: string, { consumer, ip = '192.0.2.7', host = 'example.com' }: Asked): EdgeRequest {
  const identity = consumer === undefined ? {} : { identity: { consumer, verified: ['api_key'] as const } };
  return { scheme: 'https', method: 'GET', host, target, ip, headers: {}, body: null, ...identity };
}

interface Asked {
  readonly consumer?: string;
  readonly ip?: string | null;
  readonly host?: string;
}

const reasonOf = ({ gateway, action }: Decision): string => `${action} ${gateway?.reason}`;
const FULL = 'respond concurrency';
const ADMITTED = 'forward admitted';

/** Decides requests of an evaluator, and takes their slots. */
function asking(evaluator: Evaluator) {
  return (target: string, asked: Asked = { consumer: 'acme' }): { reason: string; free(): void } => {
    const decision = evaluator.evaluate(request(target, asked));
    const free = evaluator.takeSlot(decision);
    return { reason: reasonOf(decision), free: () => free?.() };
  };
}

describe('an evaluator', () => {
  test('refuses a request beyond the plan with 429 and Retry-After, until one is over', () => {
    const counters = createCounters();
    const evaluator = load(counters);
    const ask = asking(evaluator);
    const [first] = [ask('/a'), ask('/a')];
    const refused = evaluator.evaluate(request('/a', { consumer: 'acme' }));
    expect(refused).toMatchObject({ action: 'respond', status: 429, retryAfter: 1 });
    expect(reasonOf(refused)).toBe(FULL);
    expect(JSON.parse(String(refused.body))).toMatchObject({
      title: 'Too Many Requests',
      detail: 'the usage plan allows no more requests at the same time',
    });
    expect([evaluator.needsSlot(refused), evaluator.takeSlot(refused)]).toEqual([false, null]);
    first!.free();
    first!.free();
    expect([ask('/a'), ask('/a')].map(({ reason }) => reason)).toEqual([ADMITTED, FULL]);
  });

  test('counts nothing by itself: without `takeSlot` no request is refused', () => {
    const counters = createCounters();
    const evaluator = load(counters);
    for (let count = 0; count < 5; count++) {
      const decision = evaluator.evaluate(request('/a', { consumer: 'acme' }));
      expect([reasonOf(decision), evaluator.needsSlot(decision)]).toEqual([ADMITTED, true]);
      expect(evaluator.explain(request('/a', { consumer: 'acme' })).decision).toEqual(decision);
    }
    expect(counters.slots.size()).toBe(0);
  });

  test('compares nothing where the counters have no slots, and reports that the request needs one', () => {
    const { hit, peek } = createCounters();
    const evaluator = load({ hit, peek });
    const decision = evaluator.evaluate(request('/a', { consumer: 'acme' }));
    expect([evaluator.needsSlot(decision), evaluator.takeSlot(decision)]).toEqual([true, null]);
  });

  test('counts a consumer over all gateways of the domain, and others and other domains apart', () => {
    const counters = createCounters();
    const ask = asking(load(counters));
    const other = asking(load(counters, 'example.net'));
    expect(['/a', '/b', '/a', '/b'].map((path) => ask(path).reason)).toEqual([
      ...[ADMITTED, ADMITTED],
      ...[FULL, FULL],
    ]);
    expect(ask('/a', { consumer: 'beta' }).reason).toBe(ADMITTED);
    expect(other('/a', { consumer: 'acme', host: 'example.net' }).reason).toBe(ADMITTED);
    expect(ask('/wide').reason).toBe(ADMITTED);
  });

  test('counts requests without a consumer by their address, of IPv6 by its /64', () => {
    const ask = asking(load(createCounters()));
    const from = (ip: string | null): string => ask('/open', { ip }).reason;
    for (const ips of [
      ['192.0.2.1', '192.0.2.1', '192.0.2.1'],
      ['2001:db8::1', '2001:db8::2', '2001:db8::3'],
      [null, null, null],
    ])
      expect(ips.map(from)).toEqual([ADMITTED, ADMITTED, FULL]);
    expect([from('192.0.2.2'), from('2001:db8:0:1::1')]).toEqual([ADMITTED, ADMITTED]);
    expect(ask('/open').reason).toBe(ADMITTED);
  });

  test('takes no slot for a request that it answers, and none under dry_run', () => {
    const counters = createCounters();
    const evaluator = load(counters);
    for (const path of ['/a/old', '/dry']) {
      const decision = evaluator.evaluate(request(path, { consumer: 'acme' }));
      expect([evaluator.needsSlot(decision), evaluator.takeSlot(decision)]).toEqual([false, null]);
    }
    expect(counters.slots.size()).toBe(0);
  });

  test('does not count a request under the throttle that it refuses for those in flight', () => {
    const ask = asking(load(createCounters()));
    const first = ask('/slow');
    expect([ask('/slow').reason, ask('/slow').reason]).toEqual([FULL, FULL]);
    first.free();
    const second = ask('/slow');
    second.free();
    expect([first.reason, second.reason, ask('/slow').reason]).toEqual([
      ...[ADMITTED, ADMITTED],
      'respond throttled',
    ]);
  });

  test('explains the refusal', () => {
    const evaluator = load(createCounters());
    const ask = asking(evaluator);
    ask('/a');
    ask('/a');
    const { phases } = evaluator.explain(request('/a', { consumer: 'acme' }));
    expect(phases.flatMap(({ rules }) => rules).map(({ reason }) => reason)).toContainEqual({
      code: 'over_concurrency',
      text: expect.stringMatching(/acme.*: too many requests in flight$/),
    });
  });

  test('admits a request exactly if fewer than the plan allows are in flight, and has no entry once all are over', () => {
    const step = fc.record({
      base: fc.constantFrom(...BASES),
      consumer: fc.constantFrom('acme', 'beta'),
      /** Ends of earlier requests, some of which are over. */
      ends: fc.array(fc.nat(20), { maxLength: 3 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const counters = createCounters();
        const ask = asking(load(counters));
        const asked: { free(): void; consumer: string; inFlight: boolean }[] = [];
        for (const { base, consumer, ends } of steps) {
          const isLimited = base !== '/wide' && base !== '/dry';
          const before = asked.filter((one) => one.inFlight && one.consumer === consumer).length;
          const { reason, free } = ask(base, { consumer });
          if (isLimited) expect(reason).toBe(before < 2 ? ADMITTED : FULL);
          asked.push({ free, consumer, inFlight: isLimited && reason === ADMITTED });
          for (const end of ends) {
            const one = asked[end];
            one?.free();
            if (one !== undefined) one.inFlight = false;
          }
        }
        for (const { free } of asked) free();
        expect(counters.slots.size()).toBe(0);
      }),
      { numRuns: 60 },
    );
  });
});
