/**
 * What a customer writes, in the API's own field names, after every default has been filled in and every address
 * entry brought to its canonical text. The schemas beside this file produce exactly these shapes.
 */
import type {
  ActionMode,
  BotAction,
  BotKind,
  BreachAction,
  CacheMode,
  CacheQueryMode,
  DomainStatus,
  ErrorPageMode,
  FingerprintAction,
  HostMatchType,
  LbType,
  ListMatchType,
  OriginScheme,
  PathMatchType,
  RateLimitKey,
  RecordScheme,
  RecordType,
  RedirectStatus,
  RewriteQueryMode,
  UninspectedMode,
} from '../base/vocabulary.ts';

/** The part of a domain that shapes what the edge does. */
export interface Domain {
  /** Lower-case ASCII name without a trailing dot. */
  readonly name: string;
  readonly status: DomainStatus;
  readonly suspended: boolean;
  /** RFC 3339; while in the future, the cache is bypassed. `null` when off. */
  readonly developer_mode_until: string | null;
  /** Megabytes a response's body may have to be kept; larger ones stream through. */
  readonly cache_cap_mb: number;
  /** Gigabytes of the node's disk cache, and the days an entry lives there at most. */
  readonly cache_l2_max_gb: number;
  readonly cache_l2_ttl_days: number;
  /** Answers say `X-Content-Type-Options: nosniff`. */
  readonly sec_no_sniff: boolean;
  /** Answers say `Referrer-Policy: strict-origin-when-cross-origin`. */
  readonly sec_referrer_policy: boolean;
  /** Headers that tell the origin's software are taken out of answers. */
  readonly sec_strip_headers: boolean;
  /** Clients that ask for `text/markdown` get pages as Markdown. */
  readonly markdown_for_agents: boolean;
  /** No WebSocket is passed on, as where what the owner has bought holds none. */
  readonly websockets_off: boolean;
}

/** One DNS record. */
export interface DnsRecord {
  readonly id: number;
  /** Relative to the domain or absolute; `@` is the apex. As stored. */
  readonly name: string;
  readonly type: RecordType;
  readonly destination: string;
  readonly mx_priority: number | null;
  readonly proxied: boolean;
  readonly captcha: boolean;
  readonly scheme: RecordScheme;
  /** Origin port; `null` follows the scheme. */
  readonly port: number | null;
  /** Empty: the visitor's own host. */
  readonly host_header: string;
  readonly monitor: boolean;
  /** Seconds the edge waits for the origin before 504; `null` is the node's own default. */
  readonly timeout: number | null;
  readonly comment: string;
}

/** Fields of every rule. */
export interface RuleCommon {
  readonly id: number;
  /** Empty: every proxied record of the domain. */
  readonly record_ids: readonly number[];
  readonly enabled: boolean;
  /** 0…1,000,000; lower runs first, ties by id. */
  readonly priority: number;
  /** Legacy: one more entry of `host_includes`. Empty when unused. */
  readonly host_pattern: string;
  readonly host_match_type: HostMatchType;
  readonly host_includes: readonly string[];
  readonly host_excludes: readonly string[];
  readonly action_mode: ActionMode;
}

/** The path filter of the types that have one. */
export interface PathFilter {
  readonly path_match_type: PathMatchType;
  /** Empty: every path. */
  readonly path_includes: readonly string[];
  readonly path_excludes: readonly string[];
}

export interface DropRule extends RuleCommon, PathFilter {
  readonly type: 'drop';
  readonly country_match_type: ListMatchType;
  /** ISO 3166-1 alpha-2, upper case. Empty: no country filter. */
  readonly countries: readonly string[];
  readonly ip_match_type: ListMatchType;
  /** Canonical: an address, a prefix with its host bits masked, or `first-last` in order. Empty: no IP filter. */
  readonly ips: readonly string[];
}

export interface FingerprintRule extends RuleCommon {
  readonly type: 'fingerprint';
  /** Exact, or a prefix that ends in `*`. */
  readonly match_ja4: readonly string[];
  readonly match_ja4h: readonly string[];
  readonly action: FingerprintAction;
}

export interface BotRouteRule extends RuleCommon {
  readonly type: 'bot_route';
  readonly bot_kinds: readonly ('*' | BotKind)[];
  readonly require_verified: boolean;
  readonly action: BotAction;
  /** For `alt_content`: 200…599. */
  readonly status: number;
  readonly body: string;
  /** For `alt_origin`; empty otherwise. */
  readonly alt_dest: string;
  /** `null` follows `alt_scheme`. */
  readonly alt_port: number | null;
  readonly alt_scheme: OriginScheme;
}

export interface RateLimitRule extends RuleCommon, PathFilter {
  readonly type: 'rate_limit';
  readonly limit: number;
  /** Seconds, 1…86,400. */
  readonly window_sec: number;
  readonly key_by: RateLimitKey;
  readonly on_breach: BreachAction;
  readonly burst: number;
}

/** Signatures that leave something out: one by id or a group by tag, everywhere or for one target, on some paths. */
export interface WafExclusion {
  /** `null` when `tag` says which. */
  readonly id: number | null;
  readonly tag: string;
  /** `ARGS:comment`, `REQUEST_COOKIES:sess*`, `REQUEST_HEADERS`; empty: the signature does not count. */
  readonly target: string;
  /** A wildcard path; `/*` is every path. */
  readonly path: string;
}

export interface WafRule extends RuleCommon, PathFilter {
  readonly type: 'waf';
  readonly paranoia: number;
  readonly threshold: number;
  /** KiB of request body inspected; 0 skips the body. */
  readonly body_cap_kb: number;
  readonly rule_excludes: readonly string[];
  readonly exclusions: readonly WafExclusion[];
  /** What follows when a body cannot be inspected, or not whole. */
  readonly on_uninspected: UninspectedMode;
}

export interface RedirectRule extends RuleCommon, PathFilter {
  readonly type: 'redirect';
  readonly target: string;
  readonly status_code: RedirectStatus;
  readonly preserve_query: boolean;
  readonly preserve_path: boolean;
}

export interface CaptchaRule extends RuleCommon, PathFilter {
  readonly type: 'captcha';
  /** Seconds a solved challenge is remembered, 60…2,592,000. */
  readonly ttl_sec: number;
}

export interface RewriteRule extends RuleCommon, PathFilter {
  readonly type: 'rewrite';
  /** Empty keeps the path. */
  readonly path_target: string;
  readonly query_mode: RewriteQueryMode;
  /** For `replace`; empty otherwise. */
  readonly query_target: string;
}

export interface CacheRule extends RuleCommon, PathFilter {
  readonly type: 'cache';
  readonly mode: CacheMode;
  /** Seconds; `null` follows the origin. */
  readonly edge_ttl_sec: number | null;
  readonly browser_ttl_sec: number | null;
  readonly query_mode: CacheQueryMode;
  readonly query_params: readonly string[];
}

export interface OriginRouteRule extends RuleCommon, PathFilter {
  readonly type: 'origin_route';
  readonly address: string;
  /** `null` follows the scheme. */
  readonly port: number | null;
  readonly scheme: OriginScheme;
  /** Empty: the visitor's own host. */
  readonly host_header: string;
  readonly country: string;
  readonly name: string;
}

export interface PoolOrigin {
  readonly address: string;
  readonly port: number | null;
  readonly scheme: OriginScheme;
  /** Relative share; 0 drains. */
  readonly weight: number;
  readonly node_ids: readonly number[];
  readonly country: string;
}

export interface HealthCheck {
  readonly enabled: boolean;
  readonly path: string;
  readonly interval_sec: number;
  readonly timeout_sec: number;
  readonly unhealthy_threshold: number;
  readonly healthy_threshold: number;
  readonly eject_sec: number;
  readonly host: string;
}

export interface OriginPoolRule extends RuleCommon {
  readonly type: 'origin_pool';
  readonly lb_type: LbType;
  readonly origins: readonly PoolOrigin[];
  readonly health_check: HealthCheck;
  readonly host_header: string;
  readonly name: string;
}

export interface ErrorPageRule extends RuleCommon, PathFilter {
  readonly type: 'error_page';
  readonly mode: ErrorPageMode;
  /** 400…599. */
  readonly codes: readonly number[];
  /** Status code (or `0`, the fallback) to HTML. */
  readonly content: Readonly<Record<string, string>>;
}

export type Rule =
  | DropRule
  | FingerprintRule
  | BotRouteRule
  | RateLimitRule
  | WafRule
  | RedirectRule
  | CaptchaRule
  | RewriteRule
  | CacheRule
  | OriginRouteRule
  | OriginPoolRule
  | ErrorPageRule;

/** Everything that shapes one domain at one moment: the compiler's only input. */
/** What rules and records go by from one state of an edge file to the next, by their ids. */
export interface ObjectKeys {
  readonly rules: ReadonlyMap<number, string>;
  readonly records: ReadonlyMap<number, string>;
}

export interface RuleSet {
  readonly domain: Domain;
  readonly records: readonly DnsRecord[];
  readonly rules: readonly Rule[];
  /** Of an edge file, where ids are only places; absent: everything goes by its id. */
  readonly keys?: ObjectKeys;
}
