/**
 * Gateways against the oracle: on generated rule sets with a registry, the compiled path comes to the oracle's decisions, states of
 * limits and usage plans, and places of credentials. A failure names the seed of its case. `EDGEPLAN_PAIRS` sets how many (rule set, request)
 * pairs are tried.
 */
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import type { CredentialsWanted } from '../../src/engine/evaluator/gateways.ts';
import { createOracle, type OracleEnv } from '../oracle/index.ts';
import { generateCase, seeded } from '../support/generate.ts';
import {
  withConcurrency,
  withGateways,
  withOperationSettings,
  withQuotas,
} from '../support/generate-gateways.ts';
import { wordProgram } from '../support/generate-waf.ts';
import { loadRuleSet } from '../support/load.ts';
import { sizeOf } from '../support/size.ts';
import { statedFields } from '../support/stated-limits.ts';

const PAIRS = sizeOf('EDGEPLAN_PAIRS', { usual: 20_000, full: 200_000 });
const REQUESTS = 200;
const FIRST_SEED = Number(process.env['EDGEPLAN_SEED'] ?? 1);

test(`agrees with the oracle on ${PAIRS} rule sets with gateways and requests`, {
  timeout: 3_600_000,
}, () => {
  const seen = new Map<string, number>();
  for (let seed = FIRST_SEED; seed < FIRST_SEED + PAIRS / REQUESTS; seed++) compareCase(seed, seen);
  if (process.env['SHOW'] !== undefined) console.log(seen);
  const least = PAIRS / 2_000;
  for (const reason of REASONS) expect(seen.get(reason) ?? 0, reason).toBeGreaterThan(least);
  for (const reason of BODY_REASONS) expect(seen.get(reason) ?? 0, reason).toBeGreaterThan(least / 8);
});

const REASONS = [
  'admitted forward',
  'admitted redirect',
  'preflight respond',
  'unknown_operation respond',
  'unknown_operation forward',
  'method_not_allowed respond',
  'credentials respond',
  'consumer_disabled respond',
  'consumer_expired respond',
  'acl respond',
  'scopes respond',
  'concurrency respond',
  'throttled respond',
  'quota respond',
];
/** Those of bodies, which fewer requests come to. */
const BODY_REASONS = [
  'content_type respond',
  'content_type forward',
  'body_too_large respond',
  'body_uninspected respond',
  'body_invalid respond',
  'body_invalid forward',
];

function compareCase(seed: number, seen: Map<string, number>): void {
  const options = { headers: 3, ...(seed % 2 === 0 ? { conditions: { share: 0.2 } } : {}) };
  const called = withGateways(seeded(seed + 50_000), generateCase(seed, REQUESTS, options));
  const made = withConcurrency(seeded(seed + 110_000), withQuotas(seeded(seed + 90_000), called));
  // Other cases have plans of the version before, and more requests whose bodies are read.
  const isSet = seed % 4 === 3;
  const { ruleSet, requests, env: given } = isSet ? withOperationSettings(seeded(seed + 70_000), made) : made;
  const env: OracleEnv = { ...given, waf: wordProgram };
  const oracle = createOracle(ruleSet, env);
  const plain = loadRuleSet(ruleSet, env);
  const traced = loadRuleSet(ruleSet, env);
  /** Ends of requests whose usage plans limit how many are in flight. */
  const inFlight: (() => void)[] = [];
  for (const [index, request] of requests.entries()) {
    const where = (path: string): string => `seed ${seed}, request ${index}, ${path}`;
    same(wantedIn(plain.credentialsWanted(request)), oracle.wanted(request), where('credentialsWanted'));
    const expected = oracle.evaluate(request);
    const decision = plain.evaluate(request);
    same(decision, expected, where('evaluate'));
    const trace = traced.explain(request);
    same(trace.decision, expected, where('explain'));
    const fields = statedFields(oracle.states(expected));
    same(plain.rateLimitFields(decision), fields, where('rateLimitFields'));
    same(traced.rateLimitFields(trace.decision), fields, where('rateLimitFields of explain'));
    const slot = oracle.take(expected);
    same(plain.needsSlot(decision), slot !== null, where('needsSlot'));
    if (slot !== null) {
      const frees = [plain.takeSlot(decision)!, traced.takeSlot(trace.decision)!];
      inFlight.push(() => {
        for (const free of [...frees, slot.free]) free();
      });
    }
    if (index % 4 === 3) inFlight.shift()?.();
    if (expected.gateway === undefined) continue;
    const what = `${expected.gateway.reason} ${expected.action}`;
    seen.set(what, (seen.get(what) ?? 0) + 1);
  }
}

/** What is wanted, with the names of the issuers. */
function wantedIn(wanted: CredentialsWanted | null): object | null {
  if (wanted === null) return null;
  const { apiKeySources, issuers, clients, needsCertificate } = wanted;
  return { apiKeySources, issuers: issuers.map(({ name }) => name), clients, needsCertificate };
}

/** `toEqual` tells the difference well and takes its time; it is asked only where there is one. */
function same(found: unknown, expected: unknown, where: string): void {
  if (!isDeepStrictEqual(found, expected)) expect(found, where).toEqual(expected);
}
