/** The services that the API needs, created by its caller. Everything outside the process is one of them, so tests can replace it. */

import type { SpecialJudge } from '../../../base/addresses/special-addresses.ts';
import type { KeyUses } from '../../accounts/key-uses.ts';
import type { RequestBudget } from '../../accounts/request-budget.ts';
import type { TierSlug } from '../../accounts/tiers.ts';
import type { OverQuota } from '../../billing/quota.ts';
import type { KeyRing } from '../../certificates/key-ring.ts';
import type { Compute, SealedSignatures } from '../../compute/job.ts';
import type { DomainLookups } from '../../domains/lookups.ts';
import type { LogStore } from '../../logs/log-store.ts';
import type { LogIntake } from '../../logs/take-batch.ts';
import type { Outlets } from '../../notices/outlets.ts';
import type { Feed } from '../../publishing/feed.ts';
import type { PublisherLog } from '../../publishing/log.ts';
import type { Signer } from '../../publishing/signer.ts';
import type { DomainRow, RevisionRow } from '../../store/rows.ts';
import type { Store } from '../../store/store.ts';
import type { Retention } from '../../traffic/retention.ts';
import type { TrafficThread } from '../../traffic/thread.ts';
import type { ZoneService } from '../../zones/zone-service.ts';

/** The services of routes for customers. */
export interface Services {
  readonly store: Store;
  readonly lifecycle: DomainLookups;
  readonly publication: PublicationService;
  /** Why nodes refuse the revisions of this store, as a sentence; `null`: they accept them. Absent: no node follows it. */
  readonly aheadOfStore?: () => string | null;
  readonly budget: RequestBudget;
  readonly uses: KeyUses;
  /** The tier of domains without a subscription in force. */
  readonly tier: TierSlug;
  /** What happens to traffic over a quota. */
  readonly overQuota: OverQuota;
  /** Accepts names under no public suffix and special-use names too, such as `shop.test`. */
  readonly privateNames: boolean;
  readonly specialOrigin: SpecialJudge;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** The country of an address, ISO 3166-1 alpha-2; absent: no geo database is configured. */
  readonly countryOf?: (address: string) => string | null;
  /** The signatures for simulations of `waf` rules; absent: a simulation inspects nothing and reports that. */
  readonly signaturesFor?: (plan: Uint8Array) => Promise<SealedSignatures | null>;
  /** How long traffic is stored by minute, hour and day; absent: `USUAL_RETENTION`. */
  readonly trafficRetention?: Retention;
  /** Sends codes to new addresses of accounts; absent: the server sends none. */
  readonly codes?: Outlets['codes'];
  /** The threads for answers whose computation would block the API's thread. */
  readonly compute: Compute;
  /** The decisions that nodes have logged; absent: the server stores none. */
  readonly logs?: LogStore;
  /** The secrets keys, which private keys of certificates are encrypted with; `null`: the server has none. */
  readonly secretsKey?: KeyRing | null;
  /** Whether the server obtains certificates. */
  readonly issues?: boolean;
  /** The zones of managed domains; absent: the server serves none. */
  readonly zones?: ZoneService;
}

/** The part of the publisher that the API needs. */
export interface PublicationService {
  /**
   * Resolves with the revision that covers an outbox row once it is published, or with `null` when `signal` aborts first.
   */
  waitForOutbox(
    domain: Pick<DomainRow, 'id' | 'name'>,
    outboxId: number,
    signal: AbortSignal,
  ): Promise<RevisionRow | null>;
}

/** The services of routes for nodes. */
export interface NodeRouteServices {
  readonly store: Store;
  readonly feed: Feed;
  readonly signer: Pick<Signer, 'signSelf' | 'signPurges'>;
  readonly log: PublisherLog;
  /** The secrets keys, which private keys of certificates are encrypted with; `null`: the server has none. */
  readonly secretsKey?: KeyRing | null;
  /** Opens and checks the traffic that nodes report. */
  readonly traffic: Pick<TrafficThread, 'check'>;
  /** Absent: entries of decision logs are dropped. */
  readonly logs?: LogIntake;
  /** Called for each report that is refused as implausible, for metrics. */
  readonly onReportRefused?: () => void;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}
