/**
 * Which rules of a plan depend on facts that a log lacks, and how they were evaluated: a replay cannot say more of them.
 */
import { printPlan } from '../../engine/compiler/print.ts';
import type { OpenedPlan } from '../../engine/plan/seal.ts';
import type { FactCounts, LogFact } from '../access-logs/entry.ts';

/** A fact that a rule depends on: one that a log may lack, or one that no access log has. */
type ReplayFact = LogFact | 'ja4h' | 'verified_bot' | 'body' | 'solved_challenge';

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
interface PrintedRuleFilters {
  readonly type: string;
  readonly id: number;
  readonly key?: string;
  readonly enabled: boolean;
  readonly countries?: readonly string[];
  readonly ips?: readonly string[];
  readonly match_ja4?: readonly string[];
  readonly match_ja4h?: readonly string[];
  readonly bot_kinds?: readonly string[];
  readonly require_verified?: boolean;
  readonly on_breach?: string;
}

/** How each fact is assumed, and whether a rule depends on it. */
interface Dependency {
  readonly fact: ReplayFact;
  readonly assumed: string;
  readonly needs: (rule: PrintedRuleFilters) => boolean;
}

const challenges = ({ type, on_breach }: PrintedRuleFilters): boolean =>
  type === 'captcha' || on_breach === 'captcha';

const DEPENDENCIES: readonly Dependency[] = [
  {
    fact: 'ip',
    assumed: 'no address',
    needs: ({ type, ips }) => ips !== undefined || type === 'rate_limit',
  },
  { fact: 'country', assumed: 'unknown', needs: ({ countries }) => countries !== undefined },
  { fact: 'user_agent', assumed: 'no bot', needs: ({ type }) => type === 'bot_route' || type === 'waf' },
  {
    fact: 'ja4',
    assumed: 'unknown',
    needs: ({ match_ja4 }) => match_ja4 !== undefined && match_ja4.length > 0,
  },
  { fact: 'ja4h', assumed: 'unknown', needs: ({ match_ja4h }) => (match_ja4h?.length ?? 0) > 0 },
  {
    fact: 'verified_bot',
    assumed: 'no declared bot is verified',
    needs: (rule) => rule.require_verified === true || rule.type === 'captcha',
  },
  { fact: 'headers', assumed: 'only those of the log are inspected', needs: ({ type }) => type === 'waf' },
  { fact: 'body', assumed: 'none is inspected', needs: ({ type }) => type === 'waf' },
  { fact: 'solved_challenge', assumed: 'no visitor has solved one', needs: challenges },
  { fact: 'time', assumed: 'the time of the replay', needs: ({ type }) => type === 'rate_limit' },
];

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
  for (const { fact, assumed, needs } of DEPENDENCIES) {
    const lacking = fact in lacks ? lacks[fact as LogFact] : requests;
    // A rule of both plans is named once.
    const names = rules.filter(needs).map(({ type, id, key }) => `${type}/${key ?? id}`);
    const depending = [...new Set(names)];
    if (lacking > 0 && depending.length > 0)
      facts.push({ fact, requests: lacking, rules: depending, assumed });
  }
  return facts;
}

function enabledRules(opened: OpenedPlan): readonly PrintedRuleFilters[] {
  const { rules } = printPlan(opened) as object as { readonly rules: readonly PrintedRuleFilters[] };
  return rules.filter(({ enabled }) => enabled);
}
