/**
 * Which rules of a plan depend on facts that a log lacks, and how they were evaluated: a replay cannot say more of them.
 */
import type { RuleType } from '../../base/vocabulary/vocabulary.ts';
import { printPlan } from '../../engine/compiler/print.ts';
import type { OpenedPlan } from '../../engine/plan/seal.ts';
import type { Rule } from '../../rules/model/types.ts';
import type { FactCounts, LogFact } from '../access-logs/entry.ts';
import { knownOf, type ReplayFact } from '../proofs/rule-types.ts';

/** A fact that lines lack, with the rules that depend on it. */
export interface LackedFact {
  readonly fact: ReplayFact;
  /** Requests without it. */
  readonly requests: number;
  /** `<type>/<key>`, or `<type>/<id>`; empty: what is assumed concerns all rules. */
  readonly rules: readonly string[];
  /** What was assumed in its place. */
  readonly assumed: string;
}

/** A rule of a printed plan, as far as it is read here. */
interface PrintedRule {
  readonly type: RuleType;
  readonly id: number;
  readonly key?: string;
  readonly enabled: boolean;
}

/** Lists that a printed rule has only if they have entries. */
const NO_LISTS = { countries: [], ips: [] };

/** What is assumed in place of each fact that rules may depend on. */
const ASSUMED: Readonly<Partial<Record<ReplayFact, string>>> = {
  ip: 'no address',
  country: 'unknown',
  asn: 'unknown',
  user_agent: 'no bot',
  ja4: 'unknown',
  ja4h: 'unknown',
  verified_bot: 'no declared bot is verified',
  headers: 'only those of the log are inspected',
  body: 'none is inspected',
  solved_challenge: 'no visitor has solved one',
  time: 'the time of the replay',
};

/** Whether a rule depends on a fact. */
function needs({ type, ...fields }: PrintedRule, fact: ReplayFact): boolean {
  return knownOf(type)
    .facts({ ...NO_LISTS, ...fields, type } as object as Rule)
    .includes(fact);
}

/** What a log had and lacked. */
export interface LoggedFacts {
  /** Requests that were replayed. */
  readonly requests: number;
  readonly lacks: FactCounts;
  /** What was assumed for lines without a host or scheme. */
  readonly host: string;
  readonly scheme: string;
}

/** The facts that requests lacked and that a rule of one of the plans depends on. */
export function lackedFacts(plans: readonly OpenedPlan[], logged: LoggedFacts): readonly LackedFact[] {
  const { requests, lacks, host, scheme } = logged;
  const rules = plans.flatMap(enabledRules);
  const facts: LackedFact[] = [];
  if (lacks.host > 0) facts.push({ fact: 'host', requests: lacks.host, rules: [], assumed: host });
  if (lacks.scheme > 0) facts.push({ fact: 'scheme', requests: lacks.scheme, rules: [], assumed: scheme });
  for (const [name, assumed] of Object.entries(ASSUMED)) {
    const fact = name as ReplayFact;
    const lacking = fact in lacks ? lacks[fact as LogFact] : requests;
    // A rule of both plans is named once.
    const names = rules
      .filter((rule) => needs(rule, fact))
      .map(({ type, id, key }) => `${type}/${key ?? id}`);
    const depending = [...new Set(names)];
    if (lacking > 0 && depending.length > 0)
      facts.push({ fact, requests: lacking, rules: depending, assumed });
  }
  return facts;
}

function enabledRules(opened: OpenedPlan): readonly PrintedRule[] {
  const { rules } = printPlan(opened) as object as { readonly rules: readonly PrintedRule[] };
  return rules.filter(({ enabled }) => enabled);
}
