/**
 * Finds cache rules beside gateways that require credentials (semantics §15): responses to consumers are stored only under
 * `mode: force`, and then for all of them unless the cache key has their credentials. In: the rules of a plan that are reached. Out:
 * findings, each proved.
 */
import type { CredentialSource } from '../../../base/vocabulary/vocabulary.ts';
import { compile } from '../../../engine/compiler/compile.ts';
import { seal } from '../../../engine/plan/seal.ts';
import { parseRule } from '../../../rules/model/parse.ts';
import { EMPTY_REGISTRY } from '../../../rules/model/registry/registry.ts';
import type {
  CacheRule,
  Consumer,
  GatewayRule,
  Registry,
  Rule,
  RuleSet,
} from '../../../rules/model/types.ts';
import { credentialWorld, identityOf, isAdmitted, NONE, withoutBodies } from '../credentials.ts';
import { divideGateways } from '../gateway-cells.ts';
import { type GatewaySpace, narrowed, placeGateways, questionsIn } from '../gateway-questions.ts';
import { isApart, type Reach } from '../reach.ts';
import { redirectExtras, type SubjectSpace, situationsOf } from '../situations.ts';
import type { Box } from '../space/boxes.ts';
import { createBudget, type StepBudget, shareOf } from '../space/budget.ts';
import { findUncovered } from '../space/cover.ts';
import { createSpace } from '../space/space.ts';
import { compilable, readSubject, type SubjectRule } from '../subject.ts';
import { changedUntil, tryDecision, type Witness, witnessOf } from '../witness.ts';
import type { Finding, LintContext, ProofContext } from './finding.ts';
import { hasLiveKey, isActive } from './gateways.ts';
import { requestText } from './proved-rules.ts';

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
  context: LintContext,
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
  const total = createBudget(MAX_TOTAL_STEPS);
  const reached = reaches.flatMap(({ rule: compiled, result }) => {
    const rule = ruleOf(compiled);
    const mayStore = rule.type === 'cache' && rule.mode !== 'bypass' && result.kind === 'reached';
    return mayStore
      ? [{ compiled, rule, isCovered: areGuarded(around, compiled, { guards, open }, total) }]
      : [];
  });
  const forced = reached.filter(({ rule }) => rule.mode === 'force');
  const sharing = enforced.length === 0 || forced.length === 0 ? null : openSharing(context);
  return reached.flatMap(({ compiled, rule, isCovered }): readonly Finding[] => {
    if (rule.mode !== 'force') return isCovered ? [uncached(rule)] : [];
    const witness = sharing === null ? null : sharedBy(sharing, { compiled, rule }, total);
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
  if (guards.length === 0) return false;
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

/** The gateways of a rule set, which judge credentials, with what decides whether a response is shared. */
interface Sharing {
  readonly placed: GatewaySpace;
  /** Requests whose responses are stored. */
  readonly stored: Box | null;
  readonly hasKey: (consumer: Consumer) => boolean;
}

/** A consumer of a registry that is not known: it may call what requires credentials. */
const ANYBODY: Consumer = {
  ...{ username: 'anybody', custom_id: null, group: null, labels: [], enabled: true, usage_plan: null },
  ...{ acl: [], scopes: [], metadata: {}, expires_at: null },
};

/** Opens the gateways with the consumers that may call; `null`: no consumer may, or filters of hosts are too complex. */
function openSharing({ ruleSet, registry, now, sources }: LintContext): Sharing | null {
  const hasKey = (consumer: Consumer): boolean => registry === null || hasLiveKey(consumer, now);
  const active = (registry?.consumers ?? [ANYBODY]).filter((consumer) => isActive(consumer, now));
  if (active.length === 0) return null;
  // Of consumers that gateways do not distinguish the first is taken: one with a key has the most credentials.
  const consumers = active.toSorted((a, b) => Number(hasKey(b)) - Number(hasKey(a)));
  const known = { ...(registry ?? EMPTY_REGISTRY), consumers };
  const { keys: _, ...domain } = withoutBodies(compilable({ ...ruleSet, registry: known }));
  const gateways = domain.rules.filter((rule) => rule.type === 'gateway');
  const divided = divideGateways(
    gateways.filter(({ enabled, action_mode }) => enabled && action_mode === 'enforce'),
  );
  const id = divided.rules.length + 1;
  const parsed = parseRule('cache', { mode: 'bypass', conditions: { methods: ['GET'] } });
  if (!parsed.ok) throw new Error('a cache rule of a method alone is refused');
  const reading = { ...parsed.fields, type: 'cache', id } as Rule;
  const sealed = (rules: RuleSet['rules']): Uint8Array =>
    seal(compile({ ...domain, rules }).plan, { revision: 1 });
  const subject = readSubject(sealed(domain.rules), { ...sources, judgesCredentials: true });
  const cells = readSubject(sealed([...divided.rules, reading]), sources);
  const space = createSpace([subject.loaded, cells.loaded], redirectExtras([subject]));
  if (space === null) return null;
  const around = { space, subject, plan: 0, lists: new Map() };
  const world = credentialWorld(known, gateways, null);
  const placed = placeGateways(around, divided, { cells, plan: 1, world });
  return { placed, stored: placed.filterOf(id), hasKey };
}

/** A request of a consumer whose response the cache rule stores for others; `null`: none was found. */
function sharedBy(
  { placed, stored, hasKey }: Sharing,
  { compiled, rule }: { readonly compiled: SubjectRule; readonly rule: CacheRule },
  total: StepBudget,
): Witness | null {
  const { around, world } = placed;
  const { space, subject } = around;
  const own = subject.ruleOf('cache', compiled.ref.id);
  const situations = own === null || stored === null ? null : situationsOf(around, own);
  const budget = shareOf(total, MAX_RULE_STEPS);
  for (const situation of situations ?? []) {
    const target = narrowed(space, situation.target, [stored!]);
    if (target === null) continue;
    const questions = placed.gateways.flatMap((one) =>
      questionsIn(placed, one, { ...situation, target }, (cell, credentials) => {
        const { consumer } = credentials;
        if (consumer === null || isAdmitted(one.gateway, cell, NONE)) return false;
        const isKeyless = sharesWith(one.gateway, rule, {
          registry: world.registry,
          hasKey: hasKey(consumer),
        });
        return isKeyless && isAdmitted(one.gateway, cell, credentials);
      }),
    );
    for (const { query, acme, credentials } of questions) {
      const found = findUncovered(query, space, budget);
      const point = found.kind === 'point' ? witnessOf(found.point, space, acme) : null;
      if (point === null) continue;
      const first = { ...point, status: null, identity: identityOf(credentials[0]!) };
      const witness = changedUntil(first, subject, (changed) =>
        tryDecision(subject, changed, ({ action, matches, cache }) => {
          const acts = matches.some(({ type, id }) => type === 'cache' && id === rule.id);
          return action === 'forward' && acts && cache?.mode === 'force';
        }),
      );
      if (witness !== null) return witness;
    }
  }
  return null;
}

/**
 * Whether requests may have the credentials of a consumer where neither the cache key has them nor the response needs the origin's
 * consent to be stored, as one to a request with `Authorization` does (RFC 9111 §3.5).
 */
function sharesWith(
  { auth }: GatewayRule,
  { query_mode, query_params }: CacheRule,
  { registry, hasKey }: { readonly registry: Registry; readonly hasKey: boolean },
): boolean {
  const isOutside = ({ in: place, name }: CredentialSource): boolean => {
    if (place === 'header') return name.toLowerCase() !== 'authorization';
    return (
      place === 'cookie' ||
      query_mode === 'none' ||
      (query_mode === 'include' && !query_params.includes(name))
    );
  };
  const issuers = registry.token_issuers.filter(({ name }) => auth.jwt?.issuers.includes(name) === true);
  const kinds = [
    ...(auth.api_key === undefined ? [] : [hasKey && auth.api_key.sources.some(isOutside)]),
    ...(auth.jwt === undefined ? [] : [issuers.some(({ sources }) => sources.some(isOutside))]),
    // A certificate is in no message.
    ...(auth.mtls === undefined ? [] : [true]),
  ];
  return auth.require === 'all' ? kinds.every(Boolean) : kinds.some(Boolean);
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
    message: `answers consumers of a gateway with responses to other consumers, since the cache key lacks their credentials, as to \`${requestText(witness)}\``,
    remedy: 'exclude the base path of the gateway, unless its responses are the same for every consumer',
  };
}
