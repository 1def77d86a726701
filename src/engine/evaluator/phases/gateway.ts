/**
 * Phase 4b: the first gateway that matches takes the request (semantics §15): it answers preflights and what it refuses, and admits
 * the rest with a consumer, whose usage plan counts it. The longest base path comes first.
 */
import { decodeEscapes } from '../../../base/octets/octets.ts';
import type { CredentialPlace } from '../../../base/vocabulary/vocabulary.ts';
import { HEADERS_FIELDS, META, NONE, typeIndex } from '../../plan/layout.ts';
import type { RuleExplanation, RuleReason, Settled } from '../checks.ts';
import { counterSpace, type RateKey, type RateResult, type RateWindow } from '../counters.ts';
import type { GatewayOutcome, HeaderChange } from '../decision.ts';
import { EXEMPT, type Facts, ipOf } from '../facts.ts';
import {
  corsFields,
  type GatewayAnswer,
  isPreflight,
  preflightAnswer,
  refusalOf,
} from '../gateway-answers.ts';
import { type GatewayVerdict, judgeRequest, type LoadedGateway, loadGateway } from '../gateways.ts';
import { addRows, createSection } from '../header-changes.ts';
import { textOf } from '../loaded.ts';
import { planName } from '../rate-outcomes.ts';
import { acts, type Context, end, endPhase, isDryRun, nextMatch, type Run, record, refOf } from '../run.ts';
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

/** What the gateway in a slot makes of the request, its usage plan included; counts the request once. */
function verdictOf(context: Context, run: Run, slot: number): GatewayVerdict {
  const verdict = judgedBy(context, slot);
  if (verdict.reason !== 'admitted') return verdict;
  const throttle = throttleOf(context, slot, verdict);
  return throttle !== null && count(context, run, slot, throttle).breached
    ? { ...verdict, reason: 'throttled' }
    : verdict;
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
  noteState(context, run, slot, verdict);
  const cors = corsFields(own, facts);
  if (verdict.reason === 'admitted') {
    if (cors.length > 0) run.responseHeaders = cors;
    return false;
  }
  if (verdict.reason === 'preflight') return answer(context, run, slot, preflightAnswer(own, facts));
  const refusal = refusalOf(own, verdict, facts);
  return answer(context, run, slot, { ...refusal, headers: [...refusal.headers, ...cors] });
}

function answer(context: Context, run: Run, slot: number, { status, body, headers }: GatewayAnswer): true {
  run.body = body;
  run.responseHeaders = headers;
  return end(run, 'respond', { status, rule: refOf(context, slot) });
}

function outcomeOf({ router, unknown }: LoadedGateway, verdict: GatewayVerdict): GatewayOutcome {
  const { operation, consumer, failure } = verdict;
  const isUnknown = router !== null && operation === null && unknown === 'log';
  // A request that is admitted all the same has its reason in the log.
  const reason = verdict.reason === 'admitted' && isUnknown ? 'unknown_operation' : verdict.reason;
  return {
    reason,
    operation: operation === null ? null : operation.id || operation.path,
    consumer: consumer?.username ?? null,
    ...(failure === null ? {} : { failure }),
  };
}

/** What is left to do for a request that a gateway has admitted, once its origin is known. */
export function finishAdmitted(context: Context, run: Run): void {
  if (run.gatewaySlot < 0 || run.action !== 'forward') return;
  const own = gatewayAt(context, run.gatewaySlot);
  const section = createSection();
  if (own.headers !== NONE) {
    const count = context.loaded.plan.words[own.headers + HEADERS_FIELDS.requests]!;
    addRows(context, run, { at: own.headers, first: 0, count }, section);
  }
  if (own.hide) hideKeys(own, context.facts, run, section.changes);
  if (section.changes.length > 0) run.requestHeaders = section.changes;
  // As of a request with `Authorization` (RFC 9111 §3.5): stored for others only where a rule says so.
  if (run.gateway?.consumer !== null && run.cache?.mode !== 'force') run.cache = BYPASS;
}

// Keys that the origin does not get.

/** Removes the places of API keys from the request. */
function hideKeys({ sources }: LoadedGateway, facts: Facts, run: Run, changes: HeaderChange[]): void {
  const cookies = namesIn(sources, 'cookie');
  const parameters = namesIn(sources, 'query');
  for (const name of namesIn(sources, 'header')) changes.push({ op: 'remove', name, value: null });
  if (cookies.length > 0) {
    const rest = otherCookies(facts, cookies);
    changes.push(
      rest === ''
        ? { op: 'remove', name: 'cookie', value: null }
        : { op: 'set', name: 'cookie', value: rest },
    );
  }
  if (parameters.length > 0 && run.query !== null) run.query = otherParameters(run.query, parameters);
}

function namesIn(sources: LoadedGateway['sources'], place: CredentialPlace): readonly string[] {
  return sources.filter((source) => source.in === place).map(({ name }) => name);
}

/** The cookies of other names, as they were sent. */
function otherCookies({ request }: Facts, names: readonly string[]): string {
  const given: unknown = request.headers?.['cookie'];
  const lines = (Array.isArray(given) ? given : [given]).filter((line) => typeof line === 'string');
  return lines
    .join('; ')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '' && !names.includes(nameOf(pair)))
    .join('; ');
}

/** The parameters of other names, as they were sent; `null`: none is left. */
function otherParameters(query: string, names: readonly string[]): string | null {
  const pairs = query
    .split('&')
    .filter((pair) => !names.includes(decodeEscapes(nameOf(pair).replaceAll('+', ' '))));
  return pairs.length === 0 ? null : pairs.join('&');
}

function nameOf(pair: string): string {
  const equals = pair.indexOf('=');
  return (equals < 0 ? pair : pair.slice(0, equals)).trim();
}

// Usage plans: each consumer has its own count of a plan, over all gateways of the domain.

/** A usage plan with the key that a request counts under. */
interface Throttle {
  readonly window: RateWindow;
  readonly key: RateKey;
  readonly name: string;
}

/** The usage plan of a request that is admitted so far; `null`: none limits it. */
function throttleOf(context: Context, slot: number, { consumer }: GatewayVerdict): Throttle | null {
  const { facts, loaded } = context;
  const name = consumer?.usagePlan ?? gatewayAt(context, slot).plan;
  const throttle = name === '' ? null : (loaded.registry?.usagePlan(name)?.throttle ?? null);
  if (throttle === null) return null;
  const domain = textOf(loaded, loaded.plan.meta[META.domain]!);
  const mode = isDryRun(context, slot) ? 'dry_run ' : '';
  const window: RateWindow = {
    space: counterSpace(`${mode}${domain} usage plan ${name}`),
    slot: consumer === null ? 1 : 0,
    capacity: throttle.rate + throttle.burst,
    doubled: false,
    windowMs: throttle.per_sec * 1000,
    perPath: false,
    isFree: true,
    // The name of a consumer is the key, whatever the address is.
    ...(consumer === null ? {} : { parts: counterSpace('consumer'), shared: true }),
  };
  const key: RateKey = {
    family: ipOf(facts) as 0 | 4 | 6,
    words: facts.ipWords,
    path: consumer?.username ?? '',
  };
  return { window, key, name };
}

/** Counts the request once, unless its plan refuses it; the shadow reads what the real run has counted. */
function count(context: Context, run: Run, slot: number, { window, key }: Throttle): RateResult {
  const known = context.memo.rates.get(slot);
  if (known !== undefined) return known;
  const { counters, facts } = context;
  const out = { breached: false, count: 0, retryAfter: 0 };
  counters.peek(window, key, facts.now, window.capacity, out);
  const counts = !run.shadow || isDryRun(context, slot);
  if (!out.breached && counts) counters.hit(window, key, facts.now, window.capacity, out);
  context.memo.rates.set(slot, out);
  return out;
}

/** Adds the state of the usage plan to those that the response states. */
function noteState(context: Context, run: Run, slot: number, verdict: GatewayVerdict): void {
  const result = context.memo.rates.get(slot);
  if (result === undefined || (verdict.reason !== 'admitted' && verdict.reason !== 'throttled')) return;
  const { window, name } = throttleOf(context, slot, verdict)!;
  const windowSec = window.windowMs / 1000;
  const { breached, retryAfter } = result;
  const state = {
    name: planName(name),
    quota: window.capacity,
    windowSec,
    remaining: Math.max(0, window.capacity - result.count),
    resetSec: breached ? retryAfter : windowSec,
  };
  run.isOverLimit = breached;
  if (breached) run.retryAfter = retryAfter;
  run.rateStates = breached ? [state] : [...(run.rateStates ?? []), state];
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
      const result = rates.get(slot);
      const over = result?.breached === true;
      if (over) return { code: 'over_limit', text: `${what}, ${who}: over the usage plan` };
      return { code: 'admitted', text: `${what}, ${who}` };
    }
  }
}

function failureText({ failure }: GatewayVerdict): string {
  return (failure ?? 'missing').replaceAll('_', ' ');
}
