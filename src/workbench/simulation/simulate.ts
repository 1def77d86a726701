/**
 * Simulates one request against a sealed plan. Input: the plan's bytes, exactly as an edge receives them, and a
 * request. Output: the trace document. Counters are as the conditions say, clock and random numbers are fixed, so the
 * same input always gives the same document (except its timing).
 */
import type { Decision, ErrorPageAnswer } from '../../engine/evaluator/decision.ts';
import { type Evaluator, loadPlan } from '../../engine/evaluator/index.ts';
import type { FindList } from '../../engine/evaluator/plan-parts.ts';
import type { EdgeRequest } from '../../engine/evaluator/request.ts';
import type { PhaseTrace, RuleTrace, Trace } from '../../engine/evaluator/trace.ts';
import type { WafProgram } from '../../engine/waf/request/inspection.ts';
import type { RuleSet } from '../../rules/model/types.ts';
import { assumptionsOf, countersAfter, type World, withAssumptions } from './conditions.ts';
import { cacheDocument, factsDocument, inspectionDocument } from './decision-document.ts';
import {
  actingRule,
  authorKey,
  headline,
  originUrl,
  type RuleSources,
  shownEffect,
  wouldHave,
} from './describe.ts';
import {
  type Effective,
  type ErrorPageNote,
  isAside,
  type PhaseNote,
  type PlanNote,
  type RequestNote,
  type RuleNote,
  type SignaturesNote,
  TRACE_FORMAT,
  type TraceDocument,
} from './document.ts';
import { withGenericBot } from './generic-bot.ts';

/** The signatures that `waf` rules inspect with. */
export interface Signatures extends SignaturesNote {
  readonly waf: WafProgram;
}

/** A sealed plan with what is known of its source. */
export interface SimulationSubject {
  readonly bytes: Uint8Array;
  /** `sha256:` and 64 hex digits. */
  readonly digest: string;
  /** The name of the file. */
  readonly name: string;
  /** Keys and places of rules; empty for a sealed plan. */
  readonly sources: RuleSources;
  /** `null` when the file is a sealed plan. */
  readonly ruleSet: RuleSet | null;
  /** Absent or `null`: none, so `waf` rules do not inspect. */
  readonly signatures?: Signatures | null;
  /** The lists that the plan names by digest; absent: it names none. */
  readonly lists?: FindList;
}

/** A request with the conditions to simulate it under. */
export interface SimulatedRequest {
  readonly request: EdgeRequest;
  readonly url: string;
  readonly world: World;
  /** The status that the origin or the edge answers with, to show the error page. */
  readonly response?: { readonly status: number; readonly madeBy: 'edge' | 'origin' } | undefined;
  /** A monotonic clock in milliseconds; absent: no time is measured. */
  readonly stopwatch?: (() => number) | undefined;
}

/**
 * An evaluator with a fixed clock, random number and origin health. A request without a body is evaluated as one
 * with an empty body.
 */
export function fixedEvaluator({ bytes, signatures, lists }: SimulationSubject, world: World): Evaluator {
  const down = new Set(world.down);
  const { counted } = world;
  const evaluator: Evaluator = loadPlan(bytes, {
    ...(lists === undefined ? {} : { lists }),
    ...(counted === undefined ? {} : { counters: countersAfter(counted, () => evaluator.domain) }),
    clock: () => world.now,
    random: () => 0,
    nodeId: world.nodeId,
    waf: signatures?.waf ?? null,
    origins: { healthy: (pool, origin) => !down.has(`${pool}/${origin}`), inFlight: () => 0 },
  });
  return {
    ...evaluator,
    evaluate: (request) => evaluator.evaluate(withAssumptions(request)),
    explain: (request) => evaluator.explain(withAssumptions(request)),
  };
}

/** The request with the bot that the node's classifier would find, and whether that is a `generic-bot`. */
export function classified(
  subject: SimulationSubject,
  { request, world }: SimulatedRequest,
): { readonly request: EdgeRequest; readonly generic: boolean } {
  const completed = withGenericBot(request, (bare) =>
    fixedEvaluator({ ...subject, signatures: null }, world).explain(bare),
  );
  return { request: completed, generic: completed !== request };
}

/** The error page of one status. */
interface PageForStatus {
  readonly status: number;
  readonly madeBy: 'edge' | 'origin';
  readonly answer: ErrorPageAnswer;
}

/**
 * The error page: of the given status for a forwarded request, of the decision's own status for a block; else
 * `null`.
 */
function pageFor(evaluator: Evaluator, trace: Trace, asked: SimulatedRequest): PageForStatus | null {
  const { action, status } = trace.decision;
  const response =
    action === 'forward'
      ? asked.response
      : action === 'block' && status !== null
        ? { status, madeBy: 'edge' as const }
        : undefined;
  if (response === undefined) return null;
  return { ...response, answer: evaluator.errorPage(asked.request, response.status, response.madeBy) };
}

/** Timed runs, and the time after which no further one starts. */
const WARM_RUNS = 200;
const MAX_MEASURE_MS = 20;

/** The median time of warm runs on a separate evaluator, in microseconds with one decimal. */
function measure(subject: SimulationSubject, asked: SimulatedRequest): number | null {
  const { stopwatch, world } = asked;
  // With counts of requests before, most of the time would be theirs.
  if (stopwatch === undefined || world.counted !== undefined) return null;
  const evaluator = fixedEvaluator(subject, world);
  const start = stopwatch();
  const times: number[] = [];
  let last = start;
  while (times.length < WARM_RUNS && last - start < MAX_MEASURE_MS) {
    const before = stopwatch();
    evaluator.evaluate(asked.request);
    last = stopwatch();
    times.push(last - before);
  }
  times.sort((left, right) => left - right);
  return Math.round((times[times.length >> 1] ?? 0) * 10_000) / 10;
}

/** Simulates one request. @throws PlanFault when the bytes are not a plan */
export function simulate(subject: SimulationSubject, given: SimulatedRequest): TraceDocument {
  const { request, generic } = classified(subject, given);
  const asked = { ...given, request };
  const evaluator = fixedEvaluator(subject, asked.world);
  const trace = evaluator.explain(request);
  return traceDocument({
    trace,
    plan: {
      version: evaluator.revision,
      digest: subject.digest,
      domain: evaluator.domain,
      source: subject.name,
    },
    request,
    url: asked.url,
    world: asked.world,
    sources: subject.sources,
    ruleSet: subject.ruleSet,
    signatures: subject.signatures ?? null,
    genericBot: generic,
    errorPage: pageFor(evaluator, trace, asked),
    evaluateUs: measure(subject, asked),
  });
}

// Builds the trace document from the evaluator's trace, the plan, the request and the conditions of the simulation.

/** What a trace document is built from. */
export interface AccountInput {
  readonly trace: Trace;
  readonly plan: PlanNote;
  readonly request: EdgeRequest;
  /** The URL as it is shown. */
  readonly url: string;
  readonly world: World;
  /** Keys and places of rules; empty for a sealed plan. */
  readonly sources: RuleSources;
  /** `null` when the subject is a sealed plan. */
  readonly ruleSet: RuleSet | null;
  readonly signatures?: SignaturesNote | null;
  /** Whether isbot classified the bot, as opposed to the caller. */
  readonly genericBot: boolean;
  /** The error page for the status that the caller gave, or that the decision has; `null`: no error status. */
  readonly errorPage: {
    readonly status: number;
    readonly madeBy: 'edge' | 'origin';
    readonly answer: ErrorPageAnswer;
  } | null;
  /** Microseconds of one `evaluate`; `null`: not measured. */
  readonly evaluateUs: number | null;
}

/** The document's entry of one rule. */
function ruleNote(rule: RuleTrace, sources: RuleSources): RuleNote {
  const source = sources.get(rule.id);
  return {
    type: rule.type,
    id: rule.id,
    key: source?.key ?? authorKey(rule),
    priority: rule.priority,
    mode: rule.mode,
    outcome: rule.outcome,
    effect: shownEffect(rule),
    reason: rule.reason,
    at: source?.at ?? null,
    checks: rule.checks,
    ...(rule.inspection === undefined ? {} : { inspection: inspectionDocument(rule.inspection) }),
  };
}

/** The name and digest of the signatures, without the program. */
function signaturesNote(used: SignaturesNote | null): SignaturesNote | null {
  return used === null ? null : { name: used.name, digest: used.digest };
}

/** The document's entry of one phase. */
function phaseNote(phase: PhaseTrace, sources: RuleSources): PhaseNote {
  const rules = phase.rules.map((rule) => ruleNote(rule, sources));
  return { name: phase.name, outcome: phase.outcome, note: phase.note, rules };
}

/** The request with its normalised facts. */
function requestNote(input: AccountInput): RequestNote {
  const { facts } = input.trace;
  const bot = facts.bot;
  return {
    method: facts.method,
    url: input.url,
    ip: facts.ip,
    country: facts.country,
    ...(facts.asn === null ? {} : { asn: facts.asn }),
    bot: bot === null ? null : { ...bot, from: input.genericBot ? 'generic' : bot.from },
    ja4: facts.ja4,
    ja4h: facts.ja4h,
    cleared: input.request.cleared ?? [],
    ...(input.request.identity == null ? {} : { identity: input.request.identity }),
    counted: Object.fromEntries(input.world.counted ?? []),
    at: new Date(input.world.now).toISOString(),
  };
}

/**
 * What the origin receives. The record is the one that the origin's address comes from, else the first of the host.
 */
function effective(decision: Decision, trace: Trace): Effective {
  const { origin, cache } = decision;
  const records = trace.facts.records;
  const own =
    origin?.source === 'record'
      ? records.find((candidate) => candidate.destination === origin.address)
      : undefined;
  const record = own ?? records[0];
  return {
    origin: origin === null ? null : originUrl(origin),
    host_header: origin?.hostHeader ?? null,
    path: decision.path,
    query: decision.query,
    record: record === undefined ? null : { id: record.id, name: record.name },
    tags: decision.tags,
    headers_added: [],
    cache: cacheDocument(cache),
    location: decision.location,
    retry_after: decision.retryAfter,
  };
}

/** The document's entry of the error page. */
function errorPageNote(input: AccountInput): ErrorPageNote | null {
  if (input.errorPage === null) return null;
  const { status, madeBy, answer } = input.errorPage;
  return {
    status,
    made_by: madeBy,
    page: answer.page?.kind ?? null,
    html: answer.page?.html ?? null,
    by: answer.page === null ? null : actingRule(answer.page.rule, input.sources),
  };
}

/**
 * Settles the conditional rules of the error_page phase for a known status: each has replaced the page or has not.
 */
function settleErrorPages(phase: PhaseTrace, known: NonNullable<AccountInput['errorPage']>): PhaseTrace {
  const chosen = known.answer.page?.rule.id;
  const matched = new Set(known.answer.matches.map((match) => match.id));
  let slotTaken = false;
  const rules = phase.rules.map((rule): RuleTrace => {
    if (matched.has(rule.id)) {
      slotTaken ||= rule.id === chosen;
      const text = `status ${known.status} from the ${known.madeBy} is in codes`;
      return {
        ...rule,
        outcome: 'matched',
        effect: 'error_page',
        reason: { code: 'all_checks_passed', text },
      };
    }
    if (rule.outcome !== 'conditional') return rule;
    if (slotTaken) {
      const text = `error_page #${chosen} gave the page`;
      return { ...rule, outcome: 'not_reached', effect: 'none', reason: { code: 'slot_taken', text } };
    }
    const text = `status ${known.status} is not in codes`;
    return { ...rule, outcome: 'skipped', effect: 'none', reason: { code: 'status_not_listed', text } };
  });
  return { ...phase, outcome: 'final', rules };
}

/** Builds the document. Pure: the same input gives the same document. */
export function traceDocument(input: AccountInput): TraceDocument {
  const { sources, errorPage } = input;
  const { decision, facts } = input.trace;
  const phases = input.trace.phases.map((phase) =>
    phase.name === 'error_page' && errorPage !== null ? settleErrorPages(phase, errorPage) : phase,
  );
  const gate = phases.find((phase) => phase.name === 'gate')?.note ?? null;
  const notes = phases.map((phase) => phaseNote(phase, sources));
  const rules = notes.flatMap((phase) => phase.rules);
  const count = (holds: (rule: RuleNote) => boolean) => rules.filter(holds).length;
  return {
    format: TRACE_FORMAT,
    plan: input.plan,
    signatures: signaturesNote(input.signatures ?? null),
    request: requestNote(input),
    facts: factsDocument(facts),
    assumptions: assumptionsOf({ decision, facts, phases }, input),
    decision: headline(decision, { sources, note: gate }),
    would_have: wouldHave(phases, { sources, shadow: decision.shadow }),
    shadow: decision.shadow === null ? null : headline(decision.shadow, { sources, note: gate }),
    effective: effective(decision, input.trace),
    error_page: errorPageNote(input),
    phases: notes,
    counts: {
      considered: count((rule) => !isAside(rule)),
      matched: count((rule) => rule.outcome === 'matched'),
      out_of_scope: count((rule) => rule.reason.code === 'out_of_scope'),
      disabled: count((rule) => rule.reason.code === 'disabled'),
    },
    timing: { evaluate_us: input.evaluateUs },
  };
}
