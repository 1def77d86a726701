/**
 * The composition root of `edgeplan serve`: store, publisher and feed, domain lifecycle, the API, and the health
 * and metrics listener. Input: plain options. Output: the running server and its `stop`; signals and printing
 * belong to the command.
 */
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { createSpecialJudge } from '../base/addresses/special-addresses.ts';
import type { Telemetry } from '../base/telemetry/spans.ts';
import { type Entitlements, resolveEntitlements } from '../control/accounts/entitlements.ts';
import { createKeyUses, type KeyUses } from '../control/accounts/key-uses.ts';
import { createRequestBudget, type RequestBudget } from '../control/accounts/request-budget.ts';
import { createSharedBudget } from '../control/accounts/shared-budget.ts';
import type { TierSlug } from '../control/accounts/tiers.ts';
import { createHealthListener, createMetrics } from '../control/api/health-listener.ts';
import { DRAIN_MS, USES_FLUSH_MS } from '../control/api/operation/limits.ts';
import type { Services } from '../control/api/operation/route.ts';
import { createApi } from '../control/api/serve.ts';
import { withTransactionSpans } from '../control/api/spans.ts';
import type { BillingWatch } from '../control/billing/settle.ts';
import type { Issuer } from '../control/certificates/issuance/issuer.ts';
import { checkKeys } from '../control/certificates/stored-keys.ts';
import type { Compute, SealedSignatures } from '../control/compute/job.ts';
import { createCompute } from '../control/compute/pool.ts';
import { createHostNames, type HostNames } from '../control/dns/host-names.ts';
import { createDns, type Dns } from '../control/dns/resolver.ts';
import { createLifecycle, type Lifecycle as Life } from '../control/domains/lifecycle.ts';
import { createLookups, type DomainLookups, lookupsWithoutDns } from '../control/domains/requests.ts';
import type { FetchWorker } from '../control/lists/feed/fetch-worker.ts';
import { DEFAULT_DAYS } from '../control/logs/limits.ts';
import { openClearance } from '../control/publishing/clearance.ts';
import { createFeed } from '../control/publishing/feed.ts';
import { createPublisher, type Publisher } from '../control/publishing/publisher.ts';
import { createRecentOctets } from '../control/publishing/recent-octets.ts';
import { createRepublisher, type Republisher } from '../control/publishing/republisher.ts';
import { openSigner } from '../control/publishing/signer.ts';
import type { QuotaWatch } from '../control/registry/quota-watch.ts';
import type { ReadTransaction, Store } from '../control/store/store.ts';
import type { DomainRow } from '../control/store/tables/domains.ts';
import type { UptimeWatch } from '../control/traffic/uptime/judge-due.ts';
import type { AddressDatabase } from '../engine/classification/address-database.ts';
import { PLAN_VERSION } from '../engine/plan/layout.ts';
import { addPanel } from '../page/panel/open-panel.ts';
import { addReference } from '../page/reference/open-reference.ts';
import { type DecisionLogs, openDecisionLogs } from './open-decision-logs.ts';
import { addressFinder, hasWafRule, openAddressFile, sealedSignaturesFor } from './open-signatures.ts';
import type { ServerOptions } from './server-options.ts';
import {
  createNotifications,
  createServerIssuer,
  createServerZones,
  createTraffic,
  type Notifier,
  recordPublication,
  retentionOf,
  type ServerTraffic,
  type ServerZones,
  startFetches,
  startServerTelemetry,
  startUptime,
  watchBilling,
} from './server-parts.ts';
import { version } from './version.ts';

/** A server that accepts requests. */
export interface RunningServer {
  /** The address of the API: `http://host:port`. */
  readonly url: string;
  /** The address of the health and metrics listener. */
  readonly operationsUrl: string;
  /** Where zones are transferred, address and port; `null`: nowhere. */
  readonly zones: string | null;
  /** The public key that nodes trust manifests by. */
  readonly publicKey: string;
  /** Finishes open requests, flushes what is in memory, and closes the store. */
  stop(): Promise<void>;
}

/** Opens the signatures of simulations at the first simulation that needs them. */
function createSignatures(): NonNullable<Services['signaturesFor']> {
  let opened: SealedSignatures | null = null;
  return async (plan) => {
    if (!hasWafRule(plan)) return null;
    opened ??= await sealedSignaturesFor(plan, { color: 'never' });
    return opened;
  };
}

/**
 * Starts the server; it owns the store from then on. Rejects when a port cannot be used; everything is closed then.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { store, log } = options;
  const [clock, state] = [Date.now, { draining: false }];
  const metrics = createMetrics({
    store,
    clock,
    failing: () => publisher.failing().length,
    older: () => republisher.older(),
    build: { version: version(), planFormat: PLAN_VERSION },
  });
  const special = createSpecialJudge(options.allowedOrigins);
  const outward = { ...{ special, hostNames: hostNamesOf(options) }, registry: metrics.registry };
  const telemetry = await startServerTelemetry(options, outward);
  const spans = telemetry?.spans ?? null;
  const publisher: Publisher = createPublisher({
    store,
    log,
    // Several processes share budgets through the store; a store of one process has no shares.
    alone: store.shares === null,
    entitlementsFor: (tx, domain) => entitlementsOf(tx, domain, options.tier),
    onPublished: ({ revision, sinceWriteMs }) => {
      metrics.published(revision, sinceWriteMs);
      if (spans !== null) recordPublication(spans, revision, sinceWriteMs);
    },
    onFailed: (pending, failed) => notifier.publicationFailed(pending, failed),
  });
  const republisher: Republisher = createRepublisher({ store, publisher, clock, log });
  const countries = await openAddressFile('--countries', options.countries);
  const signer = await openSigner(store, clock);
  await openClearance(store, clock());
  await reportLostKeys(options, clock());
  const [octets, uses] = [createRecentOctets(), createKeyUses(store)];
  const feed = createFeed({ store, signer, log, octets });
  const dns = dnsOf(options);
  const watch = watchDomains(options, dns);
  const zones = zonesOf(options, dns, metrics.registry);
  const issuer = await createServerIssuer(options, outward);
  const billing = watchBilling(options, (tx, domain) => entitlementsOf(tx, domain, options.tier));
  const [budget, compute] = [budgetOf(options), createCompute({ store, onJob: metrics.computed })];
  const traffic = createTraffic(options, metrics.rolledUp);
  const logs = openDecisionLogs(options.decisionLogs ?? { to: 'store', days: DEFAULT_DAYS }, {
    ...{ store, log },
    onAppended: metrics.logged,
    onFailed: metrics.logFailed,
  });
  const notifier = createNotifications({ ...options, ...outward, onOutcome: metrics.delivered });
  const services = servicesOf(options, countries, {
    ...{ uses, clock, budget, compute, specialOrigin: special },
    codes: notifier.codes,
    store: spans === null ? store : withTransactionSpans(store),
    lifecycle: watch.lookups,
    publication: publisher,
    aheadOfStore: feed.ahead,
    ...(logs === null || logs.search === null ? {} : { logs: logs.search }),
    ...(zones === null ? {} : { zones: zones.service }),
    issues: issuer !== null,
  });
  const app = await createApi({
    ...{ services, log },
    pages: [addReference, addPanel],
    watch: metrics.answersOf,
    answered: metrics.answered,
    ...(spans === null ? {} : { spans }),
    nodes: {
      ...{ store, feed, signer, log, clock, secretsKey: options.secretsKey ?? null },
      ...{ octets, traffic: traffic.thread },
      onReportRefused: metrics.reportRefused,
      ...(logs === null ? {} : { logs: logs.intake }),
    },
  });
  await feed.start();
  for (const part of [publisher, republisher, watch, billing, traffic.rollUp, notifier]) part.start();
  const parts = {
    ...{ publisher, republisher, watch, billing, traffic, logs, notifier, uses, budget },
    ...{ compute, store, log, telemetry, zones, issuer },
    ...startFetches(options, { ...outward, compute }),
    ...{ uptime: startUptime(options), flushing: flushRegularly(uses, log) },
  };
  const operations = createHealthListener({ store, metrics, clock, draining: () => state.draining });
  let zonesAddress: string | null = null;
  try {
    zonesAddress = (await zones?.start()) ?? null;
    issuer?.start();
    await app.listen({ host: options.host, port: options.port });
    operations.listen(options.operationsPort, '127.0.0.1');
    await once(operations, 'listening');
  } catch (error) {
    await app.close();
    await settle(parts);
    throw error;
  }
  return runningServer(parts, { app, operations, publicKey: signer.publicKey, state, zones: zonesAddress });
}

/** Logs certificates whose private key cannot be decrypted; they fail until their secrets key is there. */
async function reportLostKeys({ store, secretsKey, log }: ServerOptions, now: number): Promise<void> {
  if (secretsKey == null) return;
  const { lost, domains, recovered } = await checkKeys(store, secretsKey, now);
  if (recovered > 0) log.info({ certificates: recovered }, 'private keys can be decrypted again');
  if (lost === 0) return;
  log.error(
    { certificates: lost, domains, secrets_key: secretsKey.where },
    'private keys of certificates cannot be decrypted: start with the secrets key that the database was used with, or have the certificates uploaded again',
  );
}

/** What a running server has besides its parts. */
interface Listening {
  readonly app: FastifyInstance;
  readonly operations: Server;
  readonly publicKey: string;
  readonly zones: string | null;
  readonly state: { draining: boolean };
}

/** The addresses of a server that listens, and its end. */
function runningServer(parts: Parts, { app, operations, publicKey, zones, state }: Listening): RunningServer {
  return {
    url: urlOf(app.server.address() as AddressInfo),
    operationsUrl: urlOf(operations.address() as AddressInfo),
    zones,
    publicKey,
    async stop() {
      state.draining = true;
      await drain(app);
      await settle(parts);
      operations.close();
      operations.closeAllConnections();
    },
  };
}

/** The services that `startServer` has made for the API. */
type MadeServices = Pick<
  Services,
  | ('store' | 'uses' | 'clock' | 'budget' | 'compute' | 'lifecycle' | 'publication' | 'aheadOfStore')
  | ('logs' | 'specialOrigin' | 'codes' | 'zones' | 'issues')
>;

/** All services of routes for customers: those made, and what the options say. */
function servicesOf(options: ServerOptions, countries: AddressDatabase | null, made: MadeServices): Services {
  const { tier, overQuota, privateNames } = options;
  return {
    ...made,
    ...{ tier, overQuota, privateNames },
    secretsKey: options.secretsKey ?? null,
    ...(countries === null ? {} : { countryOf: addressFinder(countries.country) }),
    signaturesFor: createSignatures(),
    trafficRetention: retentionOf(options),
  };
}

/** The domain lifecycle, as the server starts and stops it. */
interface Watch {
  readonly lookups: DomainLookups;
  start(): void;
  stop(): Promise<void>;
}

/** The entitlements of a domain by its subscription, else by the default tier. */
async function entitlementsOf(
  tx: ReadTransaction,
  domain: DomainRow,
  fallback: TierSlug,
): Promise<Entitlements> {
  const subscription = await tx.subscriptions.get(domain.id);
  return resolveEntitlements({ domain, subscription, fallback, now: Date.now() });
}

/** The DNS client: the configured resolvers, and name servers at public or allowed addresses. */
function dnsOf({ resolvers, nameservers = { prefixes: [], port: 53 } }: ServerOptions): Dns {
  const special = createSpecialJudge({ prefixes: nameservers.prefixes, local: false });
  return createDns({
    ...(resolvers.length === 0 ? {} : { resolvers }),
    authorityPort: nameservers.port,
    privateAddresses: (address) => special(address) === null,
  });
}

/** What resolves the names that this server connects to. */
function hostNamesOf({ resolvers }: ServerOptions): HostNames {
  return createHostNames(resolvers.length === 0 ? {} : { accounts: resolvers });
}

/** The zones of managed domains; `null`: this server serves none. */
function zonesOf(options: ServerOptions, dns: Dns, registry: Registry): ServerZones | null {
  return options.zones === undefined ? null : createServerZones(options.zones, options, { dns, registry });
}

/** Scheduled and requested DNS checks; none if names are trusted. */
function watchDomains(options: ServerOptions, dns: Dns): Watch {
  const { store, log, nameserverSets, tier } = options;
  if (options.trustNames) {
    return {
      lookups: lookupsWithoutDns(nameserverSets),
      start: () => undefined,
      stop: async () => undefined,
    };
  }
  const life: Life = createLifecycle({
    store,
    dns,
    sets: nameserverSets,
    specialOrigin: createSpecialJudge(options.allowedOrigins),
    maxRecords: async (domain) => (await entitlementsOf(store.latest, domain, tier)).max_records,
    note: (note) => {
      if (note.kind === 'failed') log.warn({ domain: note.domain, err: note.error }, 'lifecycle');
      else log.info({ ...note }, 'lifecycle');
    },
  });
  const scan = (): void => {
    life
      .runScans()
      .catch((error: unknown) => log.warn({ err: error }, 'scan for records of new domains postponed'));
  };
  return {
    lookups: createLookups({ nameserverSets, dns, scan }),
    start: () => life.start(),
    stop: () => life.stop(),
  };
}

/** The request budget of keys; processes on one database share it. */
function budgetOf({ store: { shares }, requestsPerMinute: limit, log }: ServerOptions): RequestBudget {
  if (shares === null) return createRequestBudget(limit);
  const failed = (error: unknown): void => {
    log.warn({ err: error }, 'shared request budgets not updated; will retry');
  };
  return createSharedBudget({ shares, limit, clock: Date.now, failed });
}

/** Writes the use counts of keys periodically. */
function flushRegularly(uses: KeyUses, log: Logger): NodeJS.Timeout {
  return setInterval(() => {
    uses
      .flush()
      .catch((error: unknown) => log.warn({ err: error }, 'use counts of keys not written; will retry'));
  }, USES_FLUSH_MS);
}

/** Closes the API; connections still open after `DRAIN_MS` are destroyed. */
async function drain(app: FastifyInstance): Promise<void> {
  const cut = setTimeout(() => app.server.closeAllConnections(), DRAIN_MS);
  await app.close();
  clearTimeout(cut);
}

/** What is stopped, in `settle`. */
interface Parts {
  readonly publisher: Publisher;
  readonly republisher: Republisher;
  readonly watch: Watch;
  readonly billing: BillingWatch;
  readonly traffic: ServerTraffic;
  readonly uptime: UptimeWatch;
  readonly notifier: Notifier;
  readonly listFeeds: FetchWorker;
  readonly issuerKeys: FetchWorker;
  readonly quotas: QuotaWatch;
  readonly uses: KeyUses;
  readonly budget: RequestBudget;
  readonly compute: Compute;
  /** `null`: the server takes no entries of decision logs. */
  readonly logs: DecisionLogs | null;
  readonly store: Store;
  readonly log: Logger;
  readonly flushing: NodeJS.Timeout;
  readonly telemetry: Telemetry | null;
  /** `null`: the server serves no zones. */
  readonly zones: ServerZones | null;
  /** `null`: the server obtains no certificates. */
  readonly issuer: Issuer | null;
}

/** Stops every part in the reverse order of its start, and closes the store last. */
async function settle({
  publisher,
  republisher,
  watch,
  billing,
  traffic,
  uptime,
  notifier,
  listFeeds,
  issuerKeys,
  quotas,
  uses,
  budget,
  compute,
  logs,
  store,
  log,
  flushing,
  telemetry,
  zones,
  issuer,
}: Parts): Promise<void> {
  clearInterval(flushing);
  await issuer?.stop();
  await zones?.stop();
  await quotas.stop();
  await issuerKeys.stop();
  await listFeeds.stop();
  await notifier.stop();
  await watch.stop();
  await billing.stop();
  await uptime.stop();
  await traffic.rollUp.stop();
  await traffic.thread.close();
  await republisher.stop();
  await publisher.stop();
  await budget.stop();
  await compute.close();
  await logs?.close();
  await uses.flush().catch((error: unknown) => log.warn({ err: error }, 'use counts of keys lost'));
  // The last metrics read the store.
  await telemetry?.stop();
  await store.close();
}

/** The URL of a listening socket; IPv6 in brackets. */
function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
