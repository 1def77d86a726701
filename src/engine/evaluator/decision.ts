/** The outcome of a request, and the vocabularies of its fields. All of it is JSON-safe. */
import type { BodyError } from '../../base/json-schema/comparison.ts';
import type {
  Action,
  ActionMode,
  CacheMode,
  HeaderOp,
  IdentityFailure,
  RuleType,
} from '../../base/vocabulary/vocabulary.ts';
import type { WafFinding } from '../waf/request/inspection.ts';
import type { GatewayReason } from './gateways.ts';

export { ACTIONS, type Action } from '../../base/vocabulary/vocabulary.ts';

/** What a matched rule did, or (for a dry_run rule) would have done. */
export const EFFECTS = [
  'block',
  'challenge',
  'tag',
  'respond',
  'alt_origin',
  'counted',
  'passed',
  'unavailable',
  'redirect',
  'self_redirect',
  'rewrite',
  'refuse',
  'cache',
  'origin',
  'error_page',
  'headers',
  'admit',
] as const;
/** One of EFFECTS. */
export type Effect = (typeof EFFECTS)[number];

/** A reference to a rule or a record. */
export interface RuleRef {
  readonly type: RuleType | 'record';
  readonly id: number;
  /** Its identity if the id is only its place in an edge file (`identity.ts`); absent: the id. */
  readonly key?: string;
}

/** A rule that matched the request. */
export interface Match {
  readonly type: RuleType;
  readonly id: number;
  /** As in `RuleRef`. */
  readonly key?: string;
  readonly mode: ActionMode;
  readonly effect: Effect;
  /** What a waf rule under dry_run found; that of the rule that acts is the decision's own `waf`. */
  readonly waf?: WafVerdict;
}

/** What has chosen the origin. */
export const ORIGIN_SOURCES = ['alt_origin', 'origin_route', 'origin_pool', 'record'] as const;
/** One of ORIGIN_SOURCES. */
export type OriginSource = (typeof ORIGIN_SOURCES)[number];

/** Where a forwarded request goes. */
export interface Origin {
  readonly address: string;
  /** `null` only under `auto`, where the node's probe decides. */
  readonly port: number | null;
  readonly scheme: 'http' | 'https' | 'auto';
  readonly hostHeader: string;
  readonly source: OriginSource;
  /** Seconds to wait for it before 504, as the record sets them; `null`: the node's own default. */
  readonly timeoutSec: number | null;
}

/** Whether, how long and under which key the response is cached. */
export interface CacheDirective {
  readonly mode: CacheMode;
  /** Seconds; `null` follows the origin. */
  readonly edgeTtl: number | null;
  readonly browserTtl: number | null;
  /** `null` under `bypass`. */
  readonly key: string | null;
}

/**
 * Why a body was not inspected whole. `coding`: its Content-Encoding is unknown, doubled or does not inflate.
 * `unparsable`: it does not parse as its Content-Type. `beyond_cap`: it is longer than the rule inspects. `unread`: the
 * request has one that the evaluator was not given. If several hold, the first of them is reported.
 */
export const UNINSPECTED = ['coding', 'unparsable', 'beyond_cap', 'unread'] as const;
/** One of UNINSPECTED. */
export type Uninspected = (typeof UNINSPECTED)[number];

/**
 * What the signatures found. An exhausted step budget counts as at the threshold (semantics §5). The score includes
 * what `on_uninspected: score` adds; in `categories` that part is `uninspected`.
 */
export interface WafVerdict extends WafFinding {
  /** The body was longer than the rule inspects. */
  readonly truncated: boolean;
  /** `null`: all of the body was inspected, there was none, or the rule leaves bodies out. */
  readonly uninspected: Uninspected | null;
}

/**
 * A change of the fields of a message. `set` replaces all fields of the name, `add` adds one, `remove` removes all; names
 * compare without case. Changes act in their order.
 */
export interface HeaderChange {
  readonly op: HeaderOp;
  /** As the rule spells it. */
  readonly name: string;
  /** `null` under `remove`. May be a secret. */
  readonly value: string | null;
}

/** What the gateway of a request has made of it. */
export interface GatewayOutcome {
  readonly reason: GatewayReason;
  /** The id of the operation, or its template without one; `null`: no operation describes the request. */
  readonly operation: string | null;
  /** The username of the consumer; `null`: the request has no valid credentials. */
  readonly consumer: string | null;
  /** Under `credentials`: what is wrong with them. For logs; answers to visitors do not have it. */
  readonly failure?: IdentityFailure;
  /** Under `body_invalid`: where, without text of the body beside the names in pointers. */
  readonly errors?: readonly BodyError[];
}

/** What the edge does with one request, and why. */
export interface Decision {
  readonly action: Action;
  /** The answer's status; `null` when the request is forwarded. */
  readonly status: number | null;
  /** The rule that settled the outcome; `null` for the gate, the edge's own answers and a host's own records. */
  readonly rule: RuleRef | null;
  /** The Location of a redirect. */
  readonly location: string | null;
  /** The body of a `respond` by a bot_route rule or a gateway. */
  readonly body: string | null;
  /** Set when the request is forwarded. */
  readonly origin: Origin | null;
  /** The path and query the origin gets, percent-encoded; set when the request is forwarded. */
  readonly path: string | null;
  readonly query: string | null;
  /** `null`: the origin's own headers decide. */
  readonly cache: CacheDirective | null;
  /** `<type>/<id>`, `<type>/<key>` if there is one; in the order given. */
  readonly tags: readonly string[];
  /** `Retry-After` in whole seconds, for status 429. */
  readonly retryAfter: number | null;
  /** What the waf rule that acts has found. */
  readonly waf: WafVerdict | null;
  /** Changes of the request that the origin gets; absent: no headers rule changes it. */
  readonly requestHeaders?: readonly HeaderChange[];
  /** Changes of the response that the visitor gets, of an origin or of the edge; absent: no headers rule changes it. */
  readonly responseHeaders?: readonly HeaderChange[];
  /** What the gateway that acts has made of the request; absent: none acts. */
  readonly gateway?: GatewayOutcome;
  /** Every rule that matched, in evaluation order. */
  readonly matches: readonly Match[];
  /** The decision had every dry_run rule been enforced; `null` when no dry_run rule matched. */
  readonly shadow: Decision | null;
  /** The revision of the plan that decided. */
  readonly revision: number;
}

/** What a visitor sees for an error status. */
export interface ErrorPage {
  /** `svc`: the edge's own page. `custom`: the rule's HTML. `origin`: the origin's own body. */
  readonly kind: 'svc' | 'custom' | 'origin';
  /** The HTML of a `custom` page. */
  readonly html: string | null;
  readonly rule: RuleRef;
}

/** The error page of a response, with the rules that matched. */
export interface ErrorPageAnswer {
  /** `null`: no rule covers this request and status. */
  readonly page: ErrorPage | null;
  readonly matches: readonly Match[];
  readonly shadow: ErrorPageAnswer | null;
}

// An origin as text, as logs and documents name it.

/** `scheme://address:port`, IPv6 in brackets; without a port under `auto`, where the node's probe decides. */
export function originText({ scheme, address, port }: Origin): string {
  const host = address.includes(':') ? `[${address}]` : address;
  return port === null ? `${scheme}://${host}` : `${scheme}://${host}:${port}`;
}
