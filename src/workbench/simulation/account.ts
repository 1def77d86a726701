/**
 * Builds the trace document from the evaluator's trace, the plan, the request and the conditions of the simulation.
 */
import type { Decision, ErrorPageAnswer } from '../../engine/evaluator/decision.ts';
import type { EdgeRequest } from '../../engine/evaluator/request.ts';
import type { PhaseTrace, RuleTrace, Trace } from '../../engine/evaluator/trace.ts';
import type { RuleSet } from '../../rules/model/types.ts';
import { assumptionsOf, type World } from './assume.ts';
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
    bot: bot === null ? null : { ...bot, from: input.genericBot ? 'generic' : bot.from },
    ja4: facts.ja4,
    ja4h: facts.ja4h,
    cleared: input.request.cleared ?? [],
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
