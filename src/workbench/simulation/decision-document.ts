/**
 * Converts what the evaluator returns to JSON documents: field names in snake_case, and for what the decision log
 * contains the names and forms of its lines (`edge/proxy/log/line.ts`).
 */
import type { ActionMode, CacheMode, UninspectedMode } from '../../base/vocabulary/vocabulary.ts';
import {
  type Action,
  type Decision,
  type Effect,
  type GatewayOutcome,
  type HeaderChange,
  type OriginSource,
  originText,
  type Uninspected,
  type WafVerdict,
} from '../../engine/evaluator/decision.ts';
import { refText } from '../../engine/evaluator/identity.ts';
import type { FactsTrace, InspectionTrace } from '../../engine/evaluator/trace.ts';
import type { InspectionExclusion, WafMatch } from '../../engine/waf/request/inspection.ts';

/** What the signatures found; fields as in `WafVerdict`. */
export interface VerdictDocument {
  readonly score: number;
  readonly ids: readonly number[];
  readonly matches: readonly WafMatch[];
  readonly categories: Readonly<Record<string, number>>;
  readonly denied: boolean;
  readonly exhausted: boolean;
  readonly truncated: boolean;
  readonly uninspected: Uninspected | null;
  readonly body_error: string | null;
}

/** The finding of a waf rule with its settings; fields as in `InspectionTrace`. */
export interface InspectionDocument extends VerdictDocument {
  readonly paranoia: number;
  readonly threshold: number;
  readonly excludes: readonly string[];
  readonly exclusions: readonly InspectionExclusion[];
  readonly on_uninspected: UninspectedMode;
}

/** A decision; see `Decision` for the meaning of the fields. */
export interface DecisionDocument {
  readonly action: Action;
  readonly status: number | null;
  /** `<type>/<id>`, or `<type>/<key>` if the rule has one. */
  readonly rule: string | null;
  readonly location: string | null;
  readonly body: string | null;
  /** `scheme://address:port`. */
  readonly origin: string | null;
  readonly origin_source: OriginSource | null;
  /** Seconds. */
  readonly origin_timeout_sec: number | null;
  readonly host_header: string | null;
  /** Path and query for the origin. */
  readonly path: string | null;
  readonly cache: {
    readonly mode: CacheMode;
    readonly edge_ttl_sec: number | null;
    readonly browser_ttl_sec: number | null;
    readonly key: string | null;
  } | null;
  readonly tags: readonly string[];
  /** Seconds. */
  readonly retry_after: number | null;
  readonly waf: VerdictDocument | null;
  /** What the gateway made of the request; absent: none acted. */
  readonly gateway?: GatewayOutcome;
  /** Absent: no headers rule changes the request. */
  readonly request_headers?: readonly HeaderChange[];
  /** Absent: no headers rule changes the response. */
  readonly response_headers?: readonly HeaderChange[];
  readonly matches: readonly {
    readonly rule: string;
    readonly mode: ActionMode;
    readonly effect: Effect;
    readonly waf?: VerdictDocument;
  }[];
  /** The decision had every dry_run rule been enforced; `null` when no dry_run rule matched. */
  readonly shadow: DecisionDocument | null;
  readonly revision: number;
}

/** The normalised request; fields as in `FactsTrace`. */
export interface FactsDocument extends Omit<FactsTrace, 'pathWithoutParameters' | 'asn'> {
  /** Absent: unknown. */
  readonly asn?: number;
  readonly path_without_parameters: string | null;
}

/** The JSON document of a decision. */
export function decisionDocument(decision: Decision): DecisionDocument {
  const { origin, cache, path, query, waf, shadow, requestHeaders, responseHeaders } = decision;
  return {
    action: decision.action,
    status: decision.status,
    rule: decision.rule === null ? null : refText(decision.rule),
    location: decision.location,
    body: decision.body,
    origin: origin === null ? null : originText(origin),
    origin_source: origin?.source ?? null,
    origin_timeout_sec: origin?.timeoutSec ?? null,
    host_header: origin?.hostHeader ?? null,
    path: path === null || query === null ? path : `${path}?${query}`,
    cache: cacheDocument(cache),
    tags: decision.tags,
    retry_after: decision.retryAfter,
    waf: waf === null ? null : verdictDocument(waf),
    ...(decision.gateway === undefined ? {} : { gateway: decision.gateway }),
    ...(requestHeaders === undefined ? {} : { request_headers: requestHeaders }),
    ...(responseHeaders === undefined ? {} : { response_headers: responseHeaders }),
    matches: decision.matches.map((match) => ({
      rule: refText(match),
      mode: match.mode,
      effect: match.effect,
      ...(match.waf === undefined ? {} : { waf: verdictDocument(match.waf) }),
    })),
    shadow: shadow === null ? null : decisionDocument(shadow),
    revision: decision.revision,
  };
}

/** The JSON document of a cache directive. */
export function cacheDocument(cache: Decision['cache']): DecisionDocument['cache'] {
  if (cache === null) return null;
  const { mode, edgeTtl, browserTtl, key } = cache;
  return { mode, edge_ttl_sec: edgeTtl, browser_ttl_sec: browserTtl, key };
}

/** The JSON document of a verdict. */
function verdictDocument(found: WafVerdict): VerdictDocument {
  const { score, ids, matches, categories, denied, exhausted, truncated, uninspected, bodyError } = found;
  return {
    score,
    ids,
    matches,
    categories,
    denied,
    exhausted,
    truncated,
    uninspected,
    body_error: bodyError,
  };
}

/** The JSON document of a waf rule's inspection. */
export function inspectionDocument(found: InspectionTrace): InspectionDocument {
  const { paranoia, threshold, excludes, exclusions, onUninspected } = found;
  const settings = { paranoia, threshold, excludes, exclusions, on_uninspected: onUninspected };
  return { ...verdictDocument(found), ...settings };
}

/** The JSON document of the normalised request. */
export function factsDocument({ pathWithoutParameters, asn, ...facts }: FactsTrace): FactsDocument {
  return { ...facts, ...(asn === null ? {} : { asn }), path_without_parameters: pathWithoutParameters };
}
