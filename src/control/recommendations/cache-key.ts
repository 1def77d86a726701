/**
 * Query parameters that split the cache. In: cache rules and the log entries of requests that each covered, a sample. Out: a
 * recommendation for a rule whose key has parameters that change no response, and that a fifth of the misses have:
 *
 * - parameters that are known to be for statistics,
 * - parameters that have another value in nearly every request, while the responses of one path have one status and one size.
 *
 * The proposed rule keys by the other parameters of the entries. Under `include` and `none` the origin gets the keyed
 * parameters alone (semantics §5), so the message says that the list is that of a sample.
 */
import { timeText } from '../../base/text/time.ts';
import { parseRule } from '../../rules/model/parse.ts';
import type { CacheRule } from '../../rules/model/types.ts';
import {
  CACHE_ENTRIES,
  CACHE_HOURS,
  CACHE_MISSES,
  COMPARED_RESPONSES,
  MAX_COUNTED_PARAMS,
  MAX_QUERY_PARAMS,
  SPLIT_SHARE,
  UNIQUE_SHARE,
  UNIQUE_VALUES,
} from './limits.ts';
import type { DraftRecommendation } from './shapes.ts';
import { type EntryParameter, type EntryRequest, ruleName, type StoredFacts } from './stored-facts.ts';

const HOUR_MS = 3_600_000;
/** What nodes log in place of a value that may be a secret (`edge/proxy/log/redact.ts`). */
const REDACTED = 'REDACTED';
/** Cache results of requests whose response could be stored. */
const STORABLE: readonly string[] = ['hit', 'stale', 'miss', 'revalidated', 'shared'];

/** The family. */
export function cacheKey({ rules, entries }: StoredFacts): readonly DraftRecommendation[] {
  if (entries === null) return [];
  return rules.flatMap(({ rule, updatedAt }) => {
    if (rule.type !== 'cache' || !rule.enabled || rule.mode === 'bypass' || rule.query_mode === 'none')
      return [];
    const logged = entries.find((one) => one.rule === ruleName(rule))?.requests ?? [];
    const requests = logged.filter(({ at, cache }) => at >= updatedAt && STORABLE.includes(cache ?? ''));
    return judgeKey(rule, requests.flatMap(keyed)) ?? [];
  });
}

/** A request whose whole query is known. */
type KeyedRequest = EntryRequest & { readonly parameters: readonly EntryParameter[] };

function keyed(request: EntryRequest): readonly KeyedRequest[] {
  const { parameters, method } = request;
  return parameters !== null && (method === 'GET' || method === 'HEAD') ? [{ ...request, parameters }] : [];
}

/** A parameter of the key that changes no response. */
interface SplittingParameter {
  readonly name: string;
  readonly reason: 'tracking' | 'unique';
  readonly misses: number;
  readonly values: number;
}

function judgeKey(rule: CacheRule, requests: readonly KeyedRequest[]): DraftRecommendation | null {
  const misses = requests.filter(({ cache }) => cache === 'miss');
  const hours = new Set(requests.map(({ at }) => Math.floor(at / HOUR_MS))).size;
  if (requests.length < CACHE_ENTRIES || misses.length < CACHE_MISSES || hours < CACHE_HOURS) return null;
  const names = new Set(requests.flatMap(({ parameters }) => parameters.map(({ name }) => name)));
  if (names.size > MAX_COUNTED_PARAMS) return null;
  const inKey = [...names].filter((name) => rule.query_mode === 'all' || rule.query_params.includes(name));
  const splitting = inKey.sort().flatMap((name) => judgeParameter(name, requests) ?? []);
  const split = new Set(splitting.map(({ name }) => name));
  const splitMisses = misses.filter(({ parameters }) =>
    parameters.some(({ name }) => split.has(name)),
  ).length;
  if (splitMisses / misses.length < SPLIT_SHARE) return null;
  const others = [...names].filter((name) => !split.has(name)).sort();
  const name = ruleName(rule);
  const times = requests.map(({ at }) => at);
  const percent = Math.round((splitMisses / misses.length) * 100);
  return {
    kind: 'split_cache_key',
    subject: name,
    severity: 'info',
    message: `rule \`${name}\` caches a response once for each value of ${listText([...split])}: ${percent} % of its logged misses have one of these; leave them out of the key, after a look at whether the origin needs a parameter that the sample lacks`,
    evidence: {
      rule: name,
      from: timeText(Math.min(...times)),
      to: timeText(Math.max(...times) + 1),
      entries: requests.length,
      misses: misses.length,
      split_misses: splitMisses,
      parameters: splitting,
      other_parameters: others.slice(0, MAX_QUERY_PARAMS),
    },
    change: withoutParameters(rule, { split, others }),
  };
}

/** Judges one parameter; `null`: responses may depend on it. */
function judgeParameter(name: string, requests: readonly KeyedRequest[]): SplittingParameter | null {
  const having = requests.flatMap((request) => {
    const found = request.parameters.find((parameter) => parameter.name === name);
    return found === undefined ? [] : [{ request, value: found.value }];
  });
  const missed = having.filter(({ request }) => request.cache === 'miss');
  const values = new Set(missed.map(({ value }) => value)).size;
  const counted = { name, misses: missed.length, values };
  if (isTrackingParameter(name)) return { ...counted, reason: 'tracking' };
  const isUnique =
    missed.length >= UNIQUE_VALUES &&
    values / missed.length >= UNIQUE_SHARE &&
    !having.some(({ value }) => value === REDACTED) &&
    areAlike(having.map(({ request }) => request));
  return isUnique ? { ...counted, reason: 'unique' } : null;
}

/** Whether the responses of each path have one status and one size, on paths with enough requests to say so. */
function areAlike(requests: readonly KeyedRequest[]): boolean {
  const byPath = new Map<string, KeyedRequest[]>();
  for (const request of requests) {
    const same = byPath.get(request.path);
    if (same === undefined) byPath.set(request.path, [request]);
    else same.push(request);
  }
  return [...byPath.values()].every((same) => {
    const kinds = new Set(same.map(({ status, octets }) => `${status} ${octets}`));
    return same.length >= COMPARED_RESPONSES && kinds.size === 1;
  });
}

/** The rule without the parameters in its key; `null`: the list of the others would be too long. */
function withoutParameters(
  rule: CacheRule,
  { split, others }: { readonly split: ReadonlySet<string>; readonly others: readonly string[] },
): DraftRecommendation['change'] {
  const listed = rule.query_mode === 'include';
  const params = listed ? rule.query_params.filter((name) => !split.has(name)) : others;
  if (params.length > MAX_QUERY_PARAMS && !listed) return null;
  const none = params.length === 0;
  const changed: CacheRule = {
    ...rule,
    query_mode: none ? 'none' : 'include',
    query_params: none ? [] : params,
  };
  const { id: _, type, ...fields } = changed;
  if (!parseRule(type, fields).ok) return null;
  const by = none ? 'no query parameter' : `the query parameters ${listText(params)} alone`;
  return {
    summary: `rule ${ruleName(rule)} keys by ${by}, and the origin gets these alone`,
    rules: [changed],
  };
}

/** Names in a sentence: the first five of them. */
function listText(names: readonly string[]): string {
  const shown = names.slice(0, 5).map((name) => `\`${name}\``);
  const more = names.length - shown.length;
  return more === 0 ? shown.join(', ') : `${shown.join(', ')} and ${more} more`;
}

// Query parameters that advertisers and mailing services add to links for their own statistics. Scripts of the page read them
// in the browser; an origin's response does not depend on them. Source: the documentation of each service.

/** Urchin and its successors: support.google.com/analytics/answer/10917952. */
const PREFIX = 'utm_';

const NAMES: ReadonlySet<string> = new Set([
  // Google Ads and Merchant Center: support.google.com/google-ads/answer/9744275, developers.google.com/gtagjs/devguide/linker
  'gclid',
  'gclsrc',
  'gbraid',
  'wbraid',
  'dclid',
  'srsltid',
  '_gl',
  '_ga',
  // Meta: developers.facebook.com/docs/marketing-api/conversions-api/parameters/fbp-and-fbc
  'fbclid',
  'igshid',
  // Microsoft: help.ads.microsoft.com, "auto-tagging of Click ID"
  'msclkid',
  // Yandex, TikTok, X, LinkedIn, Pinterest, Snapchat: their guides to conversion tracking
  'yclid',
  'ysclid',
  'ttclid',
  'twclid',
  'li_fat_id',
  'epik',
  'sccid',
  // Mailchimp and HubSpot: their guides to campaign tracking
  'mc_cid',
  'mc_eid',
  '_hsenc',
  '_hsmi',
]);

/** Whether a parameter is known to be for statistics alone. Case counts, as in the cache key. */
function isTrackingParameter(name: string): boolean {
  return name.startsWith(PREFIX) || NAMES.has(name);
}
