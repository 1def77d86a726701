/**
 * Opens a sealed plan as an evaluator. In: a request as the embedder saw it. Out: a decision, always; `evaluate` never
 * throws. For each request the gate reads the facts (`facts.ts`), the indexes give the candidates (`candidates.ts`), and
 * the phases of semantics §4 (`phases.ts`) make the decision or its trace (`explain.ts`).
 */
import {
  checkOptions,
  FLAG,
  FUNCTION,
  hasFunctions,
  type OptionKind,
  type OptionKinds,
  octetsOf,
} from '../../base/diagnostics/options.ts';
import { DEFAULT_CAPTCHA_TTL_SEC } from '../../base/vocabulary/limits.ts';
import {
  CAPTCHA_FIELDS,
  META,
  type Plan,
  phaseStart,
  RATE_FIELDS,
  SLOT,
  typeIndex,
  WIDE_GATEWAYS,
} from '../plan/layout.ts';
import { openPlan } from '../plan/seal.ts';
import { type Counters, createCounters } from '../rate-counters/counters.ts';
import type { WafProgram } from '../waf/request/inspection.ts';
import { createCandidates, gather } from './candidates.ts';
import type { Decision, ErrorPageAnswer, RuleRef } from './decision.ts';
import { type EdgeSettings, readEdgeSettings } from './edge-settings.ts';
import { explainDecision, explainUnread } from './explain.ts';
import { createFacts, type FactsInput, readFacts, releaseRequest, servesNow } from './facts.ts';
import { type CredentialsWanted, isWide } from './gateways.ts';
import { createLoaded, isMonitored, type LoadedPlan, servedHosts, textOf } from './loaded.ts';
import type { ErrorResponse } from './phases/error-page.ts';
import { credentialParameters, takesCertificates } from './phases/gateway.ts';
import {
  bodyWantedOf,
  credentialsOf,
  decide,
  decideErrorPage,
  hasRules,
  lastStepOf,
  type Runs,
  refusal,
  stepsOf,
  tagAgain,
} from './phases.ts';
import { type FindList, listsOfPlan, registryOfPlan } from './plan-parts.ts';
import {
  countResponse,
  needsSlot,
  type RateLimitFields,
  rateLimitFields,
  takeSlot,
} from './rate-outcomes.ts';
import type { EdgeRequest } from './request.ts';
import { type Context, createRun, type Memo, type OriginStates } from './run.ts';
import type { Trace } from './trace.ts';

// How long a solved challenge stays valid: as the challenging rule sets it (semantics §5 captcha, rate_limit).

/** Seconds; the default for types without a lifetime of their own, and for rules that the plan does not have. */
function clearanceSec(loaded: LoadedPlan, { type, id }: RuleRef): number {
  if (type !== 'captcha' && type !== 'rate_limit') return DEFAULT_CAPTCHA_TTL_SEC;
  const { slots, words } = loaded.plan;
  const field = type === 'captcha' ? CAPTCHA_FIELDS.ttl : RATE_FIELDS.window;
  const end = phaseStart(loaded.plan, typeIndex(type) + 1);
  // A linear search: it runs once a challenge, which costs far more than reading each rule of one type.
  for (let slot = phaseStart(loaded.plan, typeIndex(type)); slot < end; slot++) {
    if (slots[slot * SLOT.size + SLOT.id] === id)
      return words[slots[slot * SLOT.size + SLOT.fields]! + field]!;
  }
  return DEFAULT_CAPTCHA_TTL_SEC;
}

/** What an evaluator is connected to; every field has a default. */
export interface EvaluatorOptions {
  /** Rate counters; one object may serve several evaluators of a process. Default: a new one. */
  readonly counters?: Counters;
  /** Milliseconds since the epoch, for requests that carry no `now`. Default: `Date.now`. */
  readonly clock?: () => number;
  /** Seeds the hash of the default counters; numbers in [0, 1). Default: the platform's secure source. */
  readonly random?: () => number;
  /**
   * The signature program of `waf` rules, loaded by `loadSignatures` of `edgeplan/fetch` or `edgeplan/node`; without one
   * they match with the effect `unavailable`.
   */
  readonly waf?: WafProgram | null;
  /** Health and load of pool origins. Default: all healthy, none busy. */
  readonly origins?: OriginStates;
  /** This node's id, for geo pools. */
  readonly nodeId?: number | null;
  /**
   * Receives what was thrown while a request was evaluated: a bug, or a fault of an option (clock, counters, waf,
   * origins). The request is refused with 500 in any case; what `onFault` itself throws is ignored. Default:
   * `console.error`.
   */
  readonly onFault?: (error: unknown) => void;
  /**
   * The lists and the registry that the plan refers to by digest (SHA-256 of the sealed form, 64 lower-case hex digits), opened by
   * `openPlanPart`; `null`: it is not there, and the plan is refused. Default: none, for plans that contain theirs.
   */
  readonly lists?: FindList;
  /**
   * Every gateway admits the requests that it matches, whatever their operations and credentials: for analyses that leave these
   * open. Never at an edge. Default `false`.
   */
  readonly admitsAll?: boolean;
  /** Skips the checksum of bytes that this process has checked before; see `openPlan`. */
  readonly trusted?: boolean;
}

/** The evaluator of one domain's plan. */
export interface Evaluator {
  /** The domain's name. */
  readonly domain: string;
  /** The plan's revision. */
  readonly revision: number;
  /** The domain's settings that shape answers rather than decisions; read once. */
  settings(): EdgeSettings;
  /** Seconds for which a solved challenge of this rule or record stays valid (semantics §5). */
  clearanceSec(challenger: RuleRef): number;
  /** Hosts that proxied records serve, at most so many; `*.` before a name: all below it. Empty: the domain serves none now. */
  hosts(most: number): readonly string[];
  /** Whether requests to a host count for its uptime: one of its records has `monitor: true`. `host`: in lower case, no port. */
  monitors(host: string): boolean;
  /**
   * The request's outcome. Synchronous; never throws, whatever the request holds.
   * @example
   * ```ts
   * import type { Evaluator } from 'edgeplan/evaluator';
   *
   * function statusFor(evaluator: Evaluator, path: string, ip: string): number | null {
   *   const request = { scheme: 'https', method: 'GET', host: 'shop.example.com', target: path, headers: {}, ip };
   *   const decision = evaluator.evaluate(request);
   *   return decision.action === 'forward' ? null : decision.status;
   * }
   * ```
   */
  evaluate(request: EdgeRequest): Decision;
  /**
   * Decides as `evaluate` does (counters advance), and reports every phase, rule and check. Never throws.
   * @example
   * ```ts
   * import type { EdgeRequest, Evaluator } from 'edgeplan/evaluator';
   *
   * function reasons(evaluator: Evaluator, request: EdgeRequest): string[] {
   *   const { phases } = evaluator.explain(request);
   *   return phases.flatMap(({ rules }) =>
   *     rules.map(({ type, id, reason }) => `${type} ${id}: ${reason.text}`),
   *   );
   * }
   * ```
   */
  explain(request: EdgeRequest): Trace;
  /** What the gateway of the request reads credentials by; `null`: none reads them. Never throws. */
  credentialsWanted(request: EdgeRequest): CredentialsWanted | null;
  /**
   * Whether a gateway of a host takes client certificates, which a TLS server has to ask for in the handshake. `host`: in lower case,
   * without a port. Never throws.
   */
  wantsCertificate(host: string): boolean;
  /** The query parameters and cookies in which gateways take API keys or tokens: logs must not have their values. Read once. */
  credentialParameters(): ReadonlySet<string>;
  /** Octets of the body that a rule would inspect; 0: no need to buffer the body. Never throws. */
  bodyWanted(request: EdgeRequest): number;
  /** The page for an error status, once the response is known. Never throws. */
  errorPage(request: EdgeRequest, status: number, madeBy: 'edge' | 'origin'): ErrorPageAnswer;
  /**
   * The fields by which the response states rate limits: of the rule that refused or challenged, and of those with `headers: true`
   * if the request is forwarded; `null`: none. Takes what `evaluate` returned, no copy of it.
   * @example
   * ```ts
   * import type { Decision, Evaluator } from 'edgeplan/evaluator';
   *
   * function addLimits(evaluator: Evaluator, decision: Decision, headers: Headers): void {
   *   const fields = evaluator.rateLimitFields(decision);
   *   if (fields === null) return;
   *   headers.append('RateLimit-Policy', fields.policy);
   *   headers.append('RateLimit', fields.limit);
   * }
   * ```
   */
  rateLimitFields(decision: Decision): RateLimitFields | null;
  /**
   * Counts the request under rate limits with `count_statuses` that list the status of the response, which may be the origin's or
   * the edge's. To be called once for each decision, as soon as the status is known; a second call counts nothing. Takes what
   * `evaluate` returned, no copy of it. Never throws.
   */
  countResponse(decision: Decision, status: number): void;
  /** Whether the usage plan of a forwarded request limits how many requests of its consumer are in flight. */
  needsSlot(decision: Decision): boolean;
  /**
   * Counts a forwarded request as in flight until the result is called, which has to be when its response has ended or its connection
   * has closed; a second call of it has no effect. `null`: no usage plan limits it. To be called right after `evaluate`, before another
   * request is decided, and once. Without it no request is in flight, and none is refused for it. Takes what `evaluate` returned, no copy.
   */
  takeSlot(decision: Decision): (() => void) | null;
}

/**
 * The scratch memory of a request, shared by all evaluators of the process, which decide one request at a time.
 * PERF: a node has thousands of evaluators, and the memory of the last request is still in the processor's cache.
 * INVARIANT: what an embedder supplies (signatures, origin states, counters, clock) must not call an evaluator.
 */
const SCRATCH = {
  facts: createFacts(),
  runs: { real: createRun(false), shadow: createRun(true) } satisfies Runs,
  memo: { bodies: new Map(), rates: new Map(), wafs: new Map(), picks: new Map(), pending: null } as Memo,
} as const;

const HOW_TO_SEAL = 'read a file of `edgeplan compile -o`, or give what `seal` returned';
const ALWAYS_UP: OriginStates = { healthy: () => true, inFlight: () => 0 };
const NO_REQUEST: EdgeRequest = { scheme: '', method: '', host: '', target: '' };
const NO_PAGE: ErrorPageAnswer = Object.freeze({ page: null, matches: Object.freeze([]), shadow: null });

/** One evaluator's state. */
interface State {
  readonly context: Context;
  readonly input: FactsInput;
}

/** Kinds of objects with these functions. */
const objectWith = (...names: readonly string[]): OptionKind => ({
  what: `an object with ${names.join(' and ')}`,
  is: (value) => hasFunctions(value, names),
});

const OPTIONS: OptionKinds<EvaluatorOptions> = {
  counters: objectWith('hit', 'peek'),
  clock: FUNCTION,
  random: FUNCTION,
  waf: {
    what: 'a loaded signature program (`loadSignatures` of edgeplan/fetch and edgeplan/node makes one) or `null`',
    is: (value) => value === null || hasFunctions(value, ['inspect', 'has']),
  },
  origins: objectWith('healthy', 'inFlight'),
  nodeId: { what: 'a number or `null`', is: (value) => value === null || typeof value === 'number' },
  onFault: FUNCTION,
  lists: FUNCTION,
  admitsAll: FLAG,
  trusted: FLAG,
};

/**
 * Opens a sealed plan and returns its evaluator. The bytes must not change afterwards.
 * @throws PlanFault when the bytes are not a plan that this build reads; TypeError when they are no bytes, or naming an
 * option that is unknown or of a wrong kind
 * @example
 * ```ts
 * import { readFile } from 'node:fs/promises';
 * import { createCounters, loadPlan } from 'edgeplan/evaluator';
 *
 * const counters = createCounters(); // one for all plans of the process
 * const evaluator = loadPlan(await readFile('example.com.edgeplan'), { counters });
 * console.log(evaluator.domain, evaluator.revision);
 * ```
 */
export function loadPlan(bytes: Uint8Array | ArrayBuffer, options: EvaluatorOptions = {}): Evaluator {
  const octets = octetsOf(bytes, 'loadPlan takes a sealed plan, a Uint8Array or an ArrayBuffer', HOW_TO_SEAL);
  checkOptions('loadPlan', options, OPTIONS);
  const { plan, revision } = openPlan(octets, { trusted: options.trusted === true });
  const loaded = createLoaded(plan, revision, {
    lists: listsOfPlan(plan, options),
    registry: registryOfPlan(plan, options),
  });
  const state: State = {
    context: createContext(plan, loaded, options),
    input: { loaded, known: new Map(), clock: options.clock ?? Date.now },
  };
  let settings: EdgeSettings | null = null;
  let parameters: ReadonlySet<string> | null = null;
  return {
    domain: textOf(loaded, plan.meta[META.domain]!),
    revision,
    settings: () => {
      settings ??= readEdgeSettings(loaded);
      return settings;
    },
    hosts: (most) => (servesNow(plan) ? servedHosts(loaded, most) : []),
    monitors: (host) => isMonitored(loaded, host),
    clearanceSec: (challenger) => clearanceSec(loaded, challenger),
    evaluate: (request) => evaluate(state, request),
    explain: (request) => explain(state, request),
    // PERF: facts are read for plans with gateways alone.
    credentialsWanted: hasRules(plan, { types: ['gateway'] })
      ? (request) => credentialsWanted(state, request)
      : () => null,
    wantsCertificate:
      (plan.meta[META.switches]! & WIDE_GATEWAYS) === 0
        ? () => false
        : (host) => wantsCertificate(state, host),
    credentialParameters: () => {
      parameters ??= credentialParameters(state.context);
      return parameters;
    },
    bodyWanted: (request) => bodyWanted(state, request),
    errorPage: (request, status, madeBy) => errorPageOf(state, request, { status, madeBy }),
    rateLimitFields,
    needsSlot,
    takeSlot,
    countResponse: (decision, status) => {
      try {
        countResponse(decision, status);
      } catch (error) {
        state.context.reportFault(error);
      }
    },
  };
}

function createContext(plan: Plan, loaded: LoadedPlan, options: EvaluatorOptions): Context {
  const { counters, random } = options;
  const onFault = options.onFault ?? faultPrinter(textOf(loaded, plan.meta[META.domain]!));
  return {
    loaded,
    steps: stepsOf(plan),
    lastStep: lastStepOf(plan),
    facts: SCRATCH.facts,
    candidates: createCandidates(loaded),
    counters: counters ?? createCounters(random === undefined ? {} : { random }),
    windows: new Map(),
    planWindows: new Map(),
    waf: options.waf ?? null,
    reportFault: (error) => reportFault(onFault, error),
    origins: options.origins ?? ALWAYS_UP,
    nodeId: options.nodeId ?? null,
    pools: new Map(),
    gateways: new Map(),
    admitsAll: options.admitsAll ?? false,
    keyedNames: new Map(),
    turns: new Map(),
    memo: SCRATCH.memo,
  };
}

/** Prints faults where the platform has a console. */
function faultPrinter(domain: string): (error: unknown) => void {
  const { console } = globalThis as { console?: { error(...values: readonly unknown[]): void } };
  return (error) => console?.error(`edgeplan: a decision of ${domain}:`, error);
}

/** Reports a fault to the embedder; an `onFault` that throws must not turn a decision into an exception. */
function reportFault(onFault: (error: unknown) => void, error: unknown): void {
  try {
    onFault(error);
  } catch {
    // There is no second place to report to.
  }
}

/** Reads the facts of a request and gathers its candidates; the status it is refused with at the gate, or 0. */
function enter({ context, input }: State, request: EdgeRequest): number {
  const refused = readFacts(context.facts, isObject(request) ? request : NO_REQUEST, input);
  if (refused === 0) gather(context.candidates, context.facts);
  return refused;
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

/** Fails closed: a bug here, or in what the embedder supplies, must not let a request bypass its rules. */
function evaluate(state: State, request: EdgeRequest): Decision {
  const { context } = state;
  const { revision } = context.loaded;
  try {
    const refused = enter(state, request);
    return refused === 0 ? decide(context, SCRATCH.runs) : refusal(refused, revision);
  } catch (error) {
    context.reportFault(error);
    return refusal(500, revision);
  } finally {
    releaseRequest(context.facts);
  }
}

function explain(state: State, request: EdgeRequest): Trace {
  const { context } = state;
  const decision = evaluate(state, request);
  try {
    const rates = new Map(context.memo.rates);
    const refused = enter(state, request);
    if (refused === 0) tagAgain(context, SCRATCH.runs.real);
    return explainDecision(context, { decision, refused, rates });
  } catch (error) {
    context.reportFault(error);
    return explainUnread(decision);
  } finally {
    releaseRequest(context.facts);
  }
}

function credentialsWanted(state: State, request: EdgeRequest): CredentialsWanted | null {
  const { context } = state;
  try {
    return enter(state, request) === 0 ? credentialsOf(context, SCRATCH.runs) : null;
  } catch (error) {
    context.reportFault(error);
    return null;
  } finally {
    releaseRequest(context.facts);
  }
}

function wantsCertificate(state: State, host: string): boolean {
  const { context } = state;
  try {
    const request = { scheme: 'https', method: 'GET', host, target: '/' };
    return enter(state, request) === 0 && takesCertificates(context);
  } catch (error) {
    context.reportFault(error);
    return false;
  } finally {
    releaseRequest(context.facts);
  }
}

function bodyWanted(state: State, request: EdgeRequest): number {
  const { context } = state;
  try {
    if ((context.waf === null && !isWide(context.loaded)) || enter(state, request) !== 0) return 0;
    return bodyWantedOf(context, SCRATCH.runs);
  } catch (error) {
    context.reportFault(error);
    return 0;
  } finally {
    releaseRequest(context.facts);
  }
}

function errorPageOf(state: State, request: EdgeRequest, response: ErrorResponse): ErrorPageAnswer {
  const { context } = state;
  try {
    const isError = response.status >= 400 && response.status <= 599;
    if (!isError || enter(state, request) !== 0) return NO_PAGE;
    return decideErrorPage(context, SCRATCH.runs, response);
  } catch (error) {
    context.reportFault(error);
    return NO_PAGE;
  } finally {
    releaseRequest(context.facts);
  }
}
