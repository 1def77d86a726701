/**
 * What the owner of a domain can request: verify the name, enable the domain, check the delegation now. Each function
 * runs inside one write transaction of the caller; the DNS lookup before it is in `lookups.ts`, the meaning of its
 * result in `state.ts`.
 */
import type { Author, DomainRow } from '../store/rows.ts';
import type { WriteTransaction } from '../store/store.ts';
import { type Applied, applyEvent } from './apply-event.ts';
import { newChallenge } from './challenge.ts';
import type { Delegation } from './check-delegation.ts';
import { isContested } from './claims.ts';
import type { ChallengeProof } from './lookups.ts';
import { manualCheckWait } from './schedule.ts';
import type { Proof } from './state.ts';

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
