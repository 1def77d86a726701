/** What the API stands on. Everything that reaches outside the process comes in here, so tests bring their own. */
import type { KeyUses } from '../access/key-uses.ts';
import type { RequestBudget } from '../access/request-budget.ts';
import type { TierSlug } from '../access/tiers.ts';
import type { SpecialJudge } from '../base/special-addresses.ts';
import type { Feed } from '../publisher/feed.ts';
import type { PublisherLog } from '../publisher/log.ts';
import type { Signer } from '../publisher/signer.ts';
import type { DomainRow, RevisionRow } from '../store/rows.ts';
import type { Store } from '../store/store.ts';
import type { Compute, SealedSignatures } from './compute/job.ts';
import type { DomainLookups } from './lifecycle.ts';

export interface Services {
  readonly store: Store;
  readonly lifecycle: DomainLookups;
  readonly publication: PublicationService;
  /** Why nodes take no revision of this store, as a sentence; `null`: they do. Absent: no node follows it. */
  readonly aheadOfStore?: () => string | null;
  readonly budget: RequestBudget;
  readonly uses: KeyUses;
  /** The tier of domains without a subscription in force. */
  readonly tier: TierSlug;
  /** Registers names under no public suffix and of special use too, such as `shop.test`. */
  readonly privateNames: boolean;
  readonly specialOrigin: SpecialJudge;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Where an address is, ISO 3166-1 alpha-2; absent: no geo database is configured. */
  readonly countryOf?: (address: string) => string | null;
  /** What `waf` rules of a sealed plan are simulated with; absent: they inspect nothing, and the answer says so. */
  readonly signaturesFor?: (plan: Uint8Array) => Promise<SealedSignatures | null>;
  /** Where answers are computed that take longer than the API's thread may wait. */
  readonly compute: Compute;
}

/** What the publisher fills in. */
export interface PublicationService {
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

/** What nodes are served from. */
export interface NodeRouteServices {
  readonly store: Store;
  readonly feed: Feed;
  readonly signer: Pick<Signer, 'signSelf'>;
  readonly log: PublisherLog;
  /** Called for each report that is refused since it cannot be true, for metrics. */
  readonly onReportRefused?: () => void;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}
