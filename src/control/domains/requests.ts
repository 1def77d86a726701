/**
 * What the owner of a domain can request: verify the name, enable the domain, check the delegation now. A DNS lookup
 * takes seconds, so it runs outside every transaction and writes nothing; each request then applies its result inside
 * one write transaction of the caller. The meaning of a result is in `state.ts`.
 */
import type { Dns } from '../dns/resolver.ts';
import type { WriteTransaction } from '../store/store.ts';
import type { Author } from '../store/tables/accounts.ts';
import type { DomainRow } from '../store/tables/domains.ts';
import { type Applied, applyEvent } from './apply-event.ts';
import { type ChallengeCheck, checkChallenge, newChallenge } from './challenge.ts';
import { checkDelegation, type Delegation } from './check-delegation.ts';
import { isContested } from './claims.ts';
import { manualCheckWait } from './schedule.ts';
import { type Proof, takesChallenge } from './state.ts';

/** One write transaction on one domain, requested by an account. */
export interface RequestedWrite {
  readonly tx: WriteTransaction;
  /** Read in this transaction and locked until its commit. */
  readonly domain: DomainRow;
  readonly author: Author;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Verifies the name by its challenge record. An expired challenge is refused and replaced by a new one in the same
 * transaction: the caller commits also after that refusal.
 */
export async function verifyDomain(
  { tx, domain, author, now }: RequestedWrite,
  { value, proof }: ChallengeProof,
): Promise<Applied> {
  // A challenge that was replaced during the lookup needs a lookup of its own.
  const current = domain.verification_token === value ? proof : 'unknown';
  const applied = await applyEvent(tx, domain, { kind: 'verify', proof: current }, { author, now });
  const { transition } = applied;
  if (transition.ok || transition.code !== 'expired') return applied;
  const renewal = { kind: 'challenge', challenge: newChallenge(now) } as const;
  const renewed = await applyEvent(tx, domain, renewal, { author, now });
  return { ...renewed, transition };
}

/** Enables a disabled domain: `active` when the proof still holds, else the status of a new domain. */
export function enableDomain({ tx, domain, author, now }: RequestedWrite, proof: Proof): Promise<Applied> {
  return applyEvent(tx, domain, { kind: 'enable', proof, challenge: newChallenge(now) }, { author, now });
}

/** Whether a requested check may start; `waitMs`: milliseconds until it may. */
export type ManualCheck =
  | { readonly ok: true }
  | { readonly ok: false; readonly code: 'not_managed' }
  | { readonly ok: false; readonly code: 'too_soon'; readonly waitMs: number };

/** Claims the one requested delegation check an hour, before its lookup starts. */
export async function claimManualCheck({
  tx,
  domain,
  now,
}: Omit<RequestedWrite, 'author'>): Promise<ManualCheck> {
  if (domain.dns_mode !== 'managed') return { ok: false, code: 'not_managed' };
  const waitMs = manualCheckWait(domain.last_manual_ns_check_at, now);
  if (waitMs > 0) return { ok: false, code: 'too_soon', waitMs };
  await tx.domains.update(domain.id, { last_manual_ns_check_at: now });
  return { ok: true };
}

/** The result of a requested check. */
export interface RequestedCheck extends Applied {
  /** `contested`: delegated, but other accounts claim the name too, so the delegation proves nothing. */
  readonly state: Delegation['state'] | 'contested';
}

/** Applies the delegation that a requested check found. */
export async function applyDelegation(
  { tx, domain, author, now }: RequestedWrite,
  { state }: Pick<Delegation, 'state'>,
): Promise<RequestedCheck> {
  const contested = state === 'delegated' && (await isContested(tx, domain, now));
  const applied = await applyEvent(tx, domain, { kind: 'checked', result: state }, { author, now });
  return { ...applied, state: contested ? 'contested' : state };
}

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
interface ChallengeProof {
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
