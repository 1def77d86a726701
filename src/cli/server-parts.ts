/**
 * The parts of `edgeplan serve` that `start-server.ts` composes, one for each subject: billing, certificates, telemetry,
 * traffic, zones, notifications.
 */
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { SpecialJudge } from '../base/addresses/special-addresses.ts';
import type { SpanSource, Telemetry } from '../base/telemetry/spans.ts';
import { startTelemetry } from '../base/telemetry/start-telemetry.ts';
import type { Entitlements } from '../control/accounts/entitlements.ts';
import type { TierSlug } from '../control/accounts/tiers.ts';
import { type BillingWatch, createBillingWatch } from '../control/billing/settle.ts';
import type { Issuer } from '../control/certificates/issuance/issuer.ts';
import { addIssuerMetrics } from '../control/certificates/issuance/metrics.ts';
import type { Compute } from '../control/compute/job.ts';
import type { HostNames } from '../control/dns/host-names.ts';
import type { Dns } from '../control/dns/resolver.ts';
import type { FetchWorker } from '../control/lists/feed/fetch-worker.ts';
import { createFeedWorker } from '../control/lists/feed/worker.ts';
import { createDeliveryWorker, type DeliveryOptions } from '../control/notices/deliver.ts';
import { PUBLICATION_ATTEMPTS } from '../control/notices/limits.ts';
import { notifyPublicationFailed } from '../control/notices/notify.ts';
import type { SmsGatewayOptions, SmtpOptions } from '../control/notices/outlet-options.ts';
import { createOutlets, type Outlets } from '../control/notices/outlets.ts';
import { createNotifyWatch } from '../control/notices/watch.ts';
import type { FailedAttempt } from '../control/publishing/attempts.ts';
import { createQuotaWatch, type QuotaWatch } from '../control/registry/quota-watch.ts';
import { createKeyWorker } from '../control/registry/worker.ts';
import type { ReadTransaction, Store } from '../control/store/store.ts';
import type { DomainRow } from '../control/store/tables/domains.ts';
import type { PendingDomain, RevisionRow } from '../control/store/tables/plans.ts';
import { type Retention, USUAL_RETENTION } from '../control/traffic/retention.ts';
import { createRollUp, type RollUp, type RollUpRound } from '../control/traffic/roll-up.ts';
import { createTrafficThread, type TrafficThread } from '../control/traffic/thread.ts';
import { notifyIncident, type UptimeWatch, watchUptime } from '../control/traffic/uptime/judge-due.ts';
import { createReadMinutes } from '../control/traffic/uptime/read-minutes.ts';
import { createFlattener, createStoreTargets } from '../control/zones/flatten.ts';
import { addZoneMetrics } from '../control/zones/metrics.ts';
import { createNotifier } from '../control/zones/notify-queue.ts';
import { createZonePublisher } from '../control/zones/publish-zones.ts';
import { createZoneServer } from '../control/zones/server.ts';
import { createZoneMaker } from '../control/zones/zone-maker.ts';
import { addressText, createZoneService, type ZoneService } from '../control/zones/zone-service.ts';
import { createStoreSource } from '../control/zones/zone-source.ts';
import type { ServerOptions, ZoneOptions } from './server-options.ts';
import { version } from './version.ts';

/** Creates the watch; its events go to the log. */
export function watchBilling(
  { store, log, overQuota }: Pick<ServerOptions, 'store' | 'log' | 'overQuota'>,
  entitlementsOf: (tx: ReadTransaction, domain: DomainRow) => Promise<Entitlements>,
): BillingWatch {
  return createBillingWatch({
    store,
    overQuota,
    entitlementsOf,
    clock: Date.now,
    note: (note) => {
      if (note.kind === 'failed') log.warn({ domain: note.domain, err: note.error }, 'billing');
      else log.info({ ...note }, 'billing');
    },
  });
}

// The certificates of `edgeplan serve` that it obtains by ACME: the issuer and its metrics.

/** The issuer of a server; `null`: it obtains no certificates, and nothing of ACME is loaded. */
export async function createServerIssuer(
  { issuer, secretsKey: ring, zones, store, log }: ServerOptions,
  { registry, hostNames }: { readonly registry: Registry; readonly hostNames: HostNames },
): Promise<Issuer | null> {
  if (issuer === undefined || ring == null) return null;
  const metrics = addIssuerMetrics(registry, store);
  const nameservers = zones === undefined ? null : zones.secondaries.map(({ server }) => server);
  const { createIssuer } = await import('../control/certificates/issuance/issuer.ts');
  return createIssuer({
    ...issuer,
    ...{ store, ring, nameservers, log },
    lookup: hostNames.lookupFor('operator'),
    clock: Date.now,
    onOutcome: metrics.ended,
  });
}

// The OpenTelemetry export of `edgeplan serve`: where it starts, and the span of a publication.

/** Starts the export to an OpenTelemetry collector; `null`: none is configured, and nothing of it is loaded. */
export async function startServerTelemetry(
  { collector, log }: Pick<ServerOptions, 'collector' | 'log'>,
  { registry, hostNames }: { readonly registry: Registry; readonly hostNames: HostNames },
): Promise<Telemetry | null> {
  if (collector === undefined) return null;
  return startTelemetry({
    collector,
    identity: { service: 'edgeplan-server', version: version(), instance: randomUUID(), worker: null },
    registry: () => registry,
    lookup: hostNames.lookupFor('operator'),
    onChange: (sentence) => log.warn(sentence),
  });
}

/** A span from the oldest write that a revision covers to its commit: publications follow requests, and outlast them. */
export function recordPublication(spans: SpanSource, revision: RevisionRow, sinceWriteMs: number): void {
  const startedAt = Date.now() - sinceWriteMs;
  const span = spans.start({ name: 'publish', kind: 'internal', startedAt }, null);
  span.set({
    'edgeplan.domain': revision.domain,
    'edgeplan.revision': revision.revision,
    'edgeplan.publication': revision.digest === null ? 'tombstone' : 'plan',
  });
  span.end(null);
}

// The traffic and uptime of `edgeplan serve`: the thread that merges counts, the roll-up, and the watch of uptime.

type TrafficOptions = Pick<ServerOptions, 'store' | 'log' | 'trafficRetention'>;

/** The periods for which traffic is stored. */
export function retentionOf({ trafficRetention }: Pick<ServerOptions, 'trafficRetention'>): Retention {
  return trafficRetention ?? USUAL_RETENTION;
}

/** What opens, merges and removes the traffic of nodes. */
export interface ServerTraffic {
  readonly thread: TrafficThread;
  readonly rollUp: RollUp;
}

/** One process of a store without shares has it alone. */
export function createTraffic(options: TrafficOptions, onRound: (round: RollUpRound) => void): ServerTraffic {
  const { store, log } = options;
  const thread = createTrafficThread({ store });
  const rollUp = createRollUp({
    ...{ store, thread, log },
    retention: retentionOf(options),
    alone: store.shares === null,
    onRound,
  });
  return { thread, rollUp };
}

/** Judges uptime from what nodes reported. */
export function startUptime({ store, log }: TrafficOptions): UptimeWatch {
  return watchUptime({
    store,
    minutes: createReadMinutes(store),
    clock: Date.now,
    changed: (tx, change) => notifyIncident(tx, change, Date.now()),
    failed: (error) => log.warn({ err: error }, 'uptime not judged; will retry'),
  });
}

// The zones of `edgeplan serve`: their publisher, the server of transfers, NOTIFY, and lookups of ALIAS targets.

/** The zones of a server. */
export interface ServerZones {
  readonly service: ZoneService;
  /** Publishes, listens and looks up; resolves with the address of transfers. @throws Error the address cannot be used */
  start(): Promise<string>;
  stop(): Promise<void>;
}

/** What zones work with besides their options. */
export interface ServerZonesTools {
  readonly dns: Dns;
  readonly registry: Registry;
}

/** Composes the parts; nothing runs yet. */
export function createServerZones(
  { listen, settings, keys, secondaries }: ZoneOptions,
  { store, log }: Pick<ServerOptions, 'store' | 'log'>,
  { dns, registry }: ServerZonesTools,
): ServerZones {
  const clock = Date.now;
  const source = createStoreSource(store, settings.catalog);
  const notifier = createNotifier({ secondaries, log, clock });
  const metrics = addZoneMetrics(registry, {
    store,
    waiting: () =>
      notifier.status().map(({ server: at, waiting }) => ({ secondary: addressText(at), zones: waiting })),
  });
  const maker = createZoneMaker({ store, settings });
  const publisher = createZonePublisher({
    ...{ store, maker, settings, clock, log },
    notify: (head) => notifier.notify(head),
    forget: (name) => notifier.forget(name),
    onPublished: metrics.published,
    onTargets: () => flattener.wake(),
  });
  const server = createZoneServer({
    ...{ source, keys, secondaries, listen, log, clock },
    onAnswer: ({ kind }) => metrics.answered(kind),
  });
  const flattener = createFlattener({
    ...{ dns, clock },
    targets: createStoreTargets(store, clock),
    note: (note) => {
      if (note.kind === 'failed')
        log.debug({ target: note.target, err: note.error }, 'ALIAS target not looked up');
    },
  });
  const service = createZoneService({
    store,
    secondaries: secondaries.map(({ server: address }) => ({
      server: address,
      waits: (zone) => notifier.waiting(zone).some((waiting) => waiting.server === address),
    })),
  });
  return {
    service,
    async start() {
      const address = addressText(await server.start());
      await publisher.start();
      flattener.start();
      return address;
    },
    async stop() {
      await flattener.stop();
      await publisher.stop();
      await maker.close();
      notifier.stop();
      await server.stop();
    },
  };
}

// What `edgeplan serve` brings into registries and lists by itself: feeds, the keys of token issuers, exhausted quotas.

/** What is fetched with; see `ServerOptions`. */
interface FetchTools {
  readonly special: SpecialJudge;
  readonly hostNames: HostNames;
  readonly compute: Compute;
}

/** Starts the workers that read lists from their feeds, that fetch the keys of token issuers, and that check quotas. */
export function startFetches(
  { store, log, secretsKey: ring = null }: Pick<ServerOptions, 'store' | 'log' | 'secretsKey'>,
  { special, hostNames: { lookupFor }, compute }: FetchTools,
): { readonly listFeeds: FetchWorker; readonly issuerKeys: FetchWorker; readonly quotas: QuotaWatch } {
  const outward = { store, log, special, lookupFor, clock: Date.now };
  const listFeeds = createFeedWorker({
    ...{ ...outward, ring },
    read: (account, body) =>
      compute.run({ account, kind: 'list_feed' }, async () => ({ kind: 'list_feed', ...body })),
  });
  const issuerKeys = createKeyWorker(outward);
  listFeeds.start();
  issuerKeys.start();
  const quotas = createQuotaWatch({ store, log, clock: Date.now });
  quotas.start();
  return { listFeeds, issuerKeys, quotas };
}

// The notifications of `edgeplan serve`: the outlets that the options name, the delivery worker, and the watch.

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
export function createNotifications(options: NotifierOptions): Notifier {
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
