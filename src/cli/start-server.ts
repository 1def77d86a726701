/**
 * Everything `edgeplan serve` runs, wired together: store, publisher and feed, the watch over domains, the API and the
 * operators' listener. In go plain options, out comes the running server and the way to stop it; signals and printing
 * are the command's.
 */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, isIP } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { type Entitlements, resolveEntitlements } from '../access/entitlements.ts';
import { createKeyUses, type KeyUses } from '../access/key-uses.ts';
import { createRequestBudget, type RequestBudget } from '../access/request-budget.ts';
import { createSharedBudget } from '../access/shared-budget.ts';
import type { TierSlug } from '../access/tiers.ts';
import type { Compute, SealedSignatures } from '../api/compute/job.ts';
import { createCompute } from '../api/compute/pool.ts';
import { createHealthListener, createMetrics } from '../api/health-listener.ts';
import { createLookups, type DomainLookups, trustingLookups } from '../api/lifecycle.ts';
import { DRAIN_MS, USES_FLUSH_MS } from '../api/limits.ts';
import { createApi } from '../api/serve.ts';
import type { Services } from '../api/services.ts';
import { type AllowedOrigins, createSpecialJudge } from '../base/special-addresses.ts';
import { type Countries, openCountries } from '../classify/country.ts';
import { createDns } from '../dns/resolver.ts';
import { createLifecycle, type Lifecycle as Life } from '../lifecycle/lifecycle.ts';
import { openClearance } from '../publisher/clearance.ts';
import { createFeed } from '../publisher/feed.ts';
import { createPublisher, type Publisher } from '../publisher/publisher.ts';
import { createRepublisher, type Republisher } from '../publisher/republisher.ts';
import { openSigner } from '../publisher/signer.ts';
import type { DomainRow } from '../store/rows.ts';
import type { ReadTransaction, Store } from '../store/store.ts';
import { sealedSignaturesFor } from './input/choose-signatures.ts';

export interface ServerOptions {
  readonly store: Store;
  readonly host: string;
  /** 0: any free port, here and below. */
  readonly port: number;
  /** The operators' listener, always on 127.0.0.1. */
  readonly operationsPort: number;
  readonly tier: TierSlug;
  readonly nameserverSets: readonly (readonly string[])[];
  /** Recursive resolvers; empty: the system's. */
  readonly resolvers: readonly string[];
  /** Takes every name for proven without asking the DNS: for trying things out. */
  readonly trustNames: boolean;
  /** As `Services.privateNames`. */
  readonly privateNames: boolean;
  /** Special addresses that a write may name as origins. */
  readonly allowedOrigins: AllowedOrigins;
  /** What each API key may ask for in any minute. */
  readonly requestsPerMinute: number;
  /** A country database in MaxMind's format; absent: none. */
  readonly countries?: string;
  readonly log: Logger;
}

export interface RunningServer {
  /** `http://host:port`. */
  readonly url: string;
  readonly operationsUrl: string;
  /** What a node is given to believe manifests by. */
  readonly publicKey: string;
  /** Lets requests in flight end, writes what is still in memory, and closes the store. */
  stop(): Promise<void>;
}

/** A name has no place of its own. */
function locate(countries: Countries, address: string): string | null {
  return isIP(address) === 0 ? null : countries.country(address);
}

/** The signatures of simulations, opened at the first one that asks for any. */
function createSignatures(): NonNullable<Services['signaturesFor']> {
  let opened: SealedSignatures | null = null;
  return async (plan) => {
    opened ??= await sealedSignaturesFor(plan, { color: 'never' });
    return opened;
  };
}

/** Starts the server; the store becomes its own and is closed with it. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { store, log } = options;
  const clock = Date.now;
  const state = { draining: false };
  const metrics = createMetrics({
    store,
    clock,
    failing: () => publisher.failing().length,
    older: () => republisher.older(),
  });
  const publisher: Publisher = createPublisher({
    store,
    log,
    // Processes side by side share budgets, and a store of one process has none to share.
    alone: store.shares === null,
    entitlementsFor: (tx, domain) => entitlementsOf(tx, domain, options.tier),
    onPublished: ({ revision, sinceWriteMs }) => metrics.published(revision, sinceWriteMs),
  });
  const republisher: Republisher = createRepublisher({ store, publisher, clock, log });
  const countries = options.countries === undefined ? null : openCountries(await readFile(options.countries));
  const signer = await openSigner(store, clock);
  await openClearance(store, clock());
  const feed = createFeed({ store, signer, log });
  const uses = createKeyUses(store);
  const watch = watchDomains(options);
  const budget = budgetOf(options);
  const compute = createCompute({ store, onJob: metrics.computed });
  const services: Services = {
    store,
    uses,
    clock,
    budget,
    tier: options.tier,
    privateNames: options.privateNames,
    specialOrigin: createSpecialJudge(options.allowedOrigins),
    lifecycle: watch.lookups,
    publication: publisher,
    aheadOfStore: feed.ahead,
    ...(countries === null ? {} : { countryOf: (address: string) => locate(countries, address) }),
    signaturesFor: createSignatures(),
    compute,
  };
  const app = await createApi({
    services,
    log,
    watch: metrics.answersOf,
    answered: metrics.answered,
    nodes: { store, feed, signer, log, clock, onReportRefused: metrics.reportRefused },
  });
  await feed.start();
  publisher.start();
  republisher.start();
  watch.start();
  const flushing = flushRegularly(uses, log);
  const operations = createHealthListener({ store, metrics, clock, draining: () => state.draining });
  try {
    await app.listen({ host: options.host, port: options.port });
    operations.listen(options.operationsPort, '127.0.0.1');
    await once(operations, 'listening');
  } catch (error) {
    await app.close();
    await settle({ publisher, republisher, watch, uses, budget, compute, store, log, flushing });
    throw error;
  }
  return {
    url: urlOf(app.server.address() as AddressInfo),
    operationsUrl: urlOf(operations.address() as AddressInfo),
    publicKey: signer.publicKey,
    async stop() {
      state.draining = true;
      await drain(app);
      await settle({ publisher, republisher, watch, uses, budget, compute, store, log, flushing });
      operations.close();
      operations.closeAllConnections();
    },
  };
}

interface Watch {
  readonly lookups: DomainLookups;
  start(): void;
  stop(): Promise<void>;
}

async function entitlementsOf(
  tx: ReadTransaction,
  domain: DomainRow,
  fallback: TierSlug,
): Promise<Entitlements> {
  const subscription = await tx.subscriptions.get(domain.id);
  return resolveEntitlements({ domain, subscription, fallback, now: Date.now() });
}

/** Scheduled and requested looks at the DNS; where names are trusted, nobody looks at all. */
function watchDomains(options: ServerOptions): Watch {
  const { store, log, nameserverSets, tier } = options;
  if (options.trustNames) {
    return { lookups: trustingLookups(nameserverSets), start: () => undefined, stop: async () => undefined };
  }
  const dns = createDns(options.resolvers.length === 0 ? {} : { resolvers: options.resolvers });
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
      .catch((error: unknown) => log.warn({ err: error }, 'records of new domains are looked for later'));
  };
  return {
    lookups: createLookups({ nameserverSets, dns, scan }),
    start: () => life.start(),
    stop: () => life.stop(),
  };
}

/** Processes on one database share the budgets of keys. */
function budgetOf({ store: { shares }, requestsPerMinute: limit, log }: ServerOptions): RequestBudget {
  if (shares === null) return createRequestBudget(limit);
  const failed = (error: unknown): void => {
    log.warn({ err: error }, 'shares of request budgets are not settled yet');
  };
  return createSharedBudget({ shares, limit, clock: Date.now, failed });
}

function flushRegularly(uses: KeyUses, log: Logger): NodeJS.Timeout {
  return setInterval(() => {
    uses.flush().catch((error: unknown) => log.warn({ err: error }, 'uses of keys are not written yet'));
  }, USES_FLUSH_MS);
}

/** Closes the API; connections that are still busy after `DRAIN_MS` are cut. */
async function drain(app: FastifyInstance): Promise<void> {
  const cut = setTimeout(() => app.server.closeAllConnections(), DRAIN_MS);
  await app.close();
  clearTimeout(cut);
}

interface Parts {
  readonly publisher: Publisher;
  readonly republisher: Republisher;
  readonly watch: Watch;
  readonly uses: KeyUses;
  readonly budget: RequestBudget;
  readonly compute: Compute;
  readonly store: Store;
  readonly log: Logger;
  readonly flushing: NodeJS.Timeout;
}

async function settle({
  publisher,
  republisher,
  watch,
  uses,
  budget,
  compute,
  store,
  log,
  flushing,
}: Parts): Promise<void> {
  clearInterval(flushing);
  await watch.stop();
  await republisher.stop();
  await publisher.stop();
  await budget.stop();
  await compute.close();
  await uses.flush().catch((error: unknown) => log.warn({ err: error }, 'uses of keys are lost'));
  await store.close();
}

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
