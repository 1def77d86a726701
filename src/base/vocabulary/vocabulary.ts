/**
 * The closed vocabularies that customers, plans and decisions share. Both `model` (what is written) and `plan`
 * (what is read) build on these lists; neither may import the other.
 */

/** The rule types, in the order of their phases (semantics §4). */
export const RULE_TYPES = [
  'drop',
  'fingerprint',
  'bot_route',
  'rate_limit',
  'gateway',
  'waf',
  'redirect',
  'captcha',
  'rewrite',
  'cache',
  'origin_route',
  'origin_pool',
  'error_page',
  'headers',
] as const;
export type RuleType = (typeof RULE_TYPES)[number];

/** Names that other systems have for the rule types. For messages alone: none of them is accepted. */
export const TYPE_ALIASES: { readonly [T in RuleType]: readonly string[] } = {
  drop: [
    'acl',
    'allow',
    'allowlist',
    'ban',
    'block',
    'blocklist',
    'deny',
    'denylist',
    'geo_block',
    'ip_block',
    'reject',
  ],
  fingerprint: ['ja4'],
  bot_route: ['bot', 'bots'],
  rate_limit: ['limit', 'limit_req', 'ratelimit', 'rate-limit', 'throttle'],
  gateway: ['api', 'api_gateway', 'basic_auth', 'jwt', 'jwt_auth', 'key_auth'],
  waf: ['firewall', 'modsecurity'],
  redirect: ['return'],
  captcha: ['challenge'],
  rewrite: ['url_rewrite'],
  cache: ['caching'],
  origin_route: ['backend', 'forward', 'origin', 'proxy', 'proxy_pass', 'route'],
  origin_pool: ['load_balancer', 'pool', 'upstream'],
  error_page: ['error', 'error_pages'],
  headers: [
    'add_header',
    'header',
    'header_transform',
    'more_set_headers',
    'proxy_hide_header',
    'proxy_set_header',
    'request_headers',
    'response_headers',
    'set_header',
    'transform',
  ],
};

/** The types whose rules are always enforced: their `action_mode` is ignored (semantics §4). */
export const ALWAYS_ENFORCED: readonly RuleType[] = ['cache'];

/** The types whose path segment has an underscore (API document, "Edge rules"). */
const UNDERSCORED: readonly RuleType[] = ['origin_route', 'origin_pool'];

/** The path of the rules of a type in the API, below its domain: `bot_route` → `rules/bot-route`, `gateway` → `gateways`. */
export function typePath(type: RuleType): string {
  if (type === 'gateway') return 'gateways';
  return `rules/${UNDERSCORED.includes(type) ? type : type.replaceAll('_', '-')}`;
}

/**
 * The named bots in the API document's order, which is also the order of precedence, then the catch-all kind. A name is
 * also the token in the User-Agent; the comments cite where the operator publishes it.
 */
export const BOT_KINDS = [
  // OpenAI, platform.openai.com/docs/bots
  'gptbot',
  'oai-searchbot',
  'chatgpt-user',
  // Anthropic, support.claude.com, article 8896518 "Does Anthropic crawl data from the web"
  'claudebot',
  'claude-user',
  // Perplexity, docs.perplexity.ai/guides/bots
  'perplexitybot',
  'perplexity-user',
  // Google, developers.google.com/search/docs/crawling-indexing/googlebot
  'googlebot',
  'google-extended',
  // Microsoft, bing.com/webmasters/help/which-crawlers-does-bing-use-8c184ec0
  'bingbot',
  // Common Crawl, commoncrawl.org/ccbot
  'ccbot',
  // ByteDance publishes no page; the crawler names itself "Bytespider" with the address spider-feedback@bytedance.com
  'bytespider',
  // Meta, developers.facebook.com/docs/sharing/webmasters/web-crawlers
  'meta-externalagent',
  // Amazon, developer.amazon.com/amazonbot
  'amazonbot',
  // Apple, support.apple.com/en-us/119829
  'applebot',
  // DuckDuckGo, duckduckgo.com/duckduckgo-help-pages/results/duckduckbot
  'duckduckbot',
  // Yandex, yandex.com/support/webmaster/robot-workings/check-yandex-robots.html
  'yandexbot',
  // Ahrefs, ahrefs.com/robot
  'ahrefsbot',
  // Semrush, semrush.com/bot
  'semrushbot',
  // Majestic, mj12bot.com
  'mj12bot',
  'generic-bot',
] as const;
export type BotKind = (typeof BOT_KINDS)[number];

/** Search crawlers that, once verified, pass captcha rules (semantics §4). */
export const SEARCH_CRAWLERS = ['googlebot', 'bingbot', 'applebot', 'duckduckbot', 'yandexbot'] as const;

/** What the edge does with a request. */
export const ACTIONS = ['forward', 'block', 'challenge', 'redirect', 'respond', 'refuse'] as const;
export type Action = (typeof ACTIONS)[number];

/** What the entries of a named list are (semantics §13). */
export const LIST_KINDS = ['ip', 'asn', 'country', 'host', 'path', 'user_agent', 'redirect'] as const;
export type ListKind = (typeof LIST_KINDS)[number];

export const ACTION_MODES = ['enforce', 'dry_run'] as const;
export type ActionMode = (typeof ACTION_MODES)[number];

export const HOST_MATCH_TYPES = ['', 'exact', 'wildcard', 'regex'] as const;
export type HostMatchType = (typeof HOST_MATCH_TYPES)[number];

export const PATH_MATCH_TYPES = ['wildcard', 'regex'] as const;

/** How a condition on headers, query parameters or cookies compares (semantics §12); `not_` forms negate the comparison. */
export const VALUE_COMPARISONS = ['equals', 'prefix', 'suffix', 'contains', 'wildcard', 'regex'] as const;
export type ValueComparison = (typeof VALUE_COMPARISONS)[number];

/** What a condition asks of a header, a query parameter or a cookie. */
export const CONDITION_OPS = [
  'present',
  'absent',
  ...VALUE_COMPARISONS,
  'not_equals',
  'not_prefix',
  'not_suffix',
  'not_contains',
  'not_wildcard',
  'not_regex',
] as const;
export type ConditionOp = (typeof CONDITION_OPS)[number];

/** The members of `conditions` that list headers, query parameters and cookies. */
export const VALUE_MEMBERS = ['headers', 'query', 'cookies'] as const;
export type ValueMember = (typeof VALUE_MEMBERS)[number];

export const LIST_MATCH_TYPES = ['include', 'exclude'] as const;

export const DOMAIN_STATUSES = ['pending', 'unverified', 'active', 'moved', 'disabled', 'banned'] as const;
export type DomainStatus = (typeof DOMAIN_STATUSES)[number];

export const ORIGIN_SCHEMES = ['http', 'https'] as const;
export type OriginScheme = (typeof ORIGIN_SCHEMES)[number];

export const LB_TYPES = ['round_robin', 'least_load', 'geo'] as const;
export type LbType = (typeof LB_TYPES)[number];

/** What an exclusion of a waf rule may name, in ModSecurity's words; those with members may be narrowed to a name. */
export const WAF_TARGETS = {
  ARGS: 'members',
  ARGS_GET: 'members',
  ARGS_NAMES: 'members',
  ARGS_POST: 'members',
  FILES: 'members',
  FILES_NAMES: 'members',
  MULTIPART_PART_HEADERS: 'members',
  QUERY_STRING: 'single',
  REQUEST_BASENAME: 'single',
  REQUEST_BODY: 'single',
  REQUEST_COOKIES: 'members',
  REQUEST_COOKIES_NAMES: 'members',
  REQUEST_FILENAME: 'single',
  REQUEST_HEADERS: 'members',
  REQUEST_HEADERS_NAMES: 'members',
  REQUEST_LINE: 'single',
  REQUEST_METHOD: 'single',
  REQUEST_PROTOCOL: 'single',
  REQUEST_URI: 'single',
  REQUEST_URI_RAW: 'single',
  XML: 'members',
} as const;

/** What a waf rule does about the part of a body that its signatures cannot inspect. */
export const UNINSPECTED_MODES = ['score', 'block', 'pass'] as const;
export type UninspectedMode = (typeof UNINSPECTED_MODES)[number];

export const FINGERPRINT_ACTIONS = ['drop', 'challenge', 'tag'] as const;

export const BOT_ACTIONS = ['block', 'alt_content', 'alt_origin', 'tag'] as const;

export const BREACH_ACTIONS = ['drop', 'captcha'] as const;

export const RATE_KEYS = ['ip', 'ip_path'] as const;

/** What the key of a rate limit may consist of (semantics §14): facts of a request, and values that are written `<source>:<name>`. */
export const RATE_PART_FACTS = ['ip', 'path', 'country', 'asn', 'ja4'] as const;
export const RATE_PART_SOURCES = ['header', 'cookie', 'query'] as const;
/** The kinds of parts, in the order of their numbers in plans. */
export const RATE_PARTS = [...RATE_PART_FACTS, ...RATE_PART_SOURCES] as const;
export type RatePart = (typeof RATE_PARTS)[number];

export const REWRITE_QUERY_MODES = ['preserve', 'replace', 'strip'] as const;

export const REDIRECT_STATUSES = [301, 302, 307, 308] as const;

/** How a redirect's `target` is read. The first is the default, of which nothing is stored. */
export const REDIRECT_TARGET_MODES = ['literal', 'captures'] as const;

/** What a drop rule answers. The first is the default, of which nothing is stored. */
export const DROP_STATUSES = [403, 404, 410, 421, 429, 451, 503] as const;

export const CACHE_MODES = ['standard', 'force', 'bypass'] as const;
export type CacheMode = (typeof CACHE_MODES)[number];

export const CACHE_QUERY_MODES = ['all', 'none', 'include'] as const;

export const ERROR_PAGE_MODES = ['svc', 'custom', 'origin'] as const;

/** What a headers rule does with a field, in the order in which one rule does it (semantics §14). */
export const HEADER_OPS = ['set', 'add', 'remove'] as const;
export type HeaderOp = (typeof HEADER_OPS)[number];

/** The messages whose fields a headers rule changes. */
export const HEADER_SIDES = ['request', 'response'] as const;
export type HeaderSide = (typeof HEADER_SIDES)[number];

/** What `${…}` in a value of a headers rule inserts, besides `tag(<rule>)` and `claim(<name>)`. */
export const HEADER_VARIABLES = [
  'client_ip',
  'client_country',
  'host',
  'scheme',
  'method',
  'request_id',
  'ja4',
  'bot_kind',
  'consumer',
] as const;
export type HeaderVariable = (typeof HEADER_VARIABLES)[number];

/** Which of the credentials that a gateway takes a request must have. The first is the default. */
export const AUTH_REQUIREMENTS = ['any', 'all', 'none'] as const;
export type AuthRequirement = (typeof AUTH_REQUIREMENTS)[number];

/** What a gateway does with a request that no operation describes. The first is the default. */
export const UNKNOWN_OPERATION_MODES = ['block', 'log', 'pass'] as const;

/** What a gateway does with a request whose body it refuses, or cannot read whole. The first is the default. */
export const VALIDATION_MODES = ['block', 'log', 'pass'] as const;
export type ValidationMode = (typeof VALIDATION_MODES)[number];

/** Where an operation of a gateway comes from: a document, or the customer's own words. */
export const OPERATION_SOURCES = ['manual', 'schema', 'discovered'] as const;

/** The kinds of credentials that gateways take (semantics §15). */
export const CREDENTIAL_KINDS = ['api_key', 'jwt', 'mtls'] as const;
export type CredentialKind = (typeof CREDENTIAL_KINDS)[number];

/** Where a credential of a request may be. */
export const CREDENTIAL_PLACES = ['header', 'query', 'cookie'] as const;
export type CredentialPlace = (typeof CREDENTIAL_PLACES)[number];

/**
 * Algorithms of the signatures of tokens (RFC 7518 §3.1, RFC 8037). `none` and those with a shared secret are left out: a
 * node would have what a forger needs.
 */
export const TOKEN_ALGORITHMS = [
  'ES256',
  'ES384',
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'EdDSA',
] as const;
export type TokenAlgorithm = (typeof TOKEN_ALGORITHMS)[number];

/** A place of a credential in a request. */
export interface CredentialSource {
  readonly in: CredentialPlace;
  readonly name: string;
}

/** What all public keys may have. */
interface KeyNames {
  /** By which tokens name the key. */
  readonly kid?: string;
  /** The one algorithm that the key is for; absent: any that fits. */
  readonly alg?: TokenAlgorithm;
}

/** A public key of a token issuer as a JSON Web Key (RFC 7518 §6, RFC 8037 §2), of a kind that signatures are checked with. */
export type PublicJwk =
  | (KeyNames & {
      readonly kty: 'EC';
      readonly crv: 'P-256' | 'P-384';
      readonly x: string;
      readonly y: string;
    })
  | (KeyNames & { readonly kty: 'RSA'; readonly n: string; readonly e: string })
  | (KeyNames & { readonly kty: 'OKP'; readonly crv: 'Ed25519'; readonly x: string });

/**
 * Why the credentials of a request name no consumer. `missing`: the request has none. `doubled`: one place has several.
 * `conflict`: two of them name different consumers. For logs and traces; answers to visitors have none of these words.
 */
export const IDENTITY_FAILURES = [
  'missing',
  'doubled',
  'conflict',
  'too_long',
  'malformed',
  'unknown_key',
  'expired',
  'not_yet_valid',
  'wrong_issuer',
  'wrong_audience',
  'wrong_algorithm',
  'wrong_type',
  'wrong_signature',
  'unknown_key_id',
  'no_keys',
  'claim_missing',
  'unknown_consumer',
] as const;
export type IdentityFailure = (typeof IDENTITY_FAILURES)[number];

/** Periods of quotas, in UTC: from midnight, from Monday, from the first of the month, or the last 30 days at any time. */
export const QUOTA_PERIODS = ['day', 'week', 'month', 'rolling_30d'] as const;
export type QuotaPeriod = (typeof QUOTA_PERIODS)[number];

export const RECORD_SCHEMES = ['Default', 'Auto', 'Http', 'Https'] as const;

/**
 * The destination, in a plan, of a record whose host the embedding application answers. The name never resolves (RFC
 * 6761 §6.4), so that a node which is given such a plan answers 502 and reaches nobody.
 */
export const APPLICATION_HOST = 'application.invalid';
