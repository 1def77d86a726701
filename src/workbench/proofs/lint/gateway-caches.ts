/**
 * Finds cache rules beside gateways that require credentials (semantics §15): responses to consumers are stored only under
 * `mode: force`, and then for all of them. In: the rules of a plan that are reached. Out: findings, each proved.
 */
import type { CacheRule, GatewayRule } from '../../../rules/model/types.ts';
import { isApart, type Reach } from '../reach.ts';
import { type SubjectSpace, situationsOf } from '../situations.ts';
import type { Box } from '../space/boxes.ts';
import { createBudget, type StepBudget, shareOf } from '../space/budget.ts';
import { findUncovered } from '../space/cover.ts';
import type { SubjectRule } from '../subject.ts';
import { requestOf, type Witness } from '../witness.ts';
import type { Finding, ProofContext } from './finding.ts';
import { requestText, sharedRequest } from './proved-rules.ts';

/** Steps of the question whether gateways take every request of a cache rule. */
const MAX_RULE_STEPS = 20_000;
/** Steps of all questions about one rule set: a second or so. */
const MAX_TOTAL_STEPS = 1_000_000;

/** An enforced gateway. */
interface EnforcedGateway {
  readonly compiled: SubjectRule;
  readonly gateway: GatewayRule;
}

/** The gateways of a plan by whether all requests that they admit have a consumer. */
interface Guards {
  readonly guards: readonly EnforcedGateway[];
  readonly open: readonly EnforcedGateway[];
}

/** Checks the reached cache rules. */
export function lintGatewayCaches(
  { around, subject, ruleOf }: ProofContext,
  reaches: readonly Reach[],
): readonly Finding[] {
  if (around === null) return [];
  const enforced = subject.rules.flatMap((compiled): readonly EnforcedGateway[] => {
    const gateway = ruleOf(compiled);
    return gateway.type === 'gateway' && !compiled.isDryRun ? [{ compiled, gateway }] : [];
  });
  const guards = enforced.filter(({ gateway }) => isGuard(gateway));
  const open = enforced.filter(({ gateway }) => !isGuard(gateway));
  if (guards.length === 0) return [];
  const total = createBudget(MAX_TOTAL_STEPS);
  return reaches.flatMap(({ rule: compiled, result }): readonly Finding[] => {
    const rule = ruleOf(compiled);
    if (rule.type !== 'cache' || rule.mode === 'bypass' || result.kind !== 'reached') return [];
    const isCovered = areGuarded(around, compiled, { guards, open }, total);
    if (rule.mode !== 'force') return isCovered ? [uncached(rule)] : [];
    const witness = sharedWith(around, compiled, guards, total);
    return witness === null ? [] : [shared(rule, witness, isCovered)];
  });
}

function isGuard({ auth, operations }: GatewayRule): boolean {
  return auth.require !== 'none' && operations.every((operation) => operation.auth !== 'none');
}

/** Whether gateways that require credentials take every request that comes to a cache rule. */
function areGuarded(
  around: SubjectSpace,
  rule: SubjectRule,
  { guards, open }: Guards,
  total: StepBudget,
): boolean {
  const { space, plan } = around;
  const own = space.boxOf(plan, rule.slot);
  // A condition may be about tags, which a box has only with the place of the rule.
  const boxOf = ({ compiled, gateway }: EnforcedGateway): Box | null =>
    gateway.conditions === undefined ? space.boxOf(plan, compiled.slot) : null;
  // Of several gateways one alone takes a request: an open one leaves nothing of it to the others.
  const isApartFrom = (gateway: EnforcedGateway): boolean => {
    const box = boxOf(gateway);
    return own !== null && box !== null && isApart([own, box], around, total);
  };
  if (!open.every(isApartFrom)) return false;
  const boxes = guards.map(boxOf).filter((box) => box !== null);
  const situations = situationsOf(around, rule);
  if (boxes.length === 0 || situations === null) return false;
  const budget = shareOf(total, MAX_RULE_STEPS);
  return situations.every((one) => {
    const blockers = [...boxes, ...one.blockers.boxes.slice(0, one.count)];
    return findUncovered({ ...one, blockers, count: blockers.length }, space, budget).kind === 'covered';
  });
}

/** A request that a gateway takes and that the cache rule acts on. */
function sharedWith(
  around: SubjectSpace,
  rule: SubjectRule,
  guards: readonly EnforcedGateway[],
  total: StepBudget,
): Witness | null {
  const { evaluator, moment } = around.subject;
  for (const { compiled } of guards) {
    const witness = sharedRequest(around, { earlier: compiled, later: rule }, total);
    if (witness === null) continue;
    const { matches } = evaluator.evaluate(requestOf(witness, moment()));
    if (matches.some(({ type, id }) => type === 'cache' && id === rule.ref.id)) return witness;
  }
  return null;
}

function uncached(rule: CacheRule): Finding {
  return {
    rule,
    field: ['mode'],
    code: 'uncached_rule',
    severity: 'warning',
    message:
      'stores no response: gateways that require credentials take every request of the rule, and responses to consumers are stored only under `force`',
    remedy: 'remove the rule, or write `mode: force` where responses are the same for every consumer',
  };
}

/** A rule for requests of gateways alone was very likely meant so. */
function shared(rule: CacheRule, witness: Witness, isMeant: boolean): Finding {
  return {
    rule,
    field: ['mode'],
    code: 'shared_response',
    severity: isMeant ? 'info' : 'warning',
    message: `answers consumers of a gateway with responses to other consumers, since the cache key has no consumer, as to \`${requestText(witness)}\``,
    remedy: 'exclude the base path of the gateway, unless its responses are the same for every consumer',
  };
}
