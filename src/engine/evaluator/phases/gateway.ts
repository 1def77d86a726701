/**
 * Phase 4b: the first gateway that matches takes the request (semantics §15): it answers preflights and what it refuses, and admits
 * the rest with a consumer, whose usage plan counts it. The longest base path comes first.
 */
import { HEADERS_FIELDS, NONE, typeIndex } from '../../plan/layout.ts';
import { isFull } from '../../rate-counters/slots.ts';
import { nextCandidate, skipTo } from '../candidates.ts';
import type { RuleExplanation, RuleReason, Settled } from '../checks.ts';
import type { GatewayOutcome } from '../decision.ts';
import { EXEMPT, exemptionsOf, type Facts, isEdgeOwn } from '../facts.ts';
import {
  corsFields,
  type GatewayAnswer,
  isPreflight,
  preflightAnswer,
  refusalOf,
} from '../gateway-answers.ts';
import { type BodyFinding, octetsWanted } from '../gateway-bodies.ts';
import {
  bodyFinding,
  type CredentialsWanted,
  type GatewayVerdict,
  isWide,
  judgeRequest,
  type LoadedGateway,
  loadGateway,
  needsCertificate,
  refusalByOperation,
} from '../gateways.ts';
import { addRows, createSection } from '../header-changes.ts';
import { hideKeys } from '../hidden-keys.ts';
import { hostMatches } from '../predicates.ts';
import {
  acts,
  type Context,
  end,
  endPhase,
  isDryRun,
  nextMatch,
  phaseStart,
  type Run,
  record,
  refOf,
} from '../run.ts';
import {
  countOnce,
  exhaustedPlan,
  type GatewayPlace,
  neededSlot,
  noteState,
  throttlesOf,
} from '../usage-plans.ts';
import { BYPASS } from './cache.ts';

const GATEWAY = typeIndex('gateway');

/** Runs the phase; true when it ended the request. */
export function gateway(context: Context, run: Run): boolean {
  for (let slot = nextMatch(context, GATEWAY); slot >= 0; slot = nextMatch(context, GATEWAY)) {
    const verdict = context.admitsAll ? null : verdictOf(context, run, slot);
    record(context, run, slot, verdict === null || verdict.reason === 'admitted' ? 'admit' : 'respond');
    if (!acts(context, run, slot)) continue;
    endPhase(context, GATEWAY);
    run.exempt |= EXEMPT.admitted;
    return verdict !== null && settle(context, run, slot, verdict);
  }
  return false;
}

/** Whether a gateway is a candidate; skips the candidates before it. */
export function mayMatchGateway(context: Context): boolean {
  skipTo(context.candidates, phaseStart(context, GATEWAY));
  return nextCandidate(context.candidates, phaseStart(context, GATEWAY + 1)) >= 0;
}

/**
 * What the gateway of the request reads credentials by: the first that is enforced, else the first under dry_run. `null`: none
 * matches, or it reads none of this request.
 */
export function wantedCredentials(context: Context): CredentialsWanted | null {
  if ((exemptionsOf(context.facts) & EXEMPT.acme) !== 0 || isEdgeOwn(context.facts)) return null;
  let chosen = -1;
  for (let slot = nextMatch(context, GATEWAY); slot >= 0; slot = nextMatch(context, GATEWAY)) {
    if (chosen < 0) chosen = slot;
    if (isDryRun(context, slot)) continue;
    chosen = slot;
    break;
  }
  const { registry } = context.loaded;
  if (chosen < 0 || registry === null) return null;
  const own = gatewayAt(context, chosen);
  if (own.kinds.length === 0 || isAnsweredAnyway(own, context.facts)) return null;
  const issuers = own.issuers.flatMap((name) => registry.issuer(name) ?? []);
  return {
    apiKeySources: own.sources,
    issuers,
    clients: own.clients,
    needsCertificate: !isDryRun(context, chosen) && needsCertificate(own, context.facts),
    registry,
  };
}

/** Whether a gateway of the host of the facts takes client certificates, on any of its paths. */
export function takesCertificates(context: Context): boolean {
  const { facts, loaded } = context;
  for (let slot = phaseStart(context, GATEWAY); slot < phaseStart(context, GATEWAY + 1); slot++) {
    if (gatewayAt(context, slot).clients !== null && hostMatches(loaded, slot, facts)) return true;
  }
  return false;
}

/** The query parameters and cookies in which gateways of the plan take API keys or tokens. */
export function credentialParameters(context: Context): ReadonlySet<string> {
  const { registry } = context.loaded;
  const names = new Set<string>();
  for (let slot = phaseStart(context, GATEWAY); slot < phaseStart(context, GATEWAY + 1); slot++) {
    const { sources, issuers } = gatewayAt(context, slot);
    const ofIssuers = issuers.flatMap((name) => registry?.issuer(name)?.sources ?? []);
    for (const source of [...sources, ...ofIssuers]) if (source.in !== 'header') names.add(source.name);
  }
  return names;
}

/** Whether the gateway's answer is the same whatever the credentials are, so that none needs to be verified. */
function isAnsweredAnyway(own: LoadedGateway, facts: Facts): boolean {
  return isPreflight(own, facts) || refusalByOperation(own, facts) !== null;
}

/** What the gateway in a slot makes of the request, its usage plan included; counts the request once. */
function verdictOf(context: Context, run: Run, slot: number): GatewayVerdict {
  const verdict = judgedBy(context, slot);
  if (verdict.reason !== 'admitted') return verdict;
  const place = placeOf(context, slot);
  if (exhaustedPlan(context, place, verdict) !== null) return { ...verdict, reason: 'quota' };
  const needed = neededSlot(context, place, verdict);
  if (needed !== null && isFull(needed)) return { ...verdict, reason: 'concurrency' };
  const throttles = throttlesOf(context, place, verdict);
  if (throttles.length > 0) {
    const { breached, window } = countOnce(context, run, slot, throttles);
    if (breached) return { ...verdict, reason: 'throttled', byOperation: window?.ofOperation === true };
  }
  const body = bodyOnce(context, slot, verdict);
  return body === null ? verdict : { ...verdict, body, reason: body.blocks ? body.reason : 'admitted' };
}

/** What is wrong with the body of an admitted request, compared once. */
function bodyOnce(context: Context, slot: number, verdict: GatewayVerdict): BodyFinding | null {
  const own = gatewayAt(context, slot);
  // PERF: most gateways compare no bodies.
  if (own.validation === null) return null;
  const { bodies } = context.memo;
  const known = bodies.get(slot);
  if (known !== undefined) return known;
  const found = bodyFinding(own, verdict, context.facts);
  bodies.set(slot, found);
  return found;
}

/** Octets of body that the gateways of this request compare: the first one that acts, and dry_run ones before it. */
export function octetsOfGateway(context: Context): number {
  if (
    !isWide(context.loaded) ||
    (exemptionsOf(context.facts) & EXEMPT.acme) !== 0 ||
    isEdgeOwn(context.facts)
  )
    return 0;
  let wanted = 0;
  for (let slot = nextMatch(context, GATEWAY); slot >= 0; slot = nextMatch(context, GATEWAY)) {
    wanted = Math.max(wanted, octetsOf(context, slot));
    if (!isDryRun(context, slot)) return wanted;
  }
  return wanted;
}

function octetsOf(context: Context, slot: number): number {
  const { validation } = gatewayAt(context, slot);
  if (validation === null) return 0;
  const { operation, reason } = judgedBy(context, slot);
  const body = reason === 'admitted' && operation !== null ? validation.bodies[operation.index]! : null;
  return body === null ? 0 : octetsWanted(body);
}

function placeOf(context: Context, slot: number): GatewayPlace {
  return { slot, defaultPlan: gatewayAt(context, slot).plan };
}

/** The same before the usage plan. */
function judgedBy(context: Context, slot: number): GatewayVerdict {
  const { facts, loaded } = context;
  const own = gatewayAt(context, slot);
  if (isPreflight(own, facts)) return PREFLIGHT;
  return judgeRequest(loaded, own, facts);
}

const PREFLIGHT: GatewayVerdict = {
  reason: 'preflight',
  operation: null,
  consumer: null,
  failure: null,
  path: null,
  missing: [],
  byOperation: false,
  body: null,
};

/** The gateway in a slot, decoded at its first use. */
export function gatewayAt(context: Context, slot: number): LoadedGateway {
  const known = context.gateways.get(slot);
  if (known !== undefined) return known;
  const loaded = loadGateway(context.loaded, slot);
  context.gateways.set(slot, loaded);
  return loaded;
}

/** Writes the outcome; true when the gateway answers the request. */
function settle(context: Context, run: Run, slot: number, verdict: GatewayVerdict): boolean {
  const { facts } = context;
  const own = gatewayAt(context, slot);
  run.gateway = outcomeOf(own, verdict);
  run.gatewaySlot = slot;
  noteState(context, run, placeOf(context, slot), verdict);
  if (verdict.reason === 'preflight') return answer(context, run, slot, preflightAnswer(own, facts));
  const cors = corsFields(own, facts);
  if (verdict.reason === 'admitted') {
    if (cors.length > 0) run.responseHeaders = cors;
    run.needed = neededSlot(context, placeOf(context, slot), verdict);
    return false;
  }
  const refusal = refusalOf(own, verdict, facts);
  return answer(context, run, slot, { ...refusal, headers: [...refusal.headers, ...cors] });
}

function answer(context: Context, run: Run, slot: number, { status, body, headers }: GatewayAnswer): true {
  run.body = body;
  run.responseHeaders = headers;
  return end(run, 'respond', { status, rule: refOf(context, slot) });
}

function outcomeOf({ router, unknown }: LoadedGateway, verdict: GatewayVerdict): GatewayOutcome {
  const { operation, consumer, failure, body } = verdict;
  const isUnknown = router !== null && operation === null && unknown === 'log';
  // A request that is admitted all the same has its reason in the log.
  const logged = isUnknown ? 'unknown_operation' : (body?.reason ?? 'admitted');
  const reason = verdict.reason === 'admitted' ? logged : verdict.reason;
  return {
    reason,
    operation: operation === null ? null : operation.id || operation.path,
    consumer: consumer?.username ?? null,
    ...(failure === null ? {} : { failure }),
    ...(body === null || body.errors.length === 0 ? {} : { errors: body.errors }),
  };
}

/** What is left to do for a request that a gateway has admitted, once its origin is known. */
export function finishAdmitted(context: Context, run: Run): void {
  if (run.gatewaySlot < 0 || run.action !== 'forward') return;
  const own = gatewayAt(context, run.gatewaySlot);
  const section = createSection();
  // The visitor's keys are removed first: a change may set a header of the same name.
  if (own.hide) hideKeys(own, context.facts, run, section.changes);
  if (own.headers !== NONE) {
    const count = context.loaded.plan.words[own.headers + HEADERS_FIELDS.requests]!;
    addRows(context, run, { at: own.headers, first: 0, count }, section);
  }
  if (section.changes.length > 0) run.requestHeaders = section.changes;
  // As of a request with `Authorization` (RFC 9111 §3.5): stored for others only where a rule says so.
  if (run.gateway?.consumer !== null && run.cache?.mode !== 'force') run.cache = BYPASS;
}

/** What a trace says of gateways. */
export const gatewayExplanation: RuleExplanation = {
  reason: ({ context, rates }, slot) => reasonOf(context, rates, slot),
};

function reasonOf(context: Context, rates: Settled['rates'], slot: number): RuleReason {
  const verdict = judgedBy(context, slot);
  const { operation, consumer } = verdict;
  const what = operation === null ? 'no operation' : `operation ${operation.id || operation.path}`;
  const who = consumer === null ? 'without a consumer' : `consumer ${consumer.username}`;
  switch (verdict.reason) {
    case 'preflight':
      return { code: 'preflight', text: 'it answers preflights' };
    case 'unknown_operation':
      return { code: 'unknown_operation', text: 'no operation has this path' };
    case 'method_not_allowed':
      return {
        code: 'method_not_allowed',
        text: `the path has ${[...verdict.path!.keys()].join(', ')} only`,
      };
    case 'credentials':
      return { code: 'credentials', text: `${what}, credentials: ${failureText(verdict)}` };
    case 'consumer_disabled':
      return { code: 'consumer_inactive', text: `${who} is disabled` };
    case 'consumer_expired':
      return { code: 'consumer_inactive', text: `${who} has expired` };
    case 'acl':
      return { code: 'not_in_acl', text: `${what} is not in the acl of ${who}` };
    case 'scopes':
      return {
        code: 'scope_missing',
        text: `${what}, ${who}: without the scope ${verdict.missing.join(', ')}`,
      };
    default: {
      if (verdict.reason === 'admitted' && exhaustedPlan(context, placeOf(context, slot), verdict) !== null) {
        return { code: 'quota_exhausted', text: `${what}, ${who}: the quota of its usage plan is exhausted` };
      }
      const needed = neededSlot(context, placeOf(context, slot), verdict);
      if (verdict.reason === 'admitted' && needed !== null && isFull(needed)) {
        return { code: 'over_concurrency', text: `${what}, ${who}: too many requests in flight` };
      }
      const result = rates.get(slot);
      if (result?.breached === true) {
        const over = result.window?.ofOperation === true ? '`limits` of the operation' : 'the usage plan';
        return { code: 'over_limit', text: `${what}, ${who}: over ${over}` };
      }
      return bodyReason(bodyOnce(context, slot, verdict), `${what}, ${who}`);
    }
  }
}

/** What is wrong with a body, whether it is refused or logged. */
function bodyReason(found: BodyFinding | null, who: string): RuleReason {
  if (found === null) return { code: 'admitted', text: who };
  const { reason, blocks, errors } = found;
  const places = errors.map(({ pointer, detail }) => `${pointer} ${detail}`).join('; ');
  const text = `${who}: ${BODY_TEXTS[reason]}${places === '' ? '' : `: ${places}`}`;
  return { code: reason, text: blocks ? text : `${text}, which is logged` };
}

const BODY_TEXTS = {
  content_type: 'the operation does not take the media type of the body',
  body_too_large: 'the body is longer than `body_cap_kb`',
  body_uninspected: 'the body cannot be read whole',
  body_invalid: 'the body is not valid',
} as const;

function failureText({ failure }: GatewayVerdict): string {
  return (failure ?? 'missing').replaceAll('_', ' ');
}
