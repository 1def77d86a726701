/**
 * The compiled path against the oracle: on every generated rule set and request both must come to the same decision,
 * shadow and matches included; so must `explain`, and the error pages. A failure names the seed of its case.
 * `EDGEPLAN_PAIRS` sets how many (rule set, request) pairs are tried.
 */
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import type { EdgeRequest } from '../../src/engine/evaluator/index.ts';
import { createOracle, type OracleEnv } from '../oracle/index.ts';
import { generateCase, seeded } from '../support/generate.ts';
import { tagsByKey } from '../support/generate-conditions.ts';
import { withLists } from '../support/generate-lists.ts';
import { wordProgram } from '../support/generate-waf.ts';
import { loadRuleSet } from '../support/load.ts';
import { sizeOf } from '../support/size.ts';
import { statedFields } from '../support/stated-limits.ts';

const PAIRS = sizeOf('EDGEPLAN_PAIRS', { usual: 20_000, full: 200_000 });
const REQUESTS = 200;
const FIRST_SEED = Number(process.env['EDGEPLAN_SEED'] ?? 1);

test(`agrees with the oracle on ${PAIRS} rule sets and requests`, { timeout: 3_600_000 }, () => {
  for (let seed = FIRST_SEED; seed < FIRST_SEED + PAIRS / REQUESTS; seed++) compareCase(seed);
});

function compareCase(seed: number): void {
  const options = {
    answers: 0.3,
    conditions: { share: 0.3, strayTags: true },
    headers: seed % 2 === 0 ? 6 : 0,
  };
  const generated = generateCase(seed, REQUESTS, options);
  // Every third rule set names lists.
  const made =
    seed % 3 === 0 ? { ...generated, ruleSet: withLists(seeded(seed), generated.ruleSet, 0.3) } : generated;
  const { ruleSet, requests, env: given } = keyed(made, seed);
  const env: OracleEnv = { ...given, waf: seed % 3 === 0 ? null : wordProgram };
  const oracle = createOracle(ruleSet, env);
  const plain = loadRuleSet(ruleSet, env);
  const traced = loadRuleSet(ruleSet, env);
  for (const [index, request] of requests.map(announced).entries()) {
    const expected = oracle.evaluate(request);
    const where = (path: string): string => `seed ${seed}, request ${index}, ${path}`;
    const decision = plain.evaluate(request);
    same(decision, expected, where('evaluate'));
    const trace = traced.explain(request);
    same(trace.decision, expected, where('explain'));
    const fields = statedFields(oracle.states(expected));
    same(plain.rateLimitFields(decision), fields, where('rateLimitFields'));
    same(traced.rateLimitFields(trace.decision), fields, where('rateLimitFields of explain'));
    const answered = expected.action === 'forward' ? [200, 401, 404, 503][index % 4]! : expected.status!;
    oracle.respond(expected, answered);
    plain.countResponse(decision, answered);
    traced.countResponse(trace.decision, answered);
    for (const rule of trace.phases.flatMap((phase) => phase.rules)) {
      const holds = rule.checks.every((check) => check.pass === true);
      const failed = `${where('trace')}, ${rule.type}/${rule.id}: ${JSON.stringify(rule)}`;
      if (rule.outcome === 'matched' && !holds) throw new Error(failed);
    }
    const status = [403, 404, 429, 502][index % 4]!;
    const madeBy = index % 8 < 4 ? 'edge' : 'origin';
    const page = oracle.errorPage(request, status, madeBy);
    same(plain.errorPage(request, status, madeBy), page, where('errorPage'));
  }
}

/** In every other case some rules and records have keys, and tags of conditions and clearances are of both kinds of name. */
function keyed<C extends ReturnType<typeof generateCase>>(one: C, seed: number): C {
  if (seed % 2 === 0) return one;
  const named = (list: readonly { readonly id: number }[]): ReadonlyMap<number, string> =>
    new Map(list.filter(({ id }) => id % 3 !== 0).map(({ id }) => [id, `k-${id}`]));
  const keys = { rules: named(one.ruleSet.rules), records: named(one.ruleSet.records) };
  const requests = one.requests.map((request, place) => {
    const { cleared } = request;
    if (!Array.isArray(cleared) || place % 4 === 0) return request;
    return { ...request, cleared: cleared.map((text) => String(text).replace(/\/(\d+)$/, '/k-$1')) };
  });
  const rules = one.ruleSet.rules.map((rule) => tagsByKey(rule, keys.rules));
  return { ...one, ruleSet: { ...one.ruleSet, rules, keys }, requests };
}

const HEADS = [
  { 'content-length': '3' },
  { 'content-length': '0' },
  { 'content-length': ['0', '3'] },
  { 'content-length': '3, 3' },
  { 'transfer-encoding': 'chunked' },
];

/** Some heads announce a body, whether or not one is given. */
function announced(request: EdgeRequest, place: number): EdgeRequest {
  const { headers } = request;
  if (place % 7 !== 0 || typeof headers !== 'object') return request;
  return { ...request, headers: { ...headers, ...HEADS[place % HEADS.length] } };
}

/** `toEqual` tells the difference well and takes its time; it is asked only where there is one. */
function same(found: unknown, expected: unknown, where: string): void {
  if (!isDeepStrictEqual(found, expected)) expect(found, where).toEqual(expected);
}
