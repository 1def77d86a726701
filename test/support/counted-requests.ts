/** Finished requests for tests of counts: plain ones, and ones made from generated rule sets and their decisions. */
import { compile, seal } from '../../src/engine/compiler/index.ts';
import type { CountedRequest } from '../../src/engine/counts/counts.ts';
import { type Decision, loadPlan } from '../../src/engine/evaluator/index.ts';
import { type Case, cases } from '../property/cases.ts';
import { type Random, seeded } from './generate.ts';

/** A request that was forwarded and answered with 200. */
export const COUNTED: CountedRequest = {
  at: 1_700_000_000_000,
  decision: null,
  pageMatches: [],
  status: 200,
  octetsIn: 0,
  octetsOut: 512,
  cache: null,
  country: 'DE',
  bot: null,
  ip: '198.51.100.7',
  userAgent: 'Mozilla/5.0',
  method: 'GET',
  path: '/',
  referrer: null,
  ja4: null,
  edgeMs: 12,
  originMs: 9,
  originRequest: true,
  originError: false,
  monitored: true,
  gateway: null,
};

/** The decisions of generated requests under generated rule sets. */
export function generatedDecisions(count: number, requests: number): readonly Decision[] {
  return cases(count, requests).flatMap(decisionsOf);
}

function decisionsOf({ ruleSet, options, requests }: Case): readonly Decision[] {
  const evaluator = loadPlan(seal(compile(ruleSet).plan, { revision: 1 }), options);
  return requests.map((request) => evaluator.evaluate(request));
}

/** Requests with these decisions, and with everything else from a seed. */
export function generatedCounted(decisions: readonly Decision[], seed: number): readonly CountedRequest[] {
  const random = seeded(seed);
  return decisions.map((decision, index) => ({
    ...countedWith(random),
    decision,
    at: COUNTED.at + index * 7,
  }));
}

function countedWith(random: Random): CountedRequest {
  const originRequest = random.chance(0.6);
  const text = (kinds: number): string | null =>
    random.chance(0.2) ? null : `${'ä😀x'.repeat(random.int(3))}${random.int(kinds)}`;
  return {
    ...COUNTED,
    status: random.pick([200, 200, 304, 403, 404, 502, 0, 999]),
    octetsIn: random.int(1_000),
    octetsOut: random.int(1_000_000) * random.pick([1, 1, 50_000]),
    cache: random.pick([null, 'hit', 'miss', 'stale']),
    country: random.pick([null, 'DE', 'FR', 'US']),
    bot: random.pick([null, null, 'gptbot', 'generic-bot']),
    ip: text(300),
    userAgent: text(20),
    method: random.pick(['GET', 'POST', 'PURGE']),
    path: text(300),
    referrer: text(30),
    ja4: text(9),
    edgeMs: random.pick([null, 0, 0.5, random.int(90_000)]),
    originMs: originRequest ? random.int(1_000) / 8 : null,
    originRequest,
    originError: originRequest && random.chance(0.1),
    monitored: random.chance(0.5),
    gateway: random.chance(0.3) ? gatewayWith(random) : null,
  };
}

function gatewayWith(random: Random): CountedRequest['gateway'] {
  const consumer = random.pick(['', 'acme', 'beta', 'ä😀']);
  return {
    gateway: 1 + random.int(3),
    consumer,
    operation: random.pick(['', 'listOrders', 'GET /orders/{id}', `/${'x'.repeat(300)}`]),
    isAdmitted: random.chance(0.7),
    key: consumer === '' || random.chance(0.5) ? null : random.pick(['00000000', '0badcafe', 'ffffffff']),
  };
}
