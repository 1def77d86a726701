/**
 * Domain control validation by DNS, for a domain whose DNS is hosted elsewhere: a TXT record at
 * `_edgeplan-challenge.<domain>` with a random value that only the domain's account can read. A value is valid for seven
 * days (`CHALLENGE_MS`).
 */
import { randomBytes } from 'node:crypto';
import { MAX_HOST_OCTETS } from '../../base/vocabulary/limits.ts';
import { DnsFault } from '../dns/message.ts';
import { type Dns, dataOf } from '../dns/resolver.ts';
import { CHALLENGE_MS, MAX_CHECK_MS } from './limits.ts';

const LABEL = '_edgeplan-challenge';
const PREFIX = 'edgeplan-verification=';
/** Random octets in a value: 256 bits cannot be guessed. */
const TOKEN_OCTETS = 32;

/** A challenge: the value that the owner publishes, and how long it is valid. */
export interface Challenge {
  /** Exact content of the TXT record. */
  readonly value: string;
  /** Milliseconds since the epoch. */
  readonly started_at: number;
  readonly expires_at: number;
}

/** The result of a lookup of the challenge record. */
export type ChallengeCheck =
  | { readonly state: 'verified' }
  /** No record has the value; `found`: the TXT records at the name, at most ten. */
  | { readonly state: 'absent'; readonly found: readonly string[] }
  /** Every resolver failed. */
  | { readonly state: 'unreachable'; readonly fault: DnsFault };

/** Octets of the longest domain name to which the record's label can be prepended (RFC 1035 §2.3.4: 255 in all). */
export const MAX_CHALLENGED_OCTETS = MAX_HOST_OCTETS - LABEL.length - 1;

/** The name of the TXT record; `null`: the domain's name is too long for one. */
export function challengeHost(domain: string): string | null {
  return domain.length <= MAX_CHALLENGED_OCTETS ? `${LABEL}.${domain}` : null;
}

/** A new challenge with a cryptographically random value. `now` in milliseconds since the epoch. */
export function newChallenge(now: number): Challenge {
  const value = PREFIX + randomBytes(TOKEN_OCTETS).toString('base64url');
  return { value, started_at: now, expires_at: now + CHALLENGE_MS };
}

/**
 * Looks up the challenge record. A record matches when its joined strings are exactly the value; other records at the
 * name are ignored. All resolvers are queried before the result is `absent`, since one may still cache the negative
 * answer (RFC 2308). Takes at most `MAX_CHECK_MS`. Never throws.
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

/** Records that `found` lists, at most. */
const MAX_SHOWN = 10;

function unexpected(cause: unknown): DnsFault {
  return new DnsFault('unanswered', 'the check failed in itself', cause);
}

/** TXT data as one text; octets that are not UTF-8 become U+FFFD, which no challenge value contains. */
function joinStrings(data: unknown): string {
  const parts = (Array.isArray(data) ? data : [data]).filter((part) => Buffer.isBuffer(part));
  return Buffer.concat(parts).toString('utf8');
}
