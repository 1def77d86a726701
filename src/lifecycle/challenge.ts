/**
 * Proof that somebody may speak for a domain whose DNS stays elsewhere: a TXT record that only they can publish, at
 * `_edgeplan-challenge.<domain>`, with a value only they were told. The value is good for seven days.
 */
import { randomBytes } from 'node:crypto';
import { MAX_HOST_OCTETS } from '../base/limits.ts';
import { DnsFault } from '../dns/fault.ts';
import { type Dns, dataOf } from '../dns/resolver.ts';
import { CHALLENGE_MS, MAX_CHECK_MS } from './limits.ts';

const LABEL = '_edgeplan-challenge';
const PREFIX = 'edgeplan-verification=';
/** Octets of chance in a value: nobody guesses 2^256. */
const TOKEN_OCTETS = 32;

/** A value to publish. */
export interface Challenge {
  /** Exact content of the TXT record. */
  readonly value: string;
  /** Milliseconds since the epoch. */
  readonly started_at: number;
  readonly expires_at: number;
}

export type ChallengeCheck =
  | { readonly state: 'verified' }
  /** The name is there or not, the value is not; `found` is what stands there instead, at most ten. */
  | { readonly state: 'absent'; readonly found: readonly string[] }
  | { readonly state: 'unreachable'; readonly fault: DnsFault };

/** Octets of the longest name that leaves room for the TXT record's. */
export const MAX_CHALLENGED_OCTETS = MAX_HOST_OCTETS - LABEL.length - 1;

/** Where the TXT record goes; `null`: the domain's name is so long that no name fits below it. */
export function challengeHost(domain: string): string | null {
  return domain.length <= MAX_CHALLENGED_OCTETS ? `${LABEL}.${domain}` : null;
}

/** A new value, from the platform's secure source. */
export function newChallenge(now: number): Challenge {
  const value = PREFIX + randomBytes(TOKEN_OCTETS).toString('base64url');
  return { value, started_at: now, expires_at: now + CHALLENGE_MS };
}

/**
 * Looks for the value. A record counts when its strings joined are exactly the value; other records beside it do not
 * matter. Every resolver is asked before the answer is no, since one may still remember that nothing was there.
 * Never throws.
 */
export async function checkChallenge(domain: string, value: string, dns: Dns): Promise<ChallengeCheck> {
  const host = challengeHost(domain);
  if (host === null || value === '') return { state: 'absent', found: [] };
  const signal = AbortSignal.timeout(MAX_CHECK_MS);
  const found = new Set<string>();
  let answered = false;
  let fault: unknown = new DnsFault('bad_resolver', 'no resolver is configured');
  for (const resolver of dns.resolvers) {
    try {
      const reply = await dns.askResolver(resolver, { name: host, type: 'TXT' }, signal);
      if (reply.rcode === 'NOERROR' || reply.rcode === 'NXDOMAIN') answered = true;
      else fault = new DnsFault('unanswered', `\`${resolver.address}\` answered ${reply.rcode}`);
      for (const data of dataOf(reply.answers, host, 'TXT')) found.add(joinStrings(data));
    } catch (error) {
      fault = error;
    }
    if (found.has(value)) return { state: 'verified' };
  }
  if (answered) return { state: 'absent', found: [...found].slice(0, MAX_SHOWN) };
  return { state: 'unreachable', fault: fault instanceof DnsFault ? fault : unexpected(fault) };
}

const MAX_SHOWN = 10;

function unexpected(cause: unknown): DnsFault {
  return new DnsFault('unanswered', 'the check failed in itself', cause);
}

/** TXT data as one text; octets that are no UTF-8 become U+FFFD, which no value holds. */
function joinStrings(data: unknown): string {
  const parts = (Array.isArray(data) ? data : [data]).filter((part) => Buffer.isBuffer(part));
  return Buffer.concat(parts).toString('utf8');
}
