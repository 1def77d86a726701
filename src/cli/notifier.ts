/** The notifications of `edgeplan serve`: the outlets that the options name, the delivery worker, and the watch. */
import type { Logger } from 'pino';
import type { SpecialJudge } from '../base/addresses/special-addresses.ts';
import type { TierSlug } from '../control/accounts/tiers.ts';
import type { HostNames } from '../control/dns/host-names.ts';
import { createDeliveryWorker, type DeliveryOptions } from '../control/notices/deliver.ts';
import { notifyPublicationFailed } from '../control/notices/events.ts';
import { PUBLICATION_ATTEMPTS } from '../control/notices/limits.ts';
import type { SmsGatewayOptions, SmtpOptions } from '../control/notices/outlet-options.ts';
import { createOutlets, type Outlets } from '../control/notices/outlets.ts';
import { createNotifyWatch } from '../control/notices/watch.ts';
import type { FailedAttempt } from '../control/publishing/attempts.ts';
import type { PendingDomain } from '../control/store/rows.ts';
import type { Store } from '../control/store/store.ts';

/** What a notifier is created with; see `ServerOptions`. */
export interface NotifierOptions {
  readonly store: Store;
  readonly smtp?: SmtpOptions;
  readonly sms?: SmsGatewayOptions;
  readonly publicUrl?: string;
  readonly tier: TierSlug;
  readonly special: SpecialJudge;
  readonly hostNames: HostNames;
  readonly onOutcome: NonNullable<DeliveryOptions['onOutcome']>;
  readonly log: Logger;
}

/** The notifications of one server. */
export interface Notifier {
  readonly codes: Outlets['codes'];
  start(): void;
  /** Ends the attempts under way; the store must still be open. */
  stop(): Promise<void>;
  /** Notifies of a domain that cannot be published, from the third attempt on. */
  publicationFailed(pending: PendingDomain, failed: FailedAttempt): void;
}

/** Creates the notifications of a server. */
export function createNotifier(options: NotifierOptions): Notifier {
  const {
    store,
    smtp = null,
    sms = null,
    publicUrl = null,
    tier,
    special,
    onOutcome,
    log,
    hostNames,
  } = options;
  const clock = Date.now;
  const { senders, codes } = createOutlets({ smtp, sms, special, clock, lookupFor: hostNames.lookupFor });
  const delivery = createDeliveryWorker({ store, senders, clock, tier, publicUrl, log, onOutcome });
  const watch = createNotifyWatch({ store, clock, log });
  return {
    codes,
    start() {
      delivery.start();
      watch.start();
    },
    async stop() {
      await watch.stop();
      await delivery.stop();
    },
    publicationFailed({ domain_id, since }, { attempts, code }) {
      if (attempts < PUBLICATION_ATTEMPTS) return;
      notifyPublicationFailed(store, { domain_id, since, attempts, code, now: clock() }).catch(
        (error: unknown) => log.warn({ err: error }, 'a failing publication was not notified'),
      );
    },
  };
}
