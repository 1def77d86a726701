/**
 * The types of a rule set: rules, records and the domain under the field names of the API, with every default set and
 * every address entry in its canonical text. Each type is derived from the form that reads it.
 */
import type { Domain } from './domain.ts';
import type { EntryList } from './lists.ts';
import type { DnsRecord } from './record.ts';
import type { Registry, SealedRegistry } from './registry/registry.ts';
import type { Rule } from './rule.ts';
import type { BotRouteRule } from './rules/bot-route.ts';
import type { CacheRule } from './rules/cache.ts';
import type { DropRule } from './rules/drop.ts';
import type { ErrorPageRule } from './rules/error-page.ts';
import type { FingerprintRule } from './rules/fingerprint.ts';
import type { GatewayRule } from './rules/gateway.ts';
import type { HeadersRule } from './rules/headers.ts';
import type { OriginPoolRule } from './rules/origin-pool.ts';
import type { OriginRouteRule } from './rules/origin-route.ts';
import type { RateLimitRule } from './rules/rate-limit.ts';
import type { RedirectRule } from './rules/redirect.ts';
import type { RewriteRule } from './rules/rewrite.ts';
import type { WafRule } from './rules/waf.ts';

export type { PathFilter, RuleCommon } from './common.ts';
export type { Conditions, ValueCondition } from './conditions.ts';
export type { CorsSettings } from './gateway/cors.ts';
export type { GatewayOperation } from './gateway/operations.ts';
export type { Consumer, ConsumerKey } from './registry/consumer.ts';
export type { TokenIssuer } from './registry/token-issuer.ts';
export type { UsagePlan } from './registry/usage-plan.ts';
export type { MessageChanges } from './rules/headers.ts';
export type { PoolOrigin } from './rules/origin-pool.ts';
export type {
  BotRouteRule,
  CacheRule,
  DnsRecord,
  Domain,
  DropRule,
  EntryList,
  ErrorPageRule,
  FingerprintRule,
  GatewayRule,
  HeadersRule,
  OriginPoolRule,
  OriginRouteRule,
  RateLimitRule,
  RedirectRule,
  Registry,
  RewriteRule,
  Rule,
  SealedRegistry,
  WafRule,
};

/** Keys of rules and records by id. A key identifies an entry of an edge file across edits, where its id may change. */
export interface ObjectKeys {
  readonly rules: ReadonlyMap<number, string>;
  readonly records: ReadonlyMap<number, string>;
}

/**
 * A list that rules name (semantics §13): with its entries, which the plan then has, or with the digest of its sealed form, by
 * which the plan refers to it.
 */
export type RuleList = EntryList | SealedList;

/** A list without its entries. */
export interface SealedList extends Pick<EntryList, 'name' | 'kind'> {
  /** SHA-256 of the sealed list, 64 lower-case hex digits. */
  readonly digest: string;
}

/** Everything that shapes one domain at one moment: the compiler's only input. */
export interface RuleSet {
  readonly domain: Domain;
  readonly records: readonly DnsRecord[];
  readonly rules: readonly Rule[];
  /** The lists that rules may name; absent: none. */
  readonly lists?: readonly RuleList[];
  /** Consumers, usage plans and token issuers that gateways refer to; absent: none. */
  readonly registry?: Registry | SealedRegistry;
  /** Of an edge file, where ids are positions; absent: rules and records are identified by id. */
  readonly keys?: ObjectKeys;
}
