/**
 * Verifies bots (semantics §5 bot_route): the address is in the ranges that the operator publishes, or it has a name below
 * the operator's domain and that name has the address (forward-confirmed reverse DNS). Returns at once from the cache; an
 * address that is not cached is looked up in the background, and is unverified until then.
 */
import { LRUCache } from 'lru-cache';
import { canonicalIp } from '../../base/addresses/ip.ts';
import type { BotKind } from '../../base/vocabulary/vocabulary.ts';
import {
  CONFIRMED_MS,
  MAX_BOT_LOOKUPS,
  MAX_REMEMBERED_BOTS,
  MAX_REVERSE_NAMES,
  REFUTED_MS,
  UNANSWERED_MS,
} from './limits.ts';
import type { Ranges } from './ranges.ts';

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
