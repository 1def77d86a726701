/** What the API stands on. Everything that reaches outside the process comes in here, so tests bring their own. */
import type { KeyUses } from '../access/key-uses.ts';
import type { RequestBudget } from '../access/request-budget.ts';
import type { TierSlug } from '../access/tiers.ts';
import type { DomainRow, RevisionRow } from '../store/rows.ts';
import type { Store } from '../store/store.ts';
import type { Lifecycle } from './lifecycle.ts';

export interface Services {
  readonly store: Store;
  readonly lifecycle: Lifecycle;
  readonly publication: Publication;
  readonly budget: RequestBudget;
  readonly uses: KeyUses;
  /** The tier of domains without a subscription in force. */
  readonly tier: TierSlug;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** What the publisher fills in. */
export interface Publication {
  /**
   * Resolves with the revision that covers an outbox row once it is out, or with `null` when `signal` ends the
   * waiting first.
   */
  waitForOutbox(
    domain: Pick<DomainRow, 'id' | 'name'>,
    outboxId: number,
    signal: AbortSignal,
  ): Promise<RevisionRow | null>;
}
