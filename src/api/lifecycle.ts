/**
 * What the API asks of a domain's life. Looking things up in the DNS takes seconds, so it never happens inside a
 * transaction and writes nothing: the API's own write, which looks at the key again, makes the change that
 * `lifecycle/state.ts` says follows.
 */
import type { Dns } from '../dns/resolver.ts';
import { type ChallengeCheck, checkChallenge } from '../lifecycle/challenge.ts';
import { checkDelegation, type Delegation } from '../lifecycle/check-delegation.ts';
import type { Proof } from '../lifecycle/state.ts';
import type { DomainRow } from '../store/rows.ts';

export interface DomainLookups {
  /** Each a complete acceptable delegation, the recommended one first. */
  readonly nameserverSets: readonly (readonly string[])[];
  /**
   * Told that a new domain's records are to be looked for (`scans.put` of the store); returns at once and never
   * throws. `null`: nobody looks for records here.
   */
  readonly scan: (() => void) | null;
  /** Asks the parent's servers whom they delegate the domain to. Never throws. */
  delegation(domain: DomainRow): Promise<Delegation>;
  /** Looks for the TXT record of an external domain. Never throws. */
  challenge(domain: DomainRow): Promise<ChallengeCheck>;
}

export interface DomainLookupsOptions {
  readonly nameserverSets: readonly (readonly string[])[];
  readonly dns: Dns;
  readonly scan: DomainLookups['scan'];
}

/** Lookups over a way into the DNS. */
export function createLookups({ nameserverSets, dns, scan }: DomainLookupsOptions): DomainLookups {
  return {
    nameserverSets,
    scan,
    delegation: (domain) => checkDelegation(domain.name, nameserverSets, dns),
    challenge: (domain) => checkChallenge(domain.name, domain.verification_token, dns),
  };
}

/** Takes every name for proven and finds no records: for trying things out where no DNS knows the names. */
export function trustingLookups(nameserverSets: DomainLookups['nameserverSets']): DomainLookups {
  const set = nameserverSets[0] ?? [];
  return {
    nameserverSets,
    scan: null,
    delegation: async () => ({ state: 'delegated', set, found: set }),
    challenge: async () => ({ state: 'verified' }),
  };
}

/** Whether the right to use the name is proven at the moment, in the way the domain's mode asks for. */
export async function prove(lifecycle: DomainLookups, domain: DomainRow): Promise<Proof> {
  if (domain.dns_mode === 'managed') return proofOfDelegation(await lifecycle.delegation(domain));
  return proofOfChallenge(await lifecycle.challenge(domain));
}

function proofOfDelegation({ state }: Delegation): Proof {
  if (state === 'unreachable') return 'unknown';
  return state === 'delegated' ? 'holds' : 'absent';
}

/** What a look for the TXT record proves. */
export function proofOfChallenge({ state }: ChallengeCheck): Proof {
  if (state === 'unreachable') return 'unknown';
  return state === 'verified' ? 'holds' : 'absent';
}
