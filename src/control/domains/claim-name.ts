/** Registers an account's claim to a name: the bounds on claims, and the initial state of the new domain. */
import type { WriteTransaction } from '../store/store.ts';
import { SERVICE } from '../store/tables/accounts.ts';
import type { DnsMode, DomainRow } from '../store/tables/domains.ts';
import { applyEvent } from './apply-event.ts';
import { challengeHost, newChallenge } from './challenge.ts';
import { hasLapsed } from './claims.ts';
import { MAX_UNPROVED_OF_ACCOUNT, MAX_UNPROVED_OF_NAME } from './limits.ts';
import { challengeFields, initialState, isExpired, type LifecycleFields } from './state.ts';

export interface NewClaim {
  readonly name: string;
  readonly dns_mode: DnsMode;
  readonly accountId: number;
  /** The account claims the name beside other accounts that have not proved it. */
  readonly besideOthers: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export type ClaimOutcome =
  | { readonly ok: true; readonly state: LifecycleFields }
  /** The account sees a domain of the name already. */
  | { readonly ok: false; readonly code: 'seen' }
  /** Another account has proved the name. */
  | { readonly ok: false; readonly code: 'proved' }
  /** Another account has the name and has not proved it; `besideOthers` claims it too. */
  | { readonly ok: false; readonly code: 'unproved' }
  /** The account has `MAX_UNPROVED_OF_ACCOUNT` unproved domains. */
  | { readonly ok: false; readonly code: 'account_full' }
  /** `MAX_UNPROVED_OF_NAME` accounts claim the name. */
  | { readonly ok: false; readonly code: 'name_full'; readonly claims: number }
  /** Another account claims the name, which is too long for the TXT record that would decide between them. */
  | { readonly ok: false; readonly code: 'too_long' };

/**
 * The lifecycle fields of a new domain. If other accounts claim the name too, each claim gets a challenge value,
 * the earlier ones in this same transaction: the TXT record decides between them.
 */
export async function claimName(
  tx: WriteTransaction,
  { name, dns_mode, accountId, besideOthers, now }: NewClaim,
): Promise<ClaimOutcome> {
  await tx.domains.lockClaims(name, accountId);
  const registered = await tx.domains.named(name);
  const seen = await tx.domains.seenBy(accountId, name);
  // Under one name an account sees one domain, its own or a shared one.
  if ((seen?.role ?? null) !== null) return { ok: false, code: 'seen' };
  if (registered.some(({ unproved_since }) => unproved_since === null)) return { ok: false, code: 'proved' };
  const claims = registered.filter((row) => !hasLapsed(row, now));
  if (claims.length > 0 && !besideOthers) return { ok: false, code: 'unproved' };
  if ((await tx.domains.countUnproved(accountId)) >= MAX_UNPROVED_OF_ACCOUNT) {
    return { ok: false, code: 'account_full' };
  }
  if (claims.length >= MAX_UNPROVED_OF_NAME) return { ok: false, code: 'name_full', claims: claims.length };
  const challenge = newChallenge(now);
  const state = initialState(dns_mode, challenge, now);
  if (claims.length === 0) return { ok: true, state };
  if (challengeHost(name) === null) return { ok: false, code: 'too_long' };
  for (const row of claims) await provideChallenge(tx, row, now);
  return { ok: true, state: { ...state, ...challengeFields(challenge) } };
}

/** Stores a new challenge value for an earlier claim that has none, or an expired one. */
async function provideChallenge(tx: WriteTransaction, row: DomainRow, now: number): Promise<void> {
  if (row.verification_token !== '' && !isExpired(row, now)) return;
  const event = { kind: 'challenge', challenge: newChallenge(now) } as const;
  await applyEvent(tx, row, event, { author: SERVICE, now, reason: 'another account claims the name' });
}
