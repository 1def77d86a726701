/**
 * Invariants against requests: on generated rule sets no request breaks an invariant that is proved, and every request that is
 * shown breaks its invariant. Which requests are meant is decided by a plan whose only rule has the filters of the invariant.
 * `EDGEPLAN_INVARIANT_SETS` sets how many rule sets are tried.
 */
import { expect, test } from 'vitest';
import { ACTIONS } from '../../src/base/vocabulary/vocabulary.ts';
import { compile } from '../../src/engine/compiler/compile.ts';
import { loadPlan } from '../../src/engine/evaluator/index.ts';
import type { EdgeRequest } from '../../src/engine/evaluator/request.ts';
import { seal } from '../../src/engine/plan/seal.ts';
import { type Invariant, parseInvariants } from '../../src/rules/model/invariant.ts';
import type { Rule, RuleSet } from '../../src/rules/model/types.ts';
import { type InvariantResult, proveInvariants } from '../../src/workbench/proofs/invariants.ts';
import { requestOf } from '../../src/workbench/proofs/witness.ts';
import { generateCase, type Random, seeded } from '../support/generate.ts';
import { everyFourth } from '../support/generate-gateways.ts';
import { everyThird } from '../support/generate-lists.ts';
import { sizeOf } from '../support/size.ts';

const SETS = sizeOf('EDGEPLAN_INVARIANT_SETS', { usual: 120, full: 4_000 });
const REQUESTS = 300;
const INVARIANTS = 12;

function serving(ruleSet: RuleSet): RuleSet {
  return {
    ...ruleSet,
    domain: { ...ruleSet.domain, status: 'active', suspended: false, developer_mode_until: null },
  };
}

const BOTS = ['none', '*', 'googlebot', 'gptbot:verified', 'bingbot:unverified'];

const LIST_WORDS = [
  ['method', 'methods'],
  ['scheme', 'schemes'],
  ['asn', 'asns'],
  ['user_agent', 'user_agents'],
] as const;
const VALUE_WORDS = [
  ['header', 'headers'],
  ['query', 'query'],
  ['cookie', 'cookies'],
] as const;

/** The `includes` of a member of conditions. */
function listedIn(
  member: { readonly includes?: readonly unknown[] } | undefined,
): readonly unknown[] | undefined {
  return member?.includes;
}

/** Some of the filters of a rule, so that invariants are about what rules are about; now and then a filter of its own. */
function generateWhen(random: Random, rule: Rule): object {
  const when: Record<string, unknown> = {};
  if (rule.host_includes.length > 0 && rule.host_match_type !== 'regex' && random.chance(0.5))
    when['host'] = random.chance(0.8) ? rule.host_includes : { not: rule.host_includes };
  if ('path_includes' in rule && rule.path_match_type === 'wildcard' && rule.path_includes.length > 0) {
    if (random.chance(0.7)) when['path'] = rule.path_includes;
    else if (random.chance(0.4)) when['path'] = { in: rule.path_includes, not: ['/api/*'] };
  }
  if (rule.type === 'drop') {
    const not = (list: readonly string[], type: string): unknown =>
      (type === 'exclude') === random.chance(0.85) ? { not: list } : list;
    if (rule.ips.length > 0 && random.chance(0.8)) when['ip'] = not(rule.ips, rule.ip_match_type);
    if (rule.countries.length > 0 && random.chance(0.8))
      when['country'] = not(rule.countries, rule.country_match_type);
  } else if (random.chance(0.2)) when['ip'] = { not: ['198.51.100.0/24', '2001:db8::/32'] };
  const { conditions = {} } = rule;
  for (const [word, member] of LIST_WORDS) {
    const given: object | undefined = conditions[member];
    const entries = Array.isArray(given) ? (given as readonly unknown[]) : listedIn(given);
    if (entries === undefined || random.chance(0.3)) continue;
    // Both schemes leave none.
    const all = word === 'scheme' && new Set(entries).size > 1;
    when[word] = all || random.chance(0.8) ? entries : { not: entries };
  }
  for (const [word, member] of VALUE_WORDS)
    if (conditions[member] !== undefined && random.chance(0.7)) when[word] = conditions[member];
  if (random.chance(0.25)) when['bot'] = random.chance(0.7) ? random.pick(BOTS) : { not: random.pick(BOTS) };
  return when;
}

function generateInvariants(random: Random, { rules }: RuleSet): readonly Invariant[] {
  const written = Array.from({ length: INVARIANTS }, (_, index) => {
    const claim = random.chance(0.7)
      ? { never: random.chance(0.6) ? 'forward' : [random.pick(ACTIONS), random.pick(ACTIONS)] }
      : { always: random.chance(0.5) ? 'block' : [random.pick(ACTIONS), random.pick(ACTIONS)] };
    return { name: `invariant ${index}`, when: generateWhen(random, random.pick(rules)), ...claim };
  });
  const parsed = parseInvariants(written);
  if (!parsed.ok) throw new Error(JSON.stringify([written, parsed.diagnostics]));
  return parsed.invariants;
}

/** Whether an invariant is about a request, by the evaluator and not by the space of proofs. */
function meaning(ruleSet: RuleSet, { when, bots }: Invariant): (request: EdgeRequest) => boolean {
  const rules: Rule[] = [{ ...when, type: 'drop', id: 1 }];
  const evaluator = loadPlan(seal(compile({ ...serving(ruleSet), rules }).plan, { revision: 1 }));
  const isListed = (request: EdgeRequest): boolean =>
    bots!.listed.some(({ kind, verified }) => {
      // Where the request does not say, its User-Agent does.
      const { bot } = evaluator.explain(request).facts;
      if (kind === null || bot === null) return kind === null && bot === null;
      return (kind === '*' || bot.kind === kind) && (verified === null || bot.verified === verified);
    });
  return (request) =>
    evaluator.evaluate(request).matches.length > 0 && (bots === null || isListed(request) !== bots.excludes);
}

/** Whether a request breaks an invariant as the result claims. */
function shows(
  result: InvariantResult & { kind: 'broken' },
  ruleSet: RuleSet,
  request: EdgeRequest,
): boolean {
  const bytes = seal(compile(serving(ruleSet)).plan, { revision: 1 });
  const { action, rule, needs } = result;
  const isRule = ({ type, id }: { type: string; id: number }): boolean =>
    type === rule?.type && id === rule.ref.id;
  // A witness has no credentials: it shows what happens without them, or with those that its gateway admits.
  return [false, true].some((admitsAll) => {
    const decision = loadPlan(bytes, { admitsAll }).evaluate(request);
    if (needs !== null) return decision.matches.some((match) => isRule(match) && match.mode === 'enforce');
    return decision.action === action;
  });
}

test(`no request breaks a proved invariant of ${SETS} rule sets`, { timeout: 3_600_000 }, () => {
  const counts = { proved: 0, broken: 0, empty: 0, unknown: 0, meant: 0 };
  for (let seed = 1; seed <= SETS; seed++) {
    const made = everyFourth(
      generateCase(seed, REQUESTS, seed % 2 === 0 ? { answers: 0.3, conditions: { share: 0.5 } } : {}),
    );
    const { requests } = made;
    const ruleSet = everyThird(seed, made.ruleSet);
    const evaluator = loadPlan(seal(compile(serving(ruleSet)).plan, { revision: 1 }));
    const actions = requests.map((request) => evaluator.evaluate(request).action);
    for (const { invariant, result } of proveInvariants(
      ruleSet,
      generateInvariants(seeded(seed + 77_000), ruleSet),
    )) {
      counts[result.kind]++;
      const isMeant = meaning(ruleSet, invariant);
      const about = `seed ${seed}, ${invariant.claim} when ${JSON.stringify([invariant.when, invariant.bots])}`;
      if (process.env.SHOW && result.kind === 'unknown') console.log('unknown', about, result.open);
      if (result.kind === 'broken') {
        const request = requestOf(result.witness, Date.UTC(2100, 0, 1));
        if (!isMeant(request)) throw new Error(`${about}: not meant: ${JSON.stringify(request)}`);
        if (!shows(result, ruleSet, request))
          throw new Error(`${about}: not broken by ${JSON.stringify(request)}`);
      }
      if (result.kind !== 'proved' && result.kind !== 'empty') continue;
      requests.forEach((request, index) => {
        if (!isMeant(request)) return;
        counts.meant++;
        if (result.kind === 'empty' || invariant.never.includes(actions[index]!))
          throw new Error(
            `${about}: ${result.kind}, but request ${index} gets ${actions[index]}: ${JSON.stringify(request)}`,
          );
      });
    }
  }
  if (process.env.SHOW) console.log(counts);
  expect(counts.proved).toBeGreaterThan(SETS / 10);
  expect(counts.broken).toBeGreaterThan(SETS);
  expect(counts.unknown).toBeLessThan((SETS * INVARIANTS) / 50);
});
