/**
 * Classifies visitors: their country, and the bot that they are. In: databases and lists (`classification-files.ts` updates
 * them), the DNS. Out: an immediate answer from cached results; DNS queries run in the background.
 */
import { Resolver } from 'node:dns/promises';
import { LRUCache } from 'lru-cache';
import { formatIp, parseIp } from '../../base/addresses/ip.ts';
import { BOT_KINDS, type BotKind } from '../../base/vocabulary/vocabulary.ts';
import { type BotResolver, createBotVerifier, type Ranges } from '../../engine/classification/bots.ts';
import type { Countries } from '../../engine/classification/country.ts';
import { isGenericBot } from '../../engine/classification/generic-bot.ts';
import { classifyUserAgent } from '../../engine/evaluator/user-agent.ts';
import { DNS_MS, DNS_TRIES, MAX_AGENT_CHARACTERS, MAX_AGENTS } from './limits.ts';

export interface ClassifierOptions {
  /** The current country database; `null`: none. */
  readonly countries: () => Countries | null;
  /** The current published ranges of a bot; `undefined`: none. */
  readonly ranges: (kind: BotKind) => Ranges | undefined;
  /** The DNS for verification; `null`: bots are verified by their ranges alone. */
  readonly resolver: BotResolver | null;
  /** Milliseconds, monotonic. */
  readonly clock: () => number;
}

/** A classifier with an empty cache. */
export function createClassifier({ countries, ranges, resolver, clock }: ClassifierOptions): Classifier {
  const verifier = createBotVerifier({ ranges, resolver, clock });
  /** By User-Agent. PERF: few programs send most requests, so isbot's large pattern runs at the first of each only. */
  const agents = new LRUCache<string, BotKind | 'none'>({ max: MAX_AGENTS });

  function kindOf(userAgent: string): BotKind | 'none' {
    const cached = agents.get(userAgent);
    if (cached !== undefined) return cached;
    const declared = classifyUserAgent(userAgent);
    const kind = declared >= 0 ? BOT_KINDS[declared]! : isGenericBot(userAgent) ? 'generic-bot' : 'none';
    if (userAgent.length <= MAX_AGENT_CHARACTERS) agents.set(userAgent, kind);
    return kind;
  }

  return {
    country: (ip) => countries()?.country(ip) ?? null,
    bot(ip, userAgent) {
      const kind = kindOf(userAgent);
      if (kind === 'none') return null;
      return { kind, verified: ip !== null && kind !== 'generic-bot' && verifier.verified(kind, ip) };
    },
  };
}

/** Error codes of names that do not exist or have no such record. */
const NOTHING = ['ENOTFOUND', 'ENODATA'];

/**
 * The DNS queries that verify bots: forward-confirmed reverse DNS.
 * @param servers addresses with an optional port each (`192.0.2.53`, `192.0.2.53:5353`, `[::1]:53`); none: the system's
 */
export function createBotResolver(servers: readonly string[]): BotResolver {
  const resolver = new Resolver({ timeout: DNS_MS, tries: DNS_TRIES });
  if (servers.length > 0) resolver.setServers([...servers]);
  const orNothing = (error: NodeJS.ErrnoException): readonly string[] => {
    if (NOTHING.includes(error.code ?? '')) return [];
    throw error;
  };
  return {
    // Node's own `reverse` reports the failure of a server as an address without a name.
    reverse: (ip) => resolver.resolvePtr(reverseName(ip)).catch(orNothing),
    addresses: (name, family) =>
      (family === 4 ? resolver.resolve4(name) : resolver.resolve6(name)).catch(orNothing),
  };
}

/** The name for a reverse query (RFC 1035 §3.5, RFC 3596 §2.5). */
function reverseName(ip: string): string {
  const words = new Uint32Array(4);
  if (parseIp(ip, words) === 4) return `${formatIp(4, words).split('.').reverse().join('.')}.in-addr.arpa`;
  const digits = [...words].map((word) => word.toString(16).padStart(8, '0')).join('');
  return `${[...digits].reverse().join('.')}.ip6.arpa`;
}

/** Facts about a visitor from outside the evaluator. Answers from cached results, and queries in the background. */
export interface Classifier {
  /** ISO 3166-1 alpha-2, `null` unknown. */
  country(ip: string): string | null;
  /** As `EdgeRequest.bot`; `undefined` leaves it to the evaluator. */
  bot(
    ip: string | null,
    userAgent: string,
  ): { readonly kind: string; readonly verified: boolean } | null | undefined;
}
