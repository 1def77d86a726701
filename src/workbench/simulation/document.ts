/**
 * The trace document: one JSON value that states what happens to one request and why. The terminal, the page and
 * scripts print a simulated request from this document alone.
 */
import type { ActionMode, CacheMode, RuleType } from '../../base/vocabulary/vocabulary.ts';
import type { Action, Effect } from '../../engine/evaluator/decision.ts';
import type { RequestIdentity } from '../../engine/evaluator/request.ts';
import type {
  CheckTrace,
  Phase,
  PhaseOutcome,
  ReasonCode,
  RuleOutcome,
} from '../../engine/evaluator/trace.ts';
import type { FactsDocument, InspectionDocument } from './decision-document.ts';

/** The format's name and version; a change of a field's meaning raises the version. */
export const TRACE_FORMAT = 'edgeplan.trace/v1';

/** The plan that decided. */
export interface PlanNote {
  /** The revision sealed into the plan; 0 when it was compiled for this simulation. */
  readonly version: number;
  /** `sha256:` and 64 hex digits. */
  readonly digest: string;
  readonly domain: string;
  /** The name of the file that the plan was compiled or read from. */
  readonly source: string;
}

/** The signatures that `waf` rules inspected with. */
export interface SignaturesNote {
  /** The name of the set, `OWASP_CRS/4.28.0`. */
  readonly name: string;
  /** Digest of the sealed program: `sha256:` and 64 hex digits. */
  readonly digest: string;
}

/** The bot that the request was classified as. */
export interface BotNote {
  readonly kind: string;
  /** Whether address or DNS proves the bot. */
  readonly verified: boolean;
  /** What classified it. `generic`: isbot, for a User-Agent of a program without a named kind. */
  readonly from: 'user-agent' | 'given' | 'generic';
}

/** The request with its normalised facts; a fact that is unknown is `null`. */
export interface RequestNote {
  readonly method: string;
  readonly url: string;
  readonly ip: string | null;
  readonly country: string | null;
  /** The number of an autonomous system; absent: unknown. */
  readonly asn?: number;
  readonly bot: BotNote | null;
  readonly ja4: string | null;
  readonly ja4h: string | null;
  /** Solved challenges, `<type>/<id or key>`. */
  readonly cleared: readonly string[];
  /** Whose request it is; absent: no credentials were verified. */
  readonly identity?: RequestIdentity;
  /** Requests that rate limits have counted before, by `rate_limit/<id or key>`. */
  readonly counted: Readonly<Record<string, number>>;
  /** RFC 3339, UTC. */
  readonly at: string;
}

/** The inputs that a simulation may assume. */
export const ASSUMED_INPUTS = [
  'ip',
  'country',
  'asn',
  'ja4',
  'ja4h',
  'body',
  'clock',
  'rate_counters',
  'challenge',
  'origin_health',
  'origin_turns',
  'node_id',
  'waf_signatures',
] as const;
export type AssumedInput = (typeof ASSUMED_INPUTS)[number];

/**
 * An input that the request does not contain and the simulator assumed, with the rules whose outcome depends on it.
 */
export interface Assumption {
  readonly input: AssumedInput;
  /** The assumed value in words. */
  readonly value: string;
  /** `<type>/<id>`; never empty. */
  readonly affects: readonly string[];
}

/** The rule or record that decided. `key` is the rule's key in the edge file. */
export interface ActingRule {
  readonly type: RuleType | 'record';
  readonly id: number;
  readonly key: string | null;
}

/** An outcome in short. */
export interface Headline {
  readonly action: Action;
  readonly status: number | null;
  readonly by: ActingRule | null;
  readonly text: string;
}

/** Effects that change what the visitor or the origin sees; for a dry_run rule they are prefixed with `would_`. */
export type ActingEffect = Exclude<Effect, 'counted' | 'passed' | 'unavailable' | 'self_redirect'>;
export type ShownEffect = Effect | `would_${ActingEffect}` | 'none';

/** What a dry_run rule would have done. */
export interface WouldHave {
  readonly action: ActingEffect;
  /**
   * The status it would have answered; `null` if it would not have answered, or if the trace does not contain
   * the status.
   */
  readonly status: number | null;
  readonly by: ActingRule;
  readonly text: string;
}

/** What the origin receives. Fields are `null` when the request is not forwarded. */
export interface Effective {
  /** `scheme://address:port`. */
  readonly origin: string | null;
  readonly host_header: string | null;
  readonly path: string | null;
  readonly query: string | null;
  /** The DNS record of the host that the origin comes from. */
  readonly record: { readonly id: number; readonly name: string } | null;
  readonly tags: readonly string[];
  /** No rule type adds request headers, so this list is empty in format v1. */
  readonly headers_added: readonly string[];
  /** The cache rule's settings; `null`: the node's standard caching. */
  readonly cache: {
    readonly mode: CacheMode;
    readonly edge_ttl_sec: number | null;
    readonly browser_ttl_sec: number | null;
    readonly key: string | null;
  } | null;
  /** The `Location` of a redirect. */
  readonly location: string | null;
  /** Seconds. */
  readonly retry_after: number | null;
}

/** One rule of a phase: its outcome, the reason, and every check. */
export interface RuleNote {
  readonly type: RuleType;
  readonly id: number;
  readonly key: string | null;
  readonly priority: number;
  readonly mode: ActionMode;
  readonly outcome: RuleOutcome;
  readonly effect: ShownEffect;
  readonly reason: { readonly code: ReasonCode; readonly text: string };
  /** `file:line` in the edge file. */
  readonly at: string | null;
  readonly checks: readonly CheckTrace[];
  /** Of a waf rule that inspected the request. */
  readonly inspection?: InspectionDocument;
}

/** One phase with its rules, in order of evaluation. */
export interface PhaseNote {
  readonly name: Phase;
  readonly outcome: PhaseOutcome;
  /** The phase's own reason, if no rule caused the outcome. */
  readonly note: string | null;
  readonly rules: readonly RuleNote[];
}

/** What the visitor sees for the error status that the caller gave, or that the decision has. */
export interface ErrorPageNote {
  readonly status: number;
  readonly made_by: 'edge' | 'origin';
  /** `null`: no rule covers the status. */
  readonly page: 'svc' | 'custom' | 'origin' | null;
  readonly html: string | null;
  readonly by: ActingRule | null;
}

/** The document. Field names are part of the format. */
export interface TraceDocument {
  readonly format: typeof TRACE_FORMAT;
  readonly plan: PlanNote;
  /** `null` if none were loaded, or no `waf` rule inspects. */
  readonly signatures: SignaturesNote | null;
  readonly request: RequestNote;
  readonly facts: FactsDocument;
  readonly assumptions: readonly Assumption[];
  readonly decision: Headline;
  readonly would_have: readonly WouldHave[];
  /** The outcome had every dry_run rule been enforced; `null` when no dry_run rule matched. */
  readonly shadow: Headline | null;
  readonly effective: Effective;
  readonly error_page: ErrorPageNote | null;
  readonly phases: readonly PhaseNote[];
  readonly counts: {
    /** Enabled rules in scope. */
    readonly considered: number;
    readonly matched: number;
    readonly out_of_scope: number;
    readonly disabled: number;
  };
  /** Microseconds of one `evaluate`, the median of warm runs; `null` when it was not measured. */
  readonly timing: { readonly evaluate_us: number | null };
}

/** `<type>/<id>`, the form of rules in tags, clearances and `affects`. */
export function refOf(rule: { readonly type: string; readonly id: number }): string {
  return `${rule.type}/${rule.id}`;
}

/** Whether a rule was excluded before its filters were evaluated: disabled, or bound to other records. */
export function isAside(rule: RuleNote): boolean {
  return rule.reason.code === 'disabled' || rule.reason.code === 'out_of_scope';
}
