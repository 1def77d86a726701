/**
 * Explains a decision that has been made: which rules matched, which were skipped by which check, which were not reached
 * and why. Every check is evaluated again, one by one (`checks.ts`), so the trace covers every rule; what the decision
 * itself recorded is taken from it.
 */
import { hostMistake } from '../../base/addresses/host.ts';
import { targetMistake } from '../../base/paths/path.ts';
import { APPLICATION_HOST, DOMAIN_STATUSES, type RuleType } from '../../base/vocabulary/vocabulary.ts';
import { FLAG, META, ruleTypeOf, SLOT, typeIndex } from '../plan/layout.ts';
import { botText, type RuleReason, type Settled } from './checks.ts';
import type { Decision, Match } from './decision.ts';
import { EXEMPT, exemptionsOf, isWithin } from './facts.ts';
import { textOf } from './loaded.ts';
import { onUninspected, settingsOf } from './phases/waf.ts';
import { EXPLANATIONS, hasRules, PHASE_TABLE } from './phases.ts';
import { type Context, phaseStart, refOf, slotWord } from './run.ts';
import {
  type FactsTrace,
  PHASES,
  type Phase,
  type PhaseOutcome,
  type PhaseTrace,
  phaseOf,
  type RuleTrace,
  type Trace,
} from './trace.ts';
import { checksOf, factsTrace, matchReason } from './trace-parts.ts';

/** A decision with what its evaluation has left for the trace. */
export interface Explained extends Pick<Settled, 'decision' | 'rates'> {
  /** The gate's result: 0, or the status it refused with. */
  readonly refused: number;
}

/** What the functions of this file work with. */
interface Account extends Settled {
  readonly refused: number;
  /** Place in PHASES of the phase that ended the request. */
  readonly ended: number;
  /** Bits of EXEMPT that the request has. */
  readonly exempt: number;
  /** By `<type>/<id>`. */
  readonly matched: ReadonlyMap<string, Match>;
}

/** The trace of a decision; `context` still holds the request's facts. */
export function explainDecision(context: Context, explained: Explained): Trace {
  const { decision, refused } = explained;
  const pinned = decision.matches.find((match) => match.effect === 'alt_origin' && match.mode === 'enforce');
  const pinnedBy = pinned === undefined ? null : `${pinned.type}/${pinned.id}`;
  const account: Account = {
    ...explained,
    context,
    exempt: refused !== 0 ? 0 : exemptionsOf(context.facts) | exemptionsBy(decision, pinnedBy),
    ended: refused !== 0 ? 0 : PHASES.indexOf(endingPhase(decision)),
    matched: new Map(decision.matches.map((match) => [`${match.type}/${match.id}`, match])),
    pinnedBy,
  };
  const shown = PHASE_TABLE.filter((row) => !row.isOptional || hasRules(context.loaded.plan, row));
  const phases = shown.map(({ name, types }): PhaseTrace => {
    const rules = refused === 0 ? types.flatMap((type) => typeRules(account, name, type)) : [];
    return { name, outcome: phaseOutcome(account, name), note: phaseNote(account, name), rules };
  });
  return { decision, facts: factsTrace(context, refused), phases };
}

/** The exemptions that matches have given. */
function exemptionsBy({ gateway }: Decision, pinnedBy: string | null): number {
  return (pinnedBy === null ? 0 : EXEMPT.pinned) | (gateway === undefined ? 0 : EXEMPT.admitted);
}

/** The trace of a request whose fields throw when they are read: no rule was evaluated. */
export function explainUnread(decision: Decision): Trace {
  const phases = PHASE_TABLE.filter(({ isOptional }) => !isOptional).map(
    ({ name }): PhaseTrace =>
      name === 'gate'
        ? { name, outcome: 'final', note: 'the request could not be read', rules: [] }
        : { name, outcome: 'not_reached', note: null, rules: [] },
  );
  return { decision, facts: UNREAD_FACTS, phases };
}

const UNREAD_FACTS: FactsTrace = {
  scheme: 'https',
  method: '',
  host: null,
  path: null,
  pathWithoutParameters: null,
  query: null,
  ip: null,
  country: null,
  asn: null,
  bot: null,
  ja4: null,
  ja4h: null,
  records: [],
};

/** The phase that made the decision. */
function endingPhase({ action, rule }: Decision): Phase {
  if (action === 'forward') return 'origin';
  if (rule === null) return action === 'respond' ? 'rate_limit' : 'gate';
  return rule.type === 'record' ? 'captcha' : phaseOf(rule.type);
}

function rowOf(name: Phase): (typeof PHASE_TABLE)[number] {
  return PHASE_TABLE[PHASES.indexOf(name)]!;
}

/** Why the request passes a phase whatever its rules, or `null`. */
function exemption({ context, exempt, pinnedBy }: Account, name: Phase): string | null {
  const { passedBy } = rowOf(name);
  const reasons = passedBy & exempt;
  if ((reasons & EXEMPT.acme) !== 0) return 'an ACME challenge passes this phase';
  if ((reasons & EXEMPT.pinned) !== 0) return `the origin is pinned by ${pinnedBy}, which passes this phase`;
  if ((reasons & EXEMPT.admitted) !== 0) return 'a gateway has the request, which passes this phase';
  return reasons === 0 ? null : `verified ${botText(context)} passes this phase`;
}

/** Whether a phase is run on the response: it is no step of `evaluate`, and no gate before it. */
function isOfResponse(name: Phase): boolean {
  const { run, runLast } = rowOf(name);
  return name !== 'gate' && run === null && runLast === null;
}

/** Whether a phase is run whatever ended the request. */
function runsLast(name: Phase): boolean {
  return rowOf(name).runLast !== null;
}

/** What the phase did with the request. */
function phaseOutcome(account: Account, name: Phase): PhaseOutcome {
  const index = PHASES.indexOf(name);
  if (index === account.ended) return 'final';
  if (runsLast(name)) return account.refused === 0 ? 'continue' : 'not_reached';
  if (isOfResponse(name) && account.refused === 0) {
    return account.decision.action === 'forward' || account.decision.action === 'block'
      ? 'conditional'
      : 'not_reached';
  }
  if (index > account.ended) return 'not_reached';
  if (index > 0 && exemption(account, name) !== null) return 'passed';
  return 'continue';
}

/** What the phase did apart from its rules, or `null`. */
function phaseNote(account: Account, name: Phase): string | null {
  const { context, decision } = account;
  if (name === 'gate')
    return account.refused === 0 ? recordsNote(context) : refusalNote(context, account.refused);
  if (PHASES.indexOf(name) > account.ended) return null;
  return exemption(account, name) ?? rowOf(name).note?.(context, decision) ?? null;
}

/** The records that serve the host, as one line. */
function recordsNote(context: Context): string {
  const { records } = factsTrace(context, 0);
  return records
    .map(({ id, name, destination }) =>
      destination === APPLICATION_HOST
        ? `record ${id}  ${name} is answered by the application`
        : `record ${id}  ${name} → ${destination} (proxied)`,
    )
    .join(', ');
}

/** Why the gate refused the request. */
function refusalNote(context: Context, refused: number): string {
  const { loaded, facts } = context;
  const { request } = facts;
  const domain = textOf(loaded, loaded.plan.meta[META.domain]!);
  if (refused === 414) return 'the request target is longer than 16,384 octets';
  if (refused === 421) {
    const status = DOMAIN_STATUSES[loaded.plan.meta[META.status]!]!;
    if (!isWithin(facts.host, domain)) return `host ${facts.host} does not belong to ${domain}`;
    if (status !== 'active' && status !== 'moved') return `the domain is ${status} and serves nothing`;
    if (loaded.plan.meta[META.suspended] === 1) return 'the domain is suspended and serves nothing';
    return `no proxied record serves host ${facts.host}`;
  }
  const host: unknown =
    Array.isArray(request.host) && request.host.length === 1 ? request.host[0] : request.host;
  if (typeof host !== 'string') return 'there is not exactly one host';
  const wrong = hostMistake(host);
  if (wrong !== null) return `host \`${host.slice(0, 100)}\` ${wrong}`;
  if (typeof request.target !== 'string') return 'there is no request target';
  const quoted = `target \`${request.target.slice(0, 100)}\``;
  return `${quoted} ${targetMistake(request.target) ?? 'names another host, port or scheme than the Host header'}`;
}

/** The traces of all rules of a type, in evaluation order. */
function typeRules(account: Account, name: Phase, type: RuleType): readonly RuleTrace[] {
  const { context } = account;
  const rules: RuleTrace[] = [];
  const end = phaseStart(context, typeIndex(type) + 1);
  for (let slot = phaseStart(context, typeIndex(type)); slot < end; slot++)
    rules.push(ruleTrace(account, name, slot));
  return rules;
}

function ruleTrace(account: Account, name: Phase, slot: number): RuleTrace {
  const { context } = account;
  const flags = slotWord(context, slot, SLOT.flags);
  const type = ruleTypeOf(flags);
  const judged = checksOf(context, slot);
  const base = {
    ...refOf(context, slot),
    type,
    priority: slotWord(context, slot, SLOT.priority),
    mode: (flags & FLAG.dryRun) === 0 ? 'enforce' : 'dry_run',
    checks: judged.map(({ failure, filters, ...check }) => check),
  } as const;
  const match = account.matched.get(`${type}/${base.id}`);
  if (match !== undefined) {
    return {
      ...base,
      outcome: 'matched',
      effect: match.effect,
      reason: matchReason(account, slot, match.effect),
      ...inspectionOf(context, slot),
      ...statusOf(context, slot, type),
    };
  }
  const failed = judged.find((check) => check.pass !== true);
  if (failed !== undefined) {
    const reason = { code: failed.failure, text: failed.text };
    return { ...base, outcome: 'skipped', effect: 'none', reason };
  }
  const { ofResponse } = EXPLANATIONS[type];
  if (ofResponse !== undefined) return { ...base, effect: 'none', ...ofResponse(account, slot) };
  return { ...base, outcome: 'not_reached', effect: 'none', reason: unreachedReason(account, name, type) };
}

/** What a waf rule has found, from the memo of the decision's own run. */
function inspectionOf(context: Context, slot: number): Pick<RuleTrace, 'inspection'> {
  const verdict = context.memo.wafs.get(slot);
  if (verdict === undefined) return {};
  const settings = { ...settingsOf(context, slot), onUninspected: onUninspected(context, slot) };
  return { inspection: { ...verdict, ...settings } };
}

/** The status that a rule answers, if it has one of its own. */
function statusOf(context: Context, slot: number, type: RuleType): Pick<RuleTrace, 'status'> {
  const status = EXPLANATIONS[type].status?.(context, slot) ?? null;
  return status === null ? {} : { status };
}

/** Why a rule whose filters all hold did not act. */
function unreachedReason(account: Account, name: Phase, type: RuleType): RuleReason {
  const { decision } = account;
  const index = PHASES.indexOf(name);
  const by = decision.rule === null ? 'the edge' : `${decision.rule.type} #${decision.rule.id}`;
  if (index > account.ended) {
    return { code: 'request_ended', text: `the request was settled before, by ${by}` };
  }
  const exempt = exemption(account, name);
  if (exempt !== null) return { code: 'phase_passed', text: exempt };
  const overridden = EXPLANATIONS[type].overridden?.(account) ?? null;
  if (overridden !== null) return overridden;
  const holder = decision.matches.find((match) => match.type === type && match.mode === 'enforce');
  const taken = holder === undefined ? by : `${holder.type} #${holder.id}`;
  return { code: 'slot_taken', text: `${taken} comes first` };
}
