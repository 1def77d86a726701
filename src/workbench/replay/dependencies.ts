/**
 * Which rules of a plan depend on facts that a log lacks, and how they were evaluated: a replay cannot say more of them.
 */
import type { RuleType } from '../../base/vocabulary/vocabulary.ts';
import { printPlan } from '../../engine/compiler/print.ts';
import type { OpenedPlan } from '../../engine/plan/seal.ts';
import type { Conditions, Rule } from '../../rules/model/types.ts';
import type { FactCounts, LogFact } from '../access-logs/entry.ts';
import { conditionFacts, type ReadValue, type ReplayFact, readValues } from '../proofs/rule-conditions.ts';
import { knownOf } from '../proofs/rule-types.ts';

/** A fact that lines lack, with the rules that depend on it. */
export interface LackedFact {
  readonly fact: ReplayFact;
  /** Requests without it. */
  readonly requests: number;
  /** `<type>/<key>`, or `<type>/<id>`; empty: what is assumed concerns all rules. */
  readonly rules: readonly string[];
  /** The conditions among what needs it: `drop/keys conditions.headers[0] x-api-key`. */
  readonly conditions: readonly string[];
  /** What was assumed in its place. */
  readonly assumed: string;
}

/** A rule of a printed plan, as far as it is read here. */
interface PrintedRule {
  readonly type: RuleType;
  readonly id: number;
  readonly key?: string;
  readonly enabled: boolean;
  readonly conditions?: Conditions;
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
  headers: 'only those of the log are read',
  body: 'none is inspected',
  solved_challenge: 'no visitor has solved one',
  identity: 'no request has credentials',
  time: 'the time of the replay',
};

/** A rule that depends on a fact, by its type's own filters or effects or by a condition. */
interface Need {
  readonly fact: ReplayFact;
  readonly rule: string;
  /** `null`: it is no condition. */
  readonly condition: string | null;
}

function nameOf({ type, id, key }: PrintedRule): string {
  return `${type}/${key ?? id}`;
}

/** What a rule depends on. A tag is given by another rule, and depends on what that one does. */
function needsOf(rule: PrintedRule, rules: readonly PrintedRule[]): readonly Need[] {
  const { type, conditions, ...fields } = rule;
  const own = knownOf(type).facts({ ...NO_LISTS, ...fields, type } as object as Rule);
  const name = nameOf(rule);
  const tags = [...(conditions?.tags?.includes ?? []), ...(conditions?.tags?.excludes ?? [])];
  const tagging = rules.filter((one) =>
    [`${one.type}/${one.id}`, nameOf(one), one.key].some((text) => text !== undefined && tags.includes(text)),
  );
  return [
    ...own.map((fact) => ({ fact, rule: name, condition: null })),
    ...conditionFacts(conditions).map(({ fact, condition }) => ({ fact, rule: name, condition })),
    // Tags are of earlier phases, so that this ends.
    ...tagging.flatMap((one) =>
      needsOf(one, rules).map(({ fact }) => ({
        fact,
        rule: name,
        condition: `conditions.tags ${nameOf(one)}`,
      })),
    ),
  ];
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
  const needs = plans.map(enabledRules).flatMap((rules) => rules.flatMap((rule) => needsOf(rule, rules)));
  const facts: LackedFact[] = [];
  const all = { rules: [], conditions: [] };
  if (lacks.host > 0) facts.push({ fact: 'host', requests: lacks.host, ...all, assumed: host });
  if (lacks.scheme > 0) facts.push({ fact: 'scheme', requests: lacks.scheme, ...all, assumed: scheme });
  for (const [name, assumed] of Object.entries(ASSUMED)) {
    const fact = name as ReplayFact;
    const lacking = fact in lacks ? lacks[fact as LogFact] : requests;
    const of = needs.filter((need) => need.fact === fact);
    // A rule of both plans is named once.
    const depending = [...new Set(of.map(({ rule }) => rule))];
    const conditions = [
      ...new Set(of.flatMap(({ rule, condition }) => (condition === null ? [] : [`${rule} ${condition}`]))),
    ];
    if (lacking > 0 && depending.length > 0)
      facts.push({ fact, requests: lacking, rules: depending, conditions, assumed });
  }
  return facts;
}

function enabledRules(opened: OpenedPlan): readonly PrintedRule[] {
  const { rules } = printPlan(opened) as object as { readonly rules: readonly PrintedRule[] };
  return rules.filter(({ enabled }) => enabled);
}

/** By rule (`<type>/<key>`, or `<type>/<id>`) what its conditions and its key read that a decision log may withhold. */
export function withholdableReads(opened: OpenedPlan): ReadonlyMap<string, readonly ReadValue[]> {
  return new Map(
    enabledRules(opened).flatMap((rule) => {
      const { type, conditions, ...fields } = rule;
      const own = knownOf(type).reads({ ...NO_LISTS, ...fields, type } as object as Rule);
      const read = [...readValues(conditions), ...own];
      return read.length === 0 ? [] : [[nameOf(rule), read] as const];
    }),
  );
}
