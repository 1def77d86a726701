/**
 * The trace of a decision, made by `explain`. It never changes the decision. Reasons are codes of a closed list, each with
 * a text that is ready to print.
 */
import {
  type ActionMode,
  RULE_TYPES,
  type RuleType,
  type UninspectedMode,
} from '../../base/vocabulary/vocabulary.ts';
import type { WafSettings } from '../waf/request/inspection.ts';
import type { Decision, Effect, WafVerdict } from './decision.ts';

/** The name of a phase: that of its rule type, but for the gate, which has no rules, and the origin, which two types choose. */
export type Phase = 'gate' | 'origin' | Exclude<RuleType, 'origin_route' | 'origin_pool'>;

/** The phase in which rules of a type are evaluated. */
export function phaseOf(type: RuleType): Phase {
  return type === 'origin_route' || type === 'origin_pool' ? 'origin' : type;
}

/** The names of the phases in the order of semantics §4. */
export const PHASES: readonly Phase[] = ['gate', ...new Set(RULE_TYPES.map(phaseOf))];

/** The number of a phase in semantics §4, where gateways are 4b. */
export function phaseNumber(name: Phase): string {
  const index = PHASES.indexOf(name);
  const gateway = PHASES.indexOf('gateway');
  return index === gateway ? `${index - 1}b` : String(index < gateway ? index : index - 1);
}

/**
 * `matched`: every filter passed and the rule was recorded. `skipped`: a filter failed. `not_reached`: the request was
 * decided before the rule. `conditional`: it depends on the response's status.
 */
export const OUTCOMES = ['matched', 'skipped', 'not_reached', 'conditional'] as const;
/** One of OUTCOMES. */
export type RuleOutcome = (typeof OUTCOMES)[number];

/** The checks of a rule, in the order in which they are reported. */
export const CHECKS = [
  'enabled',
  'scope',
  'host',
  'path',
  'country',
  'ip',
  'kind',
  'verified',
  'ja4',
  'ja4h',
  'method',
  'scheme',
  'asn',
  'user_agent',
  'tag',
  'header',
  'query',
  'cookie',
] as const;
/** One of CHECKS. */
export type CheckName = (typeof CHECKS)[number];

/** The result of one check of one rule. */
export interface CheckTrace {
  readonly check: CheckName;
  /** `null`: the request lacks the fact that the check needs. Counts as failed. */
  readonly pass: boolean | null;
  readonly text: string;
  /** The list entry that decided, as a field path: `path_includes[0]`. */
  readonly entry?: string;
}

/** Why a rule has its outcome. */
export const REASONS = [
  'disabled',
  'out_of_scope',
  'host_not_included',
  'host_excluded',
  'path_not_included',
  'path_excluded',
  'country_not_listed',
  'country_listed',
  'country_unknown',
  'ip_not_listed',
  'ip_listed',
  'ip_unknown',
  'bot_not_classified',
  'bot_not_listed',
  'bot_unverified',
  'fingerprint_not_listed',
  'condition_not_met',
  'condition_unknown',
  'missing_input',
  'all_checks_passed',
  'under_limit',
  'over_limit',
  'quota_exhausted',
  'over_concurrency',
  'below_threshold',
  'at_threshold',
  'no_signatures',
  'challenge_solved',
  'challenge_unsolved',
  'self_redirect',
  'redirected',
  'rewritten',
  'dot_segment',
  'long_location',
  'cached',
  'chosen',
  'tagged',
  'request_ended',
  'slot_taken',
  'overridden',
  'phase_passed',
  'developer_mode',
  'needs_response',
  'status_not_listed',
  'headers_changed',
  'admitted',
  'preflight',
  'unknown_operation',
  'method_not_allowed',
  'credentials',
  'consumer_inactive',
  'not_in_acl',
  'scope_missing',
  'content_type',
  'body_too_large',
  'body_uninspected',
  'body_invalid',
] as const;
/** One of REASONS. */
export type ReasonCode = (typeof REASONS)[number];

/** What a waf rule's signatures came to, and with which settings; its exclusions are those whose path matches. */
export interface InspectionTrace extends WafVerdict, WafSettings {
  readonly onUninspected: UninspectedMode;
}

/** What became of one rule. */
export interface RuleTrace {
  readonly type: RuleType;
  readonly id: number;
  /** As in `RuleRef`. */
  readonly key?: string;
  readonly priority: number;
  readonly mode: ActionMode;
  readonly outcome: RuleOutcome;
  /** `none` unless matched. */
  readonly effect: Effect | 'none';
  readonly reason: { readonly code: ReasonCode; readonly text: string };
  /** Every check of the rule, evaluated even if an earlier one failed. */
  readonly checks: readonly CheckTrace[];
  /** Of a waf rule that inspected the request. */
  readonly inspection?: InspectionTrace;
  /** Of a matched drop rule with a status of its own: what it answers, or would answer. */
  readonly status?: number;
}

/** What became of a phase; see `PhaseTrace.outcome`. */
export const PHASE_OUTCOMES = ['continue', 'final', 'passed', 'not_reached', 'conditional'] as const;
/** One of PHASE_OUTCOMES. */
export type PhaseOutcome = (typeof PHASE_OUTCOMES)[number];

/** One phase and its rules. */
export interface PhaseTrace {
  readonly name: Phase;
  /** `passed`: the request is exempt (ACME, verified crawler, pinned origin); `final`: it ended here. */
  readonly outcome: PhaseOutcome;
  /** What the phase did apart from its rules, such as the record that was found or why it was passed. */
  readonly note: string | null;
  /** In evaluation order; rules that are disabled or not in scope included. */
  readonly rules: readonly RuleTrace[];
}

/** The normalised request. If the gate refuses it, facts read after the gate are `null`. */
export interface FactsTrace {
  readonly scheme: 'http' | 'https';
  readonly method: string;
  readonly host: string | null;
  readonly path: string | null;
  /** The path without `;params`; `null` when there are none. */
  readonly pathWithoutParameters: string | null;
  readonly query: string | null;
  readonly ip: string | null;
  readonly country: string | null;
  /** Number of the autonomous system of the visitor's address (RFC 6793). */
  readonly asn: number | null;
  readonly bot: {
    readonly kind: string;
    readonly verified: boolean;
    readonly from: 'user-agent' | 'given';
  } | null;
  readonly ja4: string | null;
  readonly ja4h: string | null;
  /** The host's proxied records, in id order. */
  readonly records: readonly { readonly id: number; readonly name: string; readonly destination: string }[];
}

/** A decision, the request it is of, and every phase in order. */
export interface Trace {
  readonly decision: Decision;
  readonly facts: FactsTrace;
  readonly phases: readonly PhaseTrace[];
}
