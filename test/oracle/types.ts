/**
 * The shapes that go into and come out of the oracle. They repeat those of `src/engine/evaluator/{request,decision}.ts`
 * field for field and are written out here, so that the oracle depends on nothing it is there to judge.
 */
import type { RuleSet } from '../../src/rules/model/types.ts';

type RuleType = RuleSet['rules'][number]['type'];

/** One request as the embedder saw it; any field may hold anything. */
export interface EdgeRequest {
  readonly scheme: string;
  readonly method: string;
  readonly id?: string | undefined;
  readonly host: string | readonly string[];
  readonly target: string;
  readonly protocol?: string | undefined;
  readonly port?: number | undefined;
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>> | undefined;
  readonly ip?: string | null | undefined;
  readonly country?: string | null | undefined;
  readonly asn?: number | null | undefined;
  readonly bot?: { readonly kind: string; readonly verified: boolean } | null | undefined;
  readonly ja4?: string | null | undefined;
  readonly ja4h?: string | null | undefined;
  readonly body?: Uint8Array | string | null | undefined;
  readonly bodyError?: string | null | undefined;
  readonly bodyTruncated?: boolean | undefined;
  readonly now?: number | undefined;
  readonly cleared?: readonly string[] | undefined;
  readonly identity?: Identity | null | undefined;
}

/** Why credentials name no consumer. */
export type IdentityFailure =
  | 'missing'
  | 'doubled'
  | 'conflict'
  | 'too_long'
  | 'malformed'
  | 'unknown_key'
  | 'expired'
  | 'not_yet_valid'
  | 'wrong_issuer'
  | 'wrong_audience'
  | 'wrong_algorithm'
  | 'wrong_type'
  | 'wrong_signature'
  | 'unknown_key_id'
  | 'no_keys'
  | 'claim_missing'
  | 'unknown_consumer';

/** Whose request it is, as the embedder has verified its credentials. */
export interface Identity {
  readonly keyId?: string | undefined;
  readonly consumer: string | null;
  readonly verified?: readonly ('api_key' | 'jwt' | 'mtls')[] | undefined;
  readonly claims?: Readonly<Record<string, unknown>> | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly failure?: IdentityFailure | null | undefined;
  readonly exhaustedUntil?: number | null | undefined;
}

/** What the gateway that acts has made of a request. */
export interface GatewayOutcome {
  readonly reason:
    | 'admitted'
    | 'preflight'
    | 'unknown_operation'
    | 'method_not_allowed'
    | 'credentials'
    | 'consumer_disabled'
    | 'consumer_expired'
    | 'acl'
    | 'scopes'
    | 'concurrency'
    | 'throttled'
    | 'quota'
    | 'content_type'
    | 'body_too_large'
    | 'body_uninspected'
    | 'body_invalid';
  readonly operation: string | null;
  readonly consumer: string | null;
  readonly failure?: IdentityFailure;
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[];
}

/** Where the gateway of a request reads credentials, and the names of the issuers whose tokens it takes. */
export interface CredentialsWanted {
  readonly apiKeySources: readonly {
    readonly in: 'header' | 'query' | 'cookie';
    readonly name: string;
  }[];
  readonly issuers: readonly string[];
  readonly clients: { readonly certificates: readonly string[] } | null;
  readonly needsCertificate: boolean;
}

/** What a matched rule did, or would have done. */
export type Effect =
  | 'block'
  | 'challenge'
  | 'tag'
  | 'respond'
  | 'alt_origin'
  | 'counted'
  | 'passed'
  | 'unavailable'
  | 'redirect'
  | 'self_redirect'
  | 'rewrite'
  | 'refuse'
  | 'cache'
  | 'origin'
  | 'error_page'
  | 'headers'
  | 'admit';

export interface RuleRef {
  readonly type: RuleType | 'record';
  readonly id: number;
  readonly key?: string;
}

export interface Match {
  readonly type: RuleType;
  readonly id: number;
  readonly key?: string;
  readonly mode: 'enforce' | 'dry_run';
  readonly effect: Effect;
  readonly waf?: WafVerdict;
}

export interface Origin {
  readonly address: string;
  readonly port: number | null;
  readonly scheme: 'http' | 'https' | 'auto';
  readonly hostHeader: string;
  readonly source: 'alt_origin' | 'origin_route' | 'origin_pool' | 'record';
  readonly timeoutSec: number | null;
}

export interface CacheDirective {
  readonly mode: 'standard' | 'force' | 'bypass';
  readonly edgeTtl: number | null;
  readonly browserTtl: number | null;
  readonly key: string | null;
}

export interface WafFinding {
  readonly score: number;
  readonly ids: readonly number[];
  readonly matches: readonly {
    readonly id: number;
    readonly message: string;
    readonly severity: number;
    readonly category: string;
    readonly score: number;
    readonly variable: string;
    readonly value: string;
  }[];
  readonly categories: Readonly<Record<string, number>>;
  readonly denied: boolean;
  readonly bodyError: string | null;
  readonly exhausted: boolean;
}

export interface WafVerdict extends WafFinding {
  readonly truncated: boolean;
  readonly uninspected: 'coding' | 'unparsable' | 'beyond_cap' | 'unread' | null;
}

export interface HeaderChange {
  readonly op: 'set' | 'add' | 'remove';
  readonly name: string;
  readonly value: string | null;
}

/** The request's one outcome. */
export interface Decision {
  readonly action: 'forward' | 'block' | 'challenge' | 'redirect' | 'respond' | 'refuse';
  readonly status: number | null;
  readonly rule: RuleRef | null;
  readonly location: string | null;
  readonly body: string | null;
  readonly origin: Origin | null;
  readonly path: string | null;
  readonly query: string | null;
  readonly cache: CacheDirective | null;
  readonly tags: readonly string[];
  readonly retryAfter: number | null;
  readonly waf: WafVerdict | null;
  readonly requestHeaders?: readonly HeaderChange[];
  readonly responseHeaders?: readonly HeaderChange[];
  readonly gateway?: GatewayOutcome;
  readonly matches: readonly Match[];
  readonly shadow: Decision | null;
  readonly revision: number;
}

export interface ErrorPage {
  readonly kind: 'svc' | 'custom' | 'origin';
  readonly html: string | null;
  readonly rule: RuleRef;
}

export interface ErrorPageAnswer {
  readonly page: ErrorPage | null;
  readonly matches: readonly Match[];
  readonly shadow: ErrorPageAnswer | null;
}

/** What a waf program is asked and what it answers. */
export interface WafProgram {
  inspect(
    input: {
      readonly request: EdgeRequest;
      readonly body: Uint8Array | null;
      readonly truncated: boolean;
      readonly bodyError?: string | null;
    },
    settings: {
      readonly paranoia: number;
      readonly threshold: number;
      readonly excludes: readonly string[];
      readonly exclusions: readonly {
        readonly id: number | null;
        readonly tag: string | null;
        readonly target: string | null;
      }[];
    },
  ): WafFinding;
  has(id: number): boolean;
}

/** Whatever a decision rests on besides the request and the rules. All of it has a default. */
export interface OracleEnv {
  /** Default 0. */
  readonly revision?: number;
  /** Milliseconds since the epoch, for requests without a `now`. Default: the machine's clock. */
  readonly now?: () => number;
  /** The edge node this is, for `geo` pools. Default `null`: none. */
  readonly nodeId?: number | null;
  /** Default: every origin is healthy. */
  readonly healthy?: (poolRuleId: number, originIndex: number) => boolean;
  /** Requests an origin is busy with. Default 0. */
  readonly inFlight?: (poolRuleId: number, originIndex: number) => number;
  /** Default `null`: no program is loaded. */
  readonly waf?: WafProgram | null;
}
