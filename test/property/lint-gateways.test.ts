/**
 * What lint says of gateways, against requests: on generated rule sets with consumers no request shows a claim to be false.
 * `EDGEPLAN_LINT_GATEWAY_SETS` sets how many rule sets are tried.
 */
import { expect, test } from 'vitest';
import { CREDENTIAL_KINDS } from '../../src/base/vocabulary/vocabulary.ts';
import type { Decision, Evaluator } from '../../src/engine/evaluator/index.ts';
import type { EdgeRequest } from '../../src/engine/evaluator/request.ts';
import { parseRule } from '../../src/rules/model/parse.ts';
import type { Registry } from '../../src/rules/model/registry/registry.ts';
import type { GatewayRule, Rule, RuleSet } from '../../src/rules/model/types.ts';
import { lintRuleSet } from '../../src/workbench/proofs/lint.ts';
import { generateCase, type Random, seeded } from '../support/generate.ts';
import { NAMES, SCOPES, withGateways } from '../support/generate-gateways.ts';
import { loadRuleSet } from '../support/load.ts';
import { sizeOf } from '../support/size.ts';

const SETS = sizeOf('EDGEPLAN_LINT_GATEWAY_SETS', { usual: 100, full: 2_000 });
const REQUESTS = 300;
const NOW = Date.UTC(2050, 0, 1);
const DAY_MS = 86_400_000;
const TIMES = [null, null, null, '2020-01-01T00:00:00Z', '2200-01-01T00:00:00Z'];

/** A registry whose consumers have keys, and times that are past or far ahead. */
function withKeys(random: Random, registry: Registry): Registry {
  const isFew = random.chance(0.5);
  const consumers = registry.consumers.map((consumer, index) => ({
    ...consumer,
    enabled: !random.chance(isFew ? 0.5 : 0.1),
    ...(isFew && random.chance(0.6) ? { acl: random.some(['list', 't1', 'no'], 2) } : {}),
    expires_at: random.pick(TIMES),
    keys: random.times(random.int(3), (key) => ({
      name: null,
      sha256: `${index}${key}`.padEnd(64, '0'),
      expires_at: random.pick(TIMES),
    })),
  }));
  return { ...registry, consumers };
}

function cacheRule(random: Random, base: string, id: number): Rule {
  const below = base === '/' ? '' : base;
  const parsed = parseRule('cache', {
    mode: random.pick(['standard', 'standard', 'force']),
    path_includes: random.pick([[`${below}/*`, base], [`${below}/a*`]]),
  });
  if (!parsed.ok) throw new Error(`a cache rule below ${base}`);
  return { type: 'cache', id, ...parsed.fields } as Rule;
}

/** The rule set of a domain that serves, with cache rules and captchas that gateways may take the requests of. */
function prepared(random: Random, ruleSet: RuleSet): RuleSet {
  const { registry } = ruleSet;
  if (registry === undefined || !('consumers' in registry)) throw new Error('a case without a registry');
  const rules = ruleSet.rules.map((rule) =>
    rule.type === 'gateway' && random.chance(0.15)
      ? { ...rule, base_path: rule.base_path.replaceAll('a', 'A') }
      : rule,
  );
  const caches = rules.flatMap((rule, index) =>
    rule.type === 'gateway' && random.chance(0.9) ? [cacheRule(random, rule.base_path, 4_000 + index)] : [],
  );
  return {
    ...ruleSet,
    domain: { ...ruleSet.domain, status: 'active', suspended: false, developer_mode_until: null },
    records: ruleSet.records.map((record) => ({ ...record, captcha: random.chance(0.5) })),
    rules: [...caches, ...rules],
    registry: withKeys(random, registry),
  };
}

/** Decides a request with credentials that its gateway may verify: a key only if the consumer has one. */
function decide(
  evaluators: readonly Evaluator[],
  ruleSet: RuleSet,
  given: EdgeRequest,
  at: number,
  random: Random,
): readonly Decision[] {
  const { identity: _, ...request } = { ...given, now: NOW + at * DAY_MS };
  const [evaluator] = evaluators as readonly [Evaluator];
  const taken = takingOf(ruleSet, evaluator.evaluate(request));
  const { consumers } = ruleSet.registry as Registry;
  const name = random.pick(NAMES);
  const keys = consumers.find(({ username }) => username === name)?.keys ?? [];
  const hasKey = keys.some(({ expires_at }) => expires_at === null || Date.parse(expires_at) > NOW);
  const verified = CREDENTIAL_KINDS.filter(
    (kind) => taken?.auth[kind] !== undefined && random.chance(0.85) && (kind !== 'api_key' || hasKey),
  );
  const scopes = verified.includes('jwt') ? random.some(SCOPES, 3) : [];
  const identity = verified.length === 0 ? null : { consumer: name, verified, scopes };
  const later = { ...request, now: request.now + DAY_MS / 2, ...(identity === null ? {} : { identity }) };
  return evaluators.map((one) => one.evaluate(later));
}

/** The gateway that has taken a request. */
function takingOf({ rules }: RuleSet, { matches }: Decision): GatewayRule | null {
  const found = matches.find(({ type, mode }) => type === 'gateway' && mode === 'enforce');
  return (rules.find(({ type, id }) => type === 'gateway' && id === found?.id) as GatewayRule) ?? null;
}

/** The operation of a gateway's outcome, by its place; -1: it has none. */
function operationOf({ operations }: GatewayRule, { gateway }: Decision, method: unknown): number {
  const named = (listed: unknown): number =>
    operations.findIndex(
      ({ operation_id, path, methods }) =>
        (operation_id ?? path) === gateway?.operation && methods.includes(listed as string),
    );
  if (gateway?.operation == null) return -1;
  return method === 'HEAD' && named('HEAD') < 0 ? named('GET') : named(method);
}

/** Claims of a rule set: `<code> <where>`. */
type Claims = ReadonlySet<string>;

function claimsOf(ruleSet: RuleSet): Claims {
  const found = lintRuleSet(ruleSet, undefined, { now: NOW });
  return new Set(
    found.map(({ code, path: [list, index, ...field] }) => {
      const { consumers } = ruleSet.registry as Registry;
      const id =
        list === 'rules'
          ? ruleSet.rules[index as number]!.id
          : list === 'records'
            ? ruleSet.records[index as number]!.id
            : list === 'consumers'
              ? consumers[index as number]!.username
              : index;
      return [code, id, ...field].join(' ');
    }),
  );
}

/** The rule set without what lint says is of no use. */
function reduced(ruleSet: RuleSet, claims: Claims): RuleSet {
  const registry = ruleSet.registry as Registry;
  const isClaimed = (...parts: readonly (string | number)[]): boolean => claims.has(parts.join(' '));
  return {
    ...ruleSet,
    registry: {
      consumers: registry.consumers.map((one) => ({
        ...one,
        // An acl without entries admits to all.
        acl: one.acl.map((entry, at) =>
          isClaimed('unknown_acl_entry', one.username, 'acl', at) ? 'other' : entry,
        ),
        scopes: one.scopes.filter((_, at) => !isClaimed('unused_scope', one.username, 'scopes', at)),
        keys: [],
      })),
      usage_plans: registry.usage_plans.filter((_, at) => !isClaimed('unused_usage_plan', at, 'name')),
      token_issuers: registry.token_issuers.filter((_, at) => !isClaimed('unused_token_issuer', at, 'name')),
    },
  };
}

/** The claims that a decision shows to be false. */
function broken(ruleSet: RuleSet, claims: Claims, decision: Decision, method: unknown): readonly string[] {
  const { action, rule, gateway, matches, cache } = decision;
  const taking = takingOf(ruleSet, decision);
  const denied: string[] = [];
  if (action === 'challenge' && rule?.type === 'record') denied.push(`captcha_on_gateway ${rule.id} captcha`);
  for (const { type, id } of matches)
    if (type === 'cache' && cache !== null && cache?.mode !== 'bypass')
      denied.push(`uncached_rule ${id} mode`);
  if (taking === null || gateway === undefined) return denied.filter((claim) => claims.has(claim));
  const place = operationOf(taking, decision, method);
  if (place >= 0) denied.push(`unreachable_operation ${taking.id} operations ${place}`);
  if (rule?.type !== 'gateway') {
    const isOpen = taking.auth.require === 'none' || taking.operations[place]?.auth === 'none';
    if (!isOpen) denied.push(`closed_gateway ${taking.id} auth`);
    if (place >= 0) denied.push(`uncallable_operation ${taking.id} operations ${place}`);
    if (gateway?.consumer != null) denied.push(`consumer_without_credentials ${gateway.consumer} username`);
  }
  return denied.filter((claim) => claims.has(claim));
}

test(`no request breaks what lint says of the gateways of ${SETS} rule sets`, { timeout: 3_600_000 }, () => {
  const counts = new Map<string, number>();
  const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
  for (let seed = 1; seed <= SETS; seed++) {
    const random = seeded(seed + 51_000);
    const made = withGateways(seeded(seed + 90_000), generateCase(seed, REQUESTS));
    const ruleSet = prepared(random, made.ruleSet);
    const claims = claimsOf(ruleSet);
    for (const claim of claims) count(claim.split(' ')[0]!);
    const evaluators = [loadRuleSet(ruleSet), loadRuleSet(reduced(ruleSet, claims))];
    made.requests.forEach((request, index) => {
      const [decision, less] = decide(evaluators, ruleSet, request, index, random) as readonly [
        Decision,
        Decision,
      ];
      count('requests');
      if (decision.gateway !== undefined && decision.rule?.type !== 'gateway') count('admitted');
      expect({ seed, index, wrong: broken(ruleSet, claims, decision, request.method) }).toEqual({
        seed,
        index,
        wrong: [],
      });
      expect({ seed, index, gateway: less.gateway }).toEqual({ seed, index, gateway: decision.gateway });
    });
  }
  if (process.env['SHOW'] !== undefined) console.log(counts);
  expect(counts.get('admitted')).toBeGreaterThan(SETS);
  for (const code of CLAIMS) expect([code, counts.get(code) ?? 0]).toEqual([code, expect.toSatisfy(isMany)]);
});

/** The claims that are tried. */
const CLAIMS = [
  ...['closed_gateway', 'uncallable_operation', 'unreachable_operation', 'unknown_acl_entry', 'unused_scope'],
  ...['unused_usage_plan', 'unused_token_issuer', 'captcha_on_gateway', 'uncached_rule'],
  'consumer_without_credentials',
];

function isMany(found: number): boolean {
  return found > SETS / 60;
}
