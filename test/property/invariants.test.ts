/**
 * Invariants against requests: on generated rule sets no request breaks an invariant that is proved, and every request that is
 * shown breaks its invariant. Which requests are meant is decided by a plan whose only rule has the filters of the invariant.
 * `EDGEPLAN_INVARIANT_SETS` sets how many rule sets are tried.
 */
import { expect, test } from 'vitest';
import { ACTIONS, CREDENTIAL_KINDS, IDENTITY_FAILURES } from '../../src/base/vocabulary/vocabulary.ts';
import { compile } from '../../src/engine/compiler/compile.ts';
import { loadPlan } from '../../src/engine/evaluator/index.ts';
import type { EdgeRequest } from '../../src/engine/evaluator/request.ts';
import { seal } from '../../src/engine/plan/seal.ts';
import { type Invariant, parseInvariants } from '../../src/rules/model/invariant.ts';
import type { NamedEntries } from '../../src/rules/model/invariant-identity.ts';
import type { Consumer, GatewayRule, Rule, RuleSet } from '../../src/rules/model/types.ts';
import { withoutBodies } from '../../src/workbench/proofs/credentials.ts';
import { type InvariantResult, proveInvariants } from '../../src/workbench/proofs/invariants.ts';
import { requestOf } from '../../src/workbench/proofs/witness.ts';
import { generateCase, type Random, seeded } from '../support/generate.ts';
import { NAMES, SCOPES, withGateways } from '../support/generate-gateways.ts';
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

/** Paths of a gateway: all, and those of one operation. */
function pathsOf({ base_path, operations }: GatewayRule): readonly unknown[] {
  const base = base_path === '/' ? '' : base_path;
  const whole = base === '' ? '/*' : [base, `${base}/*`];
  return [whole, ...operations.map(({ path }) => `${base}${path.replace(/\{[^}]*\}/g, '*')}`)];
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
  if (rule.type === 'gateway' && random.chance(0.8)) when['path'] = random.pick(pathsOf(rule));
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
  const gateways = rules.filter((rule) => rule.type === 'gateway');
  const written = Array.from({ length: INVARIANTS }, (_, index) => {
    const claim = random.chance(0.7)
      ? { never: random.chance(0.6) ? 'forward' : [random.pick(ACTIONS), random.pick(ACTIONS)] }
      : { always: random.chance(0.5) ? 'block' : [random.pick(ACTIONS), random.pick(ACTIONS)] };
    const when = generateWhen(
      random,
      random.pick(random.chance(0.5) && gateways.length > 0 ? gateways : rules),
    );
    const identity = gateways.length > 0 ? identityWords(random) : {};
    return { name: `invariant ${index}`, when: { ...when, ...identity }, ...claim };
  });
  const parsed = parseInvariants(written);
  if (!parsed.ok) throw new Error(JSON.stringify([written, parsed.diagnostics]));
  return parsed.invariants;
}

/** Words about credentials. */
function identityWords(random: Random): object {
  const named = (one: unknown): unknown => (random.chance(0.7) ? one : { not: one });
  const consumer = random.pick<unknown>(['none', 'none', random.some(['none', ...NAMES], 3), ...NAMES]);
  return {
    ...(random.chance(0.5) ? { consumer: named(consumer) } : {}),
    ...(random.chance(0.4) ? { scope: named(random.some(SCOPES, 2)) } : {}),
  };
}

/** A rule set in which no consumer expires, as proofs take it. */
function unexpired(ruleSet: RuleSet): RuleSet {
  const { registry } = ruleSet;
  if (registry === undefined || !('consumers' in registry)) return ruleSet;
  const consumers = registry.consumers.map((one) => ({ ...one, expires_at: null }));
  return { ...ruleSet, registry: { ...registry, consumers } };
}

function consumersOf({ registry }: RuleSet): readonly Consumer[] {
  return registry !== undefined && 'consumers' in registry ? registry.consumers : [];
}

/** The request with credentials that its gateway may have verified. */
function withCredentials(random: Random, request: EdgeRequest, gateway: GatewayRule | null): EdgeRequest {
  const { identity: _, ...rest } = request;
  if (random.chance(0.3)) return rest;
  if (random.chance(0.1))
    return { ...rest, identity: { consumer: null, failure: random.pick(IDENTITY_FAILURES) } };
  const kinds = gateway === null ? [] : CREDENTIAL_KINDS.filter((kind) => gateway.auth[kind] !== undefined);
  const takesTokens = kinds.length === 0 || kinds.includes('jwt');
  return {
    ...rest,
    identity: {
      consumer: random.pick(NAMES),
      ...(kinds.length > 0 && random.chance(0.3) ? { verified: random.some(kinds, 2) } : {}),
      ...(takesTokens && random.chance(0.7) ? { scopes: random.some(SCOPES, 3) } : {}),
    },
  };
}

/** Whether the credentials of a request are meant. */
function meansIdentity({ identity: words }: Invariant, ruleSet: RuleSet, { identity }: EdgeRequest): boolean {
  if (words === null) return true;
  const consumer = consumersOf(ruleSet).find(
    ({ username, enabled }) => enabled && username === identity?.consumer,
  );
  const scopes = consumer === undefined ? [] : [...consumer.scopes, ...(identity?.scopes ?? [])];
  const fits = (given: readonly string[], { wanted, unwanted }: NamedEntries): boolean =>
    (wanted === null || wanted.some((one) => given.includes(one))) &&
    !unwanted.some((one) => given.includes(one));
  return fits([consumer?.username ?? 'none'], words.consumers) && fits(scopes, words.scopes);
}

/** Whether an invariant is about a request, by the evaluator and not by the space of proofs. */
function meaning(ruleSet: RuleSet, invariant: Invariant): (request: EdgeRequest) => boolean {
  const { when, bots } = invariant;
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
    evaluator.evaluate(request).matches.length > 0 &&
    (bots === null || isListed(request) !== bots.excludes) &&
    meansIdentity(invariant, ruleSet, request);
}

/** Whether a request breaks an invariant as the result claims. */
function shows(
  result: InvariantResult & { kind: 'broken' },
  ruleSet: RuleSet,
  request: EdgeRequest,
): boolean {
  const { action, rule, needs } = result;
  // The witness has no body, whatever one the gateway takes or refuses.
  const taking = needs === 'body' ? withoutBodies(ruleSet) : ruleSet;
  const bytes = seal(compile(serving(taking)).plan, { revision: 1 });
  const isRule = ({ type, id }: { type: string; id: number }): boolean =>
    type === rule?.type && id === rule.ref.id;
  const decision = loadPlan(bytes).evaluate(request);
  if (needs !== null && rule !== null)
    return decision.matches.some((match) => isRule(match) && match.mode === 'enforce');
  return decision.action === action;
}

/** Requests with credentials as the gateway that takes each may have verified them. */
function identified(
  seed: number,
  ruleSet: RuleSet,
  requests: readonly EdgeRequest[],
): readonly EdgeRequest[] {
  const evaluator = loadPlan(seal(compile(serving(ruleSet)).plan, { revision: 1 }));
  const random = seeded(seed + 91_000);
  return requests.map((request) => {
    const taken = evaluator
      .evaluate(request)
      .matches.find(({ type, mode }) => type === 'gateway' && mode === 'enforce');
    const gateway = ruleSet.rules.find(({ type, id }) => type === 'gateway' && id === taken?.id);
    return withCredentials(random, request, (gateway as GatewayRule | undefined) ?? null);
  });
}

test(`no request breaks a proved invariant of ${SETS} rule sets`, { timeout: 3_600_000 }, () => {
  const counts = { proved: 0, broken: 0, empty: 0, unknown: 0, meant: 0 };
  for (let seed = 1; seed <= SETS; seed++) {
    const plain = generateCase(
      seed,
      REQUESTS,
      seed % 2 === 0 ? { answers: 0.3, conditions: { share: 0.5 } } : {},
    );
    const made = seed % 2 === 1 ? withGateways(seeded(seed), plain) : plain;
    const ruleSet = unexpired(everyThird(seed, made.ruleSet));
    const evaluator = loadPlan(seal(compile(serving(ruleSet)).plan, { revision: 1 }));
    const requests = seed % 2 === 1 ? identified(seed, ruleSet, made.requests) : made.requests;
    const actions = requests.map((request) => evaluator.evaluate(request).action);
    for (const { invariant, result } of proveInvariants(
      ruleSet,
      generateInvariants(seeded(seed + 77_000), ruleSet),
    )) {
      counts[result.kind]++;
      const isMeant = meaning(ruleSet, invariant);
      const about = `seed ${seed}, ${invariant.claim} when ${JSON.stringify([invariant.when, invariant.bots, invariant.identity])}`;
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
