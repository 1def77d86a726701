/**
 * What the node finds out about visitors: their country, and which bot they are. In: databases and lists that are kept
 * up to date by others (`classification-files.ts`), the DNS. Out: answers at once, from what is known.
 */
import { Resolver } from 'node:dns/promises';
import { LRUCache } from 'lru-cache';
import { formatIp, parseIp } from '../base/ip.ts';
import { BOT_KINDS, type BotKind } from '../base/vocabulary.ts';
import { type BotResolver, createBotVerifier } from '../classify/bots.ts';
import type { Countries } from '../classify/country.ts';
import { isGenericBot } from '../classify/generic-bot.ts';
import type { Ranges } from '../classify/ranges.ts';
import { classifyUserAgent } from '../evaluator/user-agent.ts';
import { DNS_MS, DNS_TRIES, MAX_AGENT_CHARACTERS, MAX_AGENTS } from './limits.ts';

export interface ClassifierOptions {
  /** The country database in use now; `null` none. */
  readonly countries: () => Countries | null;
  /** Published ranges of a bot in use now. */
  readonly ranges: (kind: BotKind) => Ranges | undefined;
  /** `null`: bots are verified by ranges alone. */
  readonly resolver: BotResolver | null;
  /** Milliseconds, from wherever, that never jump. */
  readonly clock: () => number;
}

export function createClassifier({ countries, ranges, resolver, clock }: ClassifierOptions): Classifier {
  const verifier = createBotVerifier({ ranges, resolver, clock });
  /** PERF: few programs send most requests; this keeps isbot's pattern off all but their first. */
  const agents = new LRUCache<string, BotKind | 'nobody'>({ max: MAX_AGENTS });

  function kindOf(userAgent: string): BotKind | 'nobody' {
    const known = agents.get(userAgent);
    if (known !== undefined) return known;
    const declared = classifyUserAgent(userAgent);
    const kind = declared >= 0 ? BOT_KINDS[declared]! : isGenericBot(userAgent) ? 'generic-bot' : 'nobody';
    if (userAgent.length <= MAX_AGENT_CHARACTERS) agents.set(userAgent, kind);
    return kind;
  }

  return {
    country: (ip) => countries()?.country(ip) ?? null,
    bot(ip, userAgent) {
      const kind = kindOf(userAgent);
      if (kind === 'nobody') return null;
      return { kind, verified: ip !== null && kind !== 'generic-bot' && verifier.verified(kind, ip) };
    },
  };
}

/** Codes by which the DNS says that there is nothing. */
const NOTHING = ['ENOTFOUND', 'ENODATA'];

/**
 * The DNS for verifying bots.
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
    // Node's own `reverse` says of a server that fails that the address has no name.
    reverse: (ip) => resolver.resolvePtr(reverseName(ip)).catch(orNothing),
    addresses: (name, family) =>
      (family === 4 ? resolver.resolve4(name) : resolver.resolve6(name)).catch(orNothing),
  };
}

/** The name under which the names of an address are kept (RFC 1035 §3.5, RFC 3596 §2.5). */
function reverseName(ip: string): string {
  const words = new Uint32Array(4);
  if (parseIp(ip, words) === 4) return `${formatIp(4, words).split('.').reverse().join('.')}.in-addr.arpa`;
  const digits = [...words].map((word) => word.toString(16).padStart(8, '0')).join('');
  return `${[...digits].reverse().join('.')}.ip6.arpa`;
}

/** What is found out about a visitor outside the evaluator. Answers at once from what is known; looks up behind. */
export interface Classifier {
  /** ISO 3166-1 alpha-2, `null` unknown. */
  country(ip: string): string | null;
  /** As `EdgeRequest.bot`; `undefined` leaves it to the evaluator. */
  bot(
    ip: string | null,
    userAgent: string,
  ): { readonly kind: string; readonly verified: boolean } | null | undefined;
}
