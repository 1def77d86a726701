/**
 * The trace document: one JSON value that says what happens to one request and why. Everything the terminal, the page
 * and a script show about a simulated request is read off this document; nothing else is needed to print it.
 */
import type { ActionMode, CacheMode, RuleType } from '../base/vocabulary.ts';
import type { Action, Effect } from '../evaluator/decision.ts';
import type {
  CheckTrace,
  FactsTrace,
  InspectionTrace,
  Phase,
  PhaseOutcome,
  ReasonCode,
  RuleOutcome,
} from '../evaluator/trace.ts';

export const TRACE_FORMAT = 'edgeplan.trace/v1';

/** Which plan answered. */
export interface PlanNote {
  /** The revision sealed into the plan; 0 when it was compiled for this simulation. */
  readonly version: number;
  /** `sha256:` and 64 hex digits. */
  readonly digest: string;
  readonly domain: string;
  /** The file the plan came from. */
  readonly source: string;
}

/** Which signatures `waf` rules inspected with. */
export interface SignaturesNote {
  /** What the set calls itself, `OWASP_CRS/4.28.0`. */
  readonly name: string;
  /** Of the sealed program: `sha256:` and 64 hex digits. */
  readonly digest: string;
}

export interface BotNote {
  readonly kind: string;
  readonly verified: boolean;
  /** `generic`: no named bot, but the User-Agent is that of a program (isbot). */
  readonly from: 'user-agent' | 'given' | 'generic';
}

export interface RequestNote {
  readonly method: string;
  readonly url: string;
  readonly ip: string | null;
  readonly country: string | null;
  readonly bot: BotNote | null;
  readonly ja4: string | null;
  readonly ja4h: string | null;
  readonly cleared: readonly string[];
  /** RFC 3339, UTC. */
  readonly at: string;
}

export const ASSUMED_INPUTS = [
  'ip',
  'country',
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

/** Something the request did not say and the simulator settled by itself, with the rules whose outcome hangs on it. */
export interface Assumption {
  readonly input: AssumedInput;
  readonly value: string;
  /** `<type>/<id>`; never empty. */
  readonly affects: readonly string[];
}

/** Who settled something. `key` is the rule's name in the edge file. */
export interface Asker {
  readonly type: RuleType | 'record';
  readonly id: number;
  readonly key: string | null;
}

export interface Headline {
  readonly action: Action;
  readonly status: number | null;
  readonly by: Asker | null;
  readonly text: string;
}

/** Effects that change what the visitor or the origin sees; under dry_run they carry `would_`. */
export type ActingEffect = Exclude<Effect, 'counted' | 'passed' | 'unavailable' | 'self_redirect'>;
export type ShownEffect = Effect | `would_${ActingEffect}` | 'none';

export interface WouldHave {
  readonly action: ActingEffect;
  /** `null` where the rule would not have answered by itself, or where the trace does not tell the status. */
  readonly status: number | null;
  readonly by: Asker;
  readonly text: string;
}

/** What the origin gets. Fields are `null` when the request is not forwarded. */
export interface Effective {
  readonly origin: string | null;
  readonly host_header: string | null;
  readonly path: string | null;
  readonly query: string | null;
  readonly record: { readonly id: number; readonly name: string } | null;
  readonly tags: readonly string[];
  /** No rule type adds request headers, so this list is empty in format v1. */
  readonly headers_added: readonly string[];
  /** `null`: the node's standard caching. */
  readonly cache: {
    readonly mode: CacheMode;
    readonly edge_ttl_sec: number | null;
    readonly browser_ttl_sec: number | null;
    readonly key: string | null;
  } | null;
  readonly location: string | null;
  readonly retry_after: number | null;
}

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
  readonly inspection?: InspectionTrace;
}

export interface PhaseNote {
  readonly name: Phase;
  readonly outcome: PhaseOutcome;
  readonly note: string | null;
  readonly rules: readonly RuleNote[];
}

/** What the visitor sees for an error status that was asked about, or that the decision itself makes. */
export interface ErrorPageNote {
  readonly status: number;
  readonly made_by: 'edge' | 'origin';
  /** `null`: no rule covers the status. */
  readonly page: 'svc' | 'custom' | 'origin' | null;
  readonly html: string | null;
  readonly by: Asker | null;
}

export interface TraceDocument {
  readonly format: typeof TRACE_FORMAT;
  readonly plan: PlanNote;
  /** `null` where none were loaded, or no `waf` rule asks for any. */
  readonly signatures: SignaturesNote | null;
  readonly request: RequestNote;
  readonly facts: FactsTrace;
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

/** `<type>/<id>`, as tags, clearances and `affects` spell a rule. */
export function refOf(rule: { readonly type: string; readonly id: number }): string {
  return `${rule.type}/${rule.id}`;
}

/** Whether a rule was left out before its filters mattered: switched off, or bound to other records. */
export function isAside(rule: RuleNote): boolean {
  return rule.reason.code === 'disabled' || rule.reason.code === 'out_of_scope';
}
