/**
 * DNS lookups that a request for a domain needs: its delegation and its challenge record, and what they prove. A lookup
 * takes seconds, so it runs outside every transaction and writes nothing; `requests.ts` applies its result afterwards.
 */
import type { Dns } from '../dns/resolver.ts';
import type { DomainRow } from '../store/rows.ts';
import { type ChallengeCheck, checkChallenge } from './challenge.ts';
import { checkDelegation, type Delegation } from './check-delegation.ts';
import { type Proof, takesChallenge } from './state.ts';

/** The lookups of one control plane. None of them throws: a failed lookup is the state `unreachable`. */
export interface DomainLookups {
  /** Nameserver sets, each a complete acceptable delegation, the recommended one first. */
  readonly nameserverSets: readonly (readonly string[])[];
  /**
   * Starts the scans that the store lists as due (`scans.put`); returns at once and never throws. `null`: this process
   * scans no records.
   */
  readonly scan: (() => void) | null;
  /** The delegation in the parent zone, compared with the nameserver sets. */
  delegation(domain: DomainRow): Promise<Delegation>;
  /** The challenge TXT record of the domain, compared with its stored value. */
  challenge(domain: DomainRow): Promise<ChallengeCheck>;
}

export interface DomainLookupsOptions {
  readonly nameserverSets: readonly (readonly string[])[];
  readonly dns: Dns;
  readonly scan: DomainLookups['scan'];
}

/** Lookups in the DNS. */
export function createLookups({ nameserverSets, dns, scan }: DomainLookupsOptions): DomainLookups {
  return {
    nameserverSets,
    scan,
    delegation: (domain) => checkDelegation(domain.name, nameserverSets, dns),
    challenge: (domain) => checkChallenge(domain.name, domain.verification_token, dns),
  };
}

/** Lookups that report every name as proved and scan no records: for trials with names that no DNS serves. */
export function lookupsWithoutDns(nameserverSets: DomainLookups['nameserverSets']): DomainLookups {
  const set = nameserverSets[0] ?? [];
  return {
    nameserverSets,
    scan: null,
    delegation: async () => ({ state: 'delegated', set, found: set }),
    challenge: async () => ({ state: 'verified' }),
  };
}

/** What a lookup of the challenge record proved. */
export interface ChallengeProof {
  /** The challenge value of that lookup; the proof is valid for no other. */
  readonly value: string;
  readonly proof: Proof;
}

/** Looks up the challenge record; `unknown` without a lookup if no TXT record can prove the name. Never throws. */
export async function proveChallenge(lookups: DomainLookups, domain: DomainRow): Promise<ChallengeProof> {
  const value = domain.verification_token;
  if (!takesChallenge(domain)) return { value, proof: 'unknown' };
  return { value, proof: proofOfChallenge(await lookups.challenge(domain)) };
}

/** Looks up whether the right to use the name is proved now, by the method of the domain's `dns_mode`. Never throws. */
export async function proveName(lookups: DomainLookups, domain: DomainRow): Promise<Proof> {
  if (domain.dns_mode === 'managed') return proofOfDelegation(await lookups.delegation(domain));
  return proofOfChallenge(await lookups.challenge(domain));
}

function proofOfDelegation({ state }: Delegation): Proof {
  if (state === 'unreachable') return 'unknown';
  return state === 'delegated' ? 'holds' : 'absent';
}

function proofOfChallenge({ state }: ChallengeCheck): Proof {
  if (state === 'unreachable') return 'unknown';
  return state === 'verified' ? 'holds' : 'absent';
}
