/** Everything from the store to nodes' sockets, put together as `serve` does it, and domains to publish. */
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { createSpecialJudge } from '../../src/base/addresses/special-addresses.ts';
import { openDecisionLogs } from '../../src/cli/open-decision-logs.ts';
import { createKeyUses } from '../../src/control/accounts/key-uses.ts';
import { createAccount, createKey } from '../../src/control/accounts/keys.ts';
import { createRequestBudget } from '../../src/control/accounts/request-budget.ts';
import type { Services } from '../../src/control/api/operation/route.ts';
import { createApi } from '../../src/control/api/serve.ts';
import { createCompute } from '../../src/control/compute/pool.ts';
import { openClearance } from '../../src/control/publishing/clearance.ts';
import { createFeed, type Feed } from '../../src/control/publishing/feed.ts';
import { createNode } from '../../src/control/publishing/nodes.ts';
import { createPublisher, type Publisher } from '../../src/control/publishing/publisher.ts';
import { createRecentOctets } from '../../src/control/publishing/recent-octets.ts';
import { openSigner, type Signer } from '../../src/control/publishing/signer.ts';
import { openStore } from '../../src/control/store/database/open.ts';
import type { Store } from '../../src/control/store/store.ts';
import { SERVICE } from '../../src/control/store/tables/accounts.ts';
import type { DomainRow } from '../../src/control/store/tables/domains.ts';
import type { RuleRow } from '../../src/control/store/tables/rules.ts';
import { createTrafficThread } from '../../src/control/traffic/thread.ts';
import { type Answer, send } from './api.ts';
import { TEST_ORIGINS } from './origin-bounds.ts';
import { activeDomain, newRecord } from './sample-rows.ts';

export interface House {
  readonly port: number;
  readonly store: Store;
  readonly publisher: Publisher;
  readonly feed: Feed;
  readonly signer: Signer;
  /** Lines of the log. */
  readonly log: readonly string[];
  readonly app: FastifyInstance;
  readonly accountId: number;
  /** A request with the owner's key. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** A new node's token. */
  token(name: string): Promise<string>;
  close(): Promise<void>;
}

export interface HouseOptions {
  readonly database: string;
  readonly maxBacklog?: number;
  /** Leaves publishing to the test. */
  readonly idle?: boolean;
  /** Where entries of nodes go, as `--decision-logs` takes it. Default: `store`. */
  readonly decisionLogs?: string;
}

/** Opens the store and serves it; the account `owner` has a key. Several on one PostgreSQL database share the work. */
export async function openHouse({
  database,
  maxBacklog,
  idle,
  decisionLogs = 'store',
}: HouseOptions): Promise<House> {
  const store = await openStore({ database });
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  await openClearance(store, Date.now());
  const signer = await openSigner(store, Date.now);
  const publisher = createPublisher({ store, log, pollMs: 200, leaseMs: 500 });
  const octets = createRecentOctets();
  const feed = createFeed({
    store,
    signer,
    log,
    octets,
    pollMs: 200,
    heartbeatMs: 300,
    ...(maxBacklog === undefined ? {} : { maxBacklog }),
  });
  await feed.start();
  const traffic = createTrafficThread({ store });
  const logs = openDecisionLogs(
    { to: decisionLogs, days: 7 },
    { store, log, onAppended: () => undefined, onFailed: () => undefined },
  )!;
  const app = await createApi({
    services: {
      ...servicesOf(store, publisher),
      aheadOfStore: feed.ahead,
      ...(logs.search === null ? {} : { logs: logs.search }),
    },
    log,
    nodes: {
      ...{ store, feed, signer, log, clock: Date.now, traffic },
      ...{ octets, logs: logs.intake },
    },
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const { key, accountId } = await owner(store);
  if (idle !== true) publisher.start();
  return {
    port,
    store,
    publisher,
    feed,
    signer,
    log: lines,
    app,
    accountId,
    call: (method, path, body, headers) =>
      send(port, { method, path, body, headers: { authorization: `Bearer ${key}`, ...headers } }),
    token: async (name) => (await store.write((tx) => createNode(tx, name, Date.now()))).token,
    async close() {
      await publisher.stop();
      await app.close();
      await traffic.close();
      await logs.close();
      await store.close();
    },
  };
}

function servicesOf(store: Store, publisher: Publisher): Services {
  return {
    store,
    publication: publisher,
    uses: createKeyUses(store),
    clock: Date.now,
    budget: createRequestBudget(50_000),
    tier: 'enterprise',
    overQuota: 'serve',
    privateNames: true,
    specialOrigin: createSpecialJudge({ prefixes: TEST_ORIGINS, local: false }),
    compute: createCompute({ store, file: null }),
    lifecycle: {
      nameserverSets: [['ns1.edge.test', 'ns2.edge.test']],
      scan: null,
      delegation: async () => ({ state: 'none', set: null, found: [] }),
      challenge: async () => ({ state: 'absent', found: [] }),
    },
  };
}

async function owner(store: Store): Promise<{ readonly key: string; readonly accountId: number }> {
  const there = await store.latest.accounts.byName('owner');
  if (there === null) await createAccount(store, { name: 'owner', now: Date.now() });
  const account = (await store.latest.accounts.byName('owner'))!;
  const made = await createKey(store, {
    account: 'owner',
    name: 'test',
    expiry: null,
    readOnly: false,
    now: Date.now(),
  });
  if (!made.ok) throw new Error(made.reason);
  return { key: made.value.key, accountId: account.id };
}

/** A domain with one proxied record at its apex, and the outbox row that its creation leaves behind. */
export async function addDomain(
  { store, accountId }: Pick<House, 'store' | 'accountId'>,
  name: string,
  changes: Partial<DomainRow> = {},
): Promise<DomainRow> {
  const times = { created_at: Date.now(), updated_at: Date.now() };
  return store.write(async (tx) => {
    const domain = await tx.domains.insert(activeDomain(name, accountId, { ...times, ...changes }));
    const record = { destination: '198.51.100.1', scheme: 'Https', ...times } as const;
    await tx.records.insert([newRecord(domain.id, record)]);
    await tx.outbox.append({
      ...SERVICE,
      domain_id: domain.id,
      domain: name,
      at: Date.now(),
      reason: 'domain created',
    });
    return domain;
  });
}

/** What a drop rule's row holds. */
export function dropBody(path: string): string {
  return JSON.stringify({ path_includes: [path], ips: ['0.0.0.0/0', '::/0'] });
}

/** Adds a rule that drops a path; answers the row and the id in the outbox. */
export async function addDrop(
  { store }: Pick<House, 'store'>,
  domain: DomainRow,
  path: string,
): Promise<{ readonly rule: RuleRow; readonly outboxId: number }> {
  const at = Date.now();
  return store.write(async (tx) => {
    const rule = await tx.rules.insert({
      domain_id: domain.id,
      type: 'drop',
      priority: 100,
      body: dropBody(path),
      record_ids: [],
      created_at: at,
      updated_at: at,
    });
    const row = { ...SERVICE, domain_id: domain.id, domain: domain.name, at, reason: `rule for ${path}` };
    return { rule, outboxId: await tx.outbox.append(row) };
  });
}

/** Changes the domain's row and leaves work for the publisher. */
export async function changeDomain(
  { store }: Pick<House, 'store'>,
  domain: DomainRow,
  changes: Partial<DomainRow>,
): Promise<void> {
  await store.write(async (tx) => {
    await tx.domains.update(domain.id, { ...changes, updated_at: Date.now() });
    await tx.outbox.append({
      ...SERVICE,
      domain_id: domain.id,
      domain: domain.name,
      at: Date.now(),
      reason: 'domain changed',
    });
  });
}

export async function removeDomain({ store }: Pick<House, 'store'>, domain: DomainRow): Promise<void> {
  await store.write(async (tx) => {
    const row = {
      ...SERVICE,
      domain_id: domain.id,
      domain: domain.name,
      at: Date.now(),
      reason: 'domain deleted',
    };
    await tx.outbox.append(row);
    await tx.domains.remove(domain.id);
  });
}

export { until } from './until.ts';
