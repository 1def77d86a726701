/**
 * Verifies bots (semantics §5 bot_route): the address is in the ranges that the operator publishes, or it has a name below
 * the operator's domain and that name has the address (forward-confirmed reverse DNS). Returns at once from the cache; an
 * address that is not cached is looked up in the background, and is unverified until then.
 */
import { LRUCache } from 'lru-cache';
import { canonicalIp, compareIp, type IpInterval, parseIp, parseIpEntry } from '../../base/addresses/ip.ts';
import type { BotKind } from '../../base/vocabulary/vocabulary.ts';

/**
 * Maximum number of prefixes per operator: the longest published list (Google's user-triggered fetchers) has some 2,000.
 */
export const MAX_PREFIXES = 20_000;
/** Maximum number of cached addresses with a declared bot, least recently used evicted first: some 10 MB. */
const MAX_REMEMBERED_BOTS = 50_000;
/** Maximum number of concurrent DNS lookups; a later request looks further addresses up. */
export const MAX_BOT_LOOKUPS = 16;
/** Maximum number of reverse-DNS names checked per address; crawlers' addresses have one. */
const MAX_REVERSE_NAMES = 4;
/** Milliseconds for which a confirmed bot is cached: crawlers keep their addresses for months. */
export const CONFIRMED_MS = 24 * 3_600_000;
/** Milliseconds for which a refuted address is cached: short enough after an operator's mistake. */
export const REFUTED_MS = 3_600_000;
/** Milliseconds until an address is looked up again after a lookup has failed. */
export const UNANSWERED_MS = 60_000;

/**
 * Domains below which the addresses of a bot are named, by kind, as its operator documents. Operators that document none are
 * verified by ranges alone: GPTBot, OAI-SearchBot, ChatGPT-User (openai.com/gptbot.json, searchbot.json,
 * chatgpt-user.json), PerplexityBot and Perplexity-User (perplexity.com/perplexitybot.json, perplexity-user.json),
 * DuckDuckBot (duckduckgo.com/duckduckbot.json).
 */
const DOMAINS: Readonly<Partial<Record<BotKind, readonly string[]>>> = {
  // developers.google.com/search/docs/crawling-indexing/verifying-googlebot
  googlebot: ['googlebot.com', 'google.com'],
  // blogs.bing.com/webmaster/2012/08/31/how-to-verify-that-bingbot-is-bingbot
  bingbot: ['search.msn.com'],
  // support.apple.com/en-us/119829
  applebot: ['applebot.apple.com'],
  // yandex.com/support/webmaster/robot-workings/check-yandex-robots.html
  yandexbot: ['yandex.ru', 'yandex.net', 'yandex.com'],
  // developer.amazon.com/amazonbot
  amazonbot: ['crawl.amazonbot.amazon'],
  // ahrefs.com/robot
  ahrefsbot: ['ahrefs.com', 'ahrefs.net'],
};

/** The part of the DNS that verification needs. A name or record that does not exist is an empty list, not an error. */
export interface BotResolver {
  /** Names of an address. */
  reverse(ip: string): Promise<readonly string[]>;
  /** Addresses of a name. */
  addresses(name: string, family: 4 | 6): Promise<readonly string[]>;
}

/** What a verifier works with. */
/** Verifies bots by address. */
export interface BotVerifierOptions {
  /** Published ranges by kind; called at every verification, so that they may be replaced. */
  readonly ranges: (kind: BotKind) => Ranges | undefined;
  /** `null`: no DNS lookups. */
  readonly resolver: BotResolver | null;
  /** A monotonic clock in milliseconds with any origin. */
  readonly clock: () => number;
}

export interface BotVerifier {
  /** Whether a visitor at this address that declares this kind is verified by now. */
  verified(kind: BotKind, ip: string): boolean;
  /** Lookups under way. */
  readonly pending: number;
}

/** A cached result. */
interface Remembered {
  readonly verified: boolean;
  /** By the verifier's clock. */
  readonly until: number;
}

/** A verifier with an empty cache. */
export function createBotVerifier({ ranges, resolver, clock }: BotVerifierOptions): BotVerifier {
  const remembered = new LRUCache<string, Remembered>({ max: MAX_REMEMBERED_BOTS });
  const pending = new Set<string>();

  function lookUp(key: string, ip: string, domains: readonly string[]): void {
    if (resolver === null || pending.size >= MAX_BOT_LOOKUPS || pending.has(key)) return;
    pending.add(key);
    const before = remembered.get(key);
    confirm(resolver, ip, domains)
      .then(
        (verified): Remembered => ({ verified, until: clock() + (verified ? CONFIRMED_MS : REFUTED_MS) }),
        // A failure of the DNS is no evidence about the bot: the previous result stays valid a little longer.
        (): Remembered => ({ verified: before?.verified ?? false, until: clock() + UNANSWERED_MS }),
      )
      .then((outcome) => {
        remembered.set(key, outcome);
        pending.delete(key);
      });
  }

  return {
    get pending() {
      return pending.size;
    },
    verified(kind, ip) {
      if (ranges(kind)?.has(ip)) return true;
      const domains = DOMAINS[kind];
      if (domains === undefined) return false;
      const key = `${kind} ${ip}`;
      const known = remembered.get(key);
      if (known === undefined || known.until <= clock()) lookUp(key, ip, domains);
      // During a new lookup the previous result is valid.
      return known?.verified ?? false;
    },
  };
}

/** @throws what the resolver throws: it could not answer */
async function confirm(resolver: BotResolver, ip: string, domains: readonly string[]): Promise<boolean> {
  const family = ip.includes(':') ? 6 : 4;
  const names = (await resolver.reverse(ip)).slice(0, MAX_REVERSE_NAMES).map(lowered);
  for (const name of names) {
    if (!domains.some((domain) => name.endsWith(`.${domain}`))) continue;
    const addresses = await resolver.addresses(name, family);
    if (addresses.some((address) => isSame(address, ip))) return true;
  }
  return false;
}

function lowered(name: string): string {
  const lower = name.toLowerCase();
  return lower.endsWith('.') ? lower.slice(0, -1) : lower;
}

function isSame(a: string, b: string): boolean {
  return (canonicalIp(a) ?? a) === (canonicalIp(b) ?? b);
}

// Address ranges that operators publish for their bots, in the form Google began and Bing, OpenAI, Perplexity,
// DuckDuckGo, Apple and Common Crawl share: `{ "prefixes": [{ "ipv4Prefix": "192.0.2.0/24" }, { "ipv6Prefix": … }] }`.

/** Address ranges, sorted for binary search. */
export interface Ranges {
  has(ip: string): boolean;
  readonly size: number;
}

/**
 * Reads a published list.
 * @throws Error with the mistake and its place
 */
export function readRanges(text: string): readonly IpInterval[] {
  const list = (JSON.parse(text) as { prefixes?: unknown } | null)?.prefixes;
  if (!Array.isArray(list)) throw new Error('there is no list `prefixes`');
  if (list.length > MAX_PREFIXES)
    throw new Error(`\`prefixes\` has ${list.length} entries; at most ${MAX_PREFIXES}`);
  return list.map((entry: Record<string, unknown> | null, index) => {
    const written = entry?.ipv4Prefix ?? entry?.ipv6Prefix;
    const read = parseIpEntry(typeof written === 'string' ? written : '');
    if (!read.ok) throw new Error(`\`prefixes[${index}]\`: ${read.reason}`);
    return read;
  });
}

/** Sorts intervals and joins those that overlap, so that one binary search decides. */
export function createRanges(intervals: readonly IpInterval[]): Ranges {
  const families = { 4: joined(intervals, 4), 6: joined(intervals, 6) };
  const words = new Uint32Array(4);
  return {
    size: intervals.length,
    has(ip) {
      const family = parseIp(ip, words);
      if (family === 0) return false;
      const address = family === 4 ? words.subarray(0, 1) : words;
      const sorted = families[family];
      let low = 0;
      let high = sorted.length;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if (compareIp(sorted[middle]!.first, address) <= 0) low = middle + 1;
        else high = middle;
      }
      return low > 0 && compareIp(address, sorted[low - 1]!.last) <= 0;
    },
  };
}

type Interval = Pick<IpInterval, 'first' | 'last'>;

function joined(intervals: readonly IpInterval[], family: 4 | 6): readonly Interval[] {
  const sorted = intervals.filter((one) => one.family === family).sort((a, b) => compareIp(a.first, b.first));
  const result: { first: Uint32Array; last: Uint32Array }[] = [];
  for (const { first, last } of sorted) {
    const before = result.at(-1);
    if (before === undefined || compareIp(first, before.last) > 0) result.push({ first, last });
    else if (compareIp(last, before.last) > 0) before.last = last;
  }
  return result;
}
