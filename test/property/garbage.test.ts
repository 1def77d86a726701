/** Whatever a request holds, there is a decision; what cannot be judged is refused, never let past the rules. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compile, seal } from '../../src/engine/compiler/index.ts';
import { ACTIONS, EFFECTS } from '../../src/engine/evaluator/decision.ts';
import {
  type Decision,
  type EdgeRequest,
  type Evaluator,
  loadPlan,
} from '../../src/engine/evaluator/index.ts';
import { PHASES } from '../../src/engine/evaluator/trace.ts';
import { everyFourth } from '../support/generate-gateways.ts';
import { cases } from './cases.ts';

const FIELDS = [
  'scheme',
  'method',
  'host',
  'target',
  'headers',
  'ip',
  'country',
  'bot',
  'ja4',
  'ja4h',
  'body',
  'now',
  'cleared',
  'identity',
] as const;

const CASES = cases(24, 20, { answers: 0.3, conditions: { share: 0.3 } })
  .map(everyFourth)
  .filter(({ ruleSet }) => ruleSet.domain.status === 'active' && !ruleSet.domain.suspended);
const LOADED = CASES.map(({ ruleSet, requests, options }) => ({
  evaluator: loadPlan(seal(compile(ruleSet).plan, { revision: 5 }), options),
  requests,
}));

/** Asks everything there is to ask; every answer must have its shape. */
function expectAnswers(evaluator: Evaluator, given: unknown): Decision {
  const request = given as EdgeRequest;
  const decision = evaluator.evaluate(request);
  expectDecision(decision);
  const trace = evaluator.explain(request);
  expectDecision(trace.decision);
  // These phases are left out where the plan has no rule of theirs.
  const isAlways = (name: string): boolean => name !== 'headers' && name !== 'gateway';
  expect(trace.phases.map((phase) => phase.name).filter(isAlways)).toEqual(PHASES.filter(isAlways));
  const credentials = evaluator.credentialsWanted(request);
  if (credentials !== null) expect(Array.isArray(credentials.apiKeySources)).toBe(true);
  const wanted = evaluator.bodyWanted(request);
  expect(Number.isInteger(wanted) && wanted >= 0).toBe(true);
  const answer = evaluator.errorPage(request, 404, 'edge');
  expect(Array.isArray(answer.matches)).toBe(true);
  return decision;
}

function expectDecision(decision: Decision): void {
  expect(ACTIONS).toContain(decision.action);
  expect(decision.revision).toBe(5);
  expect(decision.status === null).toBe(decision.action === 'forward');
  expect(decision.origin === null).toBe(decision.action !== 'forward');
  for (const match of decision.matches) expect(EFFECTS).toContain(match.effect);
  if (decision.shadow !== null) expectDecision(decision.shadow);
}

const hostile = fc.constantFrom<() => unknown>(
  () =>
    new Proxy(
      {},
      {
        get: () => {
          throw new Error('hostile get');
        },
      },
    ),
  () =>
    new Proxy([], {
      get: () => {
        throw new Error('hostile get');
      },
    }),
  () =>
    new Proxy(
      {},
      {
        has: () => {
          throw new Error('hostile has');
        },
        ownKeys: () => {
          throw new Error('hostile keys');
        },
      },
    ),
  () => ({
    get kind() {
      throw new Error('hostile kind');
    },
    verified: true,
  }),
  () => ({
    get 'user-agent'() {
      throw new Error('hostile header');
    },
  }),
  () => ({
    toString() {
      throw new Error('hostile text');
    },
    length: 2,
  }),
  () => Object.create(null),
  () => Symbol('s'),
  () => Symbol.iterator,
  () => 10n ** 30n,
  () => Number.NaN,
  () => Number.NEGATIVE_INFINITY,
  () => -0,
  () => new Date(Number.NaN),
  () => new Map(),
  () => new Array(5),
  () => Object.freeze([]),
  () => new String('example.com'),
  () => new Uint8Array(new ArrayBuffer(8), 3),
  () => () => 'x',
  () => ({ kind: 'gptbot', verified: { valueOf: () => true } }),
  () => ({ kind: ['gptbot'], verified: true }),
  () => ({ 'user-agent': [7, 'GPTBot'], 'User-Agent': null }),
  () => ['captcha/1', 7, null, Symbol('x'), ['captcha/4']],
  () => '\ud800',
  () => 'x'.repeat(100_000),
  () => '%'.repeat(9_000),
  () => '/'.repeat(9_000),
  () => '/..'.repeat(5_000),
  () => ';'.repeat(16_000),
  () => `/${'a/'.repeat(8_000)}`,
  () => 'a.'.repeat(200),
  () => '[::1]:99999',
  () => 'x',
);

const plain = fc.oneof(
  fc.anything({ withBigInt: true, withNullPrototype: true, withSparseArray: true, withTypedArray: true }),
  fc.jsonValue(),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: fc.constantFrom(...'/.%2fF;\\?#a:[@é*', '\ud83d'), maxLength: 40 }),
);

/** Makes a value. Hostile ones are made at their use, since fast-check itself looks into what it draws. */
type Make = () => unknown;
const value: fc.Arbitrary<Make> = fc.oneof(
  { weight: 1, arbitrary: hostile },
  { weight: 2, arbitrary: plain.map((given) => () => given) },
);

describe('a decision, whatever the request is', () => {
  test('any value instead of a request', () => {
    fc.assert(
      fc.property(value, fc.nat({ max: LOADED.length - 1 }), (make, at) => {
        expect(expectAnswers(LOADED[at]!.evaluator, make()).action).toBe('refuse');
      }),
      {
        numRuns: 300,
        examples: [undefined, null, [], {}, ''].map((given): [Make, number] => [() => given, 0]),
      },
    );
  });

  test('any values in the fields of a request that is good otherwise', () => {
    fc.assert(
      fc.property(
        fc.nat({ max: LOADED.length - 1 }),
        fc.nat({ max: 19 }),
        fc.dictionary(fc.constantFrom(...FIELDS), value, { minKeys: 1, maxKeys: 4, noNullPrototype: true }),
        (at, index, spoilt) => {
          const { evaluator, requests } = LOADED[at]!;
          const made = Object.entries(spoilt).map(([field, make]) => [field, make()]);
          expectAnswers(evaluator, { ...requests[index], ...Object.fromEntries(made) });
        },
      ),
      { numRuns: 800 },
    );
  });

  test('fields that throw when they are read', () => {
    for (const { evaluator, requests } of LOADED) {
      for (const field of FIELDS) {
        for (const error of [new Error('hostile'), null, 'text']) {
          const request = Object.defineProperty({ ...requests[0] }, field, {
            enumerable: true,
            get: () => {
              throw error;
            },
          });
          expectAnswers(evaluator, request);
        }
      }
      const trap = new Proxy(
        {},
        {
          get: () => {
            throw new Error('hostile');
          },
        },
      );
      expect(expectAnswers(evaluator, trap)).toMatchObject({ action: 'refuse', status: 500 });
    }
  });

  test('fields that answer differently each time', () => {
    for (const { evaluator, requests } of LOADED) {
      for (const field of FIELDS) {
        let reads = 0;
        const answers = [requests[1]?.[field], 7, null, undefined, '', {}, 'x', Symbol('s')];
        const request = Object.defineProperty({ ...requests[1] }, field, {
          get: () => answers[reads++ % answers.length],
        });
        expectAnswers(evaluator, request);
      }
    }
  });

  test.each([
    ['a path of one megabyte', { target: `/${'a'.repeat(1 << 20)}` }, 414],
    ['a query of one megabyte', { target: `/?${'a'.repeat(1 << 20)}` }, 414],
    ['a path of one megabyte of escapes', { target: `/${'%61'.repeat(1 << 18)}` }, 414],
    ['a host of one megabyte', { host: 'a'.repeat(1 << 20) }, 400],
    ['an empty host', { host: '' }, 400],
    ['no host', { host: undefined }, 400],
    ['two hosts', { host: ['example.com', 'example.com'] }, 400],
    ['an empty target', { target: undefined }, 400],
    ['a symbol for a target', { target: Symbol('/') }, 400],
  ])('%s', (_name, spoilt, status) => {
    for (const { evaluator, requests } of LOADED) {
      const served = requests.find((request) => evaluator.evaluate(request).action !== 'refuse');
      const decision = expectAnswers(evaluator, { ...(served ?? requests[0]), ...spoilt });
      if (served !== undefined) expect(decision).toMatchObject({ action: 'refuse', status });
    }
  });

  test('a text that is no address is an unknown address', () => {
    for (const { evaluator, requests } of LOADED.slice(0, 5)) {
      for (const request of requests) {
        const texts = [
          'x',
          '',
          '1',
          '0x7f.1',
          '010.0.0.1',
          '::1%eth0',
          '[::1]',
          '1.2.3.4:80',
          '::ffff:1.2.3',
          ' 1.2.3.4',
        ];
        const now = 1_900_000_000_000;
        for (const ip of texts) {
          const { facts } = evaluator.explain({ ...request, ip, now });
          expect(facts.ip).toBeNull();
        }
      }
    }
  });
});

test('what the embedder hands in may fail, and the request is refused', () => {
  const fail = (): never => {
    throw new Error('the world failed');
  };
  let refused = 0;
  for (const { ruleSet, requests } of CASES) {
    const bytes = seal(compile(ruleSet).plan, { revision: 5 });
    const evaluator = loadPlan(bytes, {
      clock: fail,
      counters: { hit: fail, peek: fail },
      waf: { inspect: fail, has: fail },
      origins: { healthy: fail, inFlight: fail },
    });
    const plain = loadPlan(bytes);
    for (const request of requests) {
      const decision = expectAnswers(evaluator, request);
      const expected = plain.evaluate(request);
      if (decision.status === 500) refused++;
      else expect(decision.action, JSON.stringify(request)).toBe(expected.action);
      expectAnswers(evaluator, { ...request, now: undefined });
    }
  }
  expect(refused).toBeGreaterThan(20);
});

test('each fault is reported once for each answer that it spoils, and a listener that throws changes nothing', () => {
  const { ruleSet, requests, options } = CASES[0]!;
  const bytes = seal(compile(ruleSet).plan, { revision: 5 });
  const told: unknown[] = [];
  const listening = loadPlan(bytes, { ...options, onFault: (error) => told.push(error) });
  const throwing = loadPlan(bytes, {
    ...options,
    onFault: () => {
      throw new Error('the listener failed');
    },
  });
  const fault = new Error('hostile');
  const hostileRequest = Object.defineProperty({ ...requests[0] }, 'host', {
    get: () => {
      throw fault;
    },
  });
  expect(listening.evaluate(hostileRequest as EdgeRequest).status).toBe(500);
  expect(told).toEqual([fault]);
  expectAnswers(listening, hostileRequest);
  expect(new Set(told)).toEqual(new Set([fault]));
  expect(expectAnswers(throwing, hostileRequest).status).toBe(500);
  told.length = 0;
  for (const request of requests) expectAnswers(listening, request);
  expect(told).toEqual([]);
});
