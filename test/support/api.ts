/** A whole API on a real socket over a real store, with scripted DNS answers and a clock that can be moved. */
import { request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { createSpecialJudge } from '../../src/base/addresses/special-addresses.ts';
import { openDecisionLogs } from '../../src/cli/open-decision-logs.ts';
import { createKeyUses, type KeyUses } from '../../src/control/accounts/key-uses.ts';
import { createAccount, createKey, type NewKey } from '../../src/control/accounts/keys.ts';
import { createRequestBudget } from '../../src/control/accounts/request-budget.ts';
import type { TierSlug } from '../../src/control/accounts/tiers.ts';
import type { PublicationService, Services } from '../../src/control/api/operation/route.ts';
import { createApi } from '../../src/control/api/serve.ts';
import type { OverQuota } from '../../src/control/billing/quota.ts';
import { type KeyRing, newKeyText, openKeyRing } from '../../src/control/certificates/key-ring.ts';
import { type ComputeOptions, createCompute } from '../../src/control/compute/pool.ts';
import type { DomainLookups } from '../../src/control/domains/requests.ts';
import type { LogIntake } from '../../src/control/logs/take-batch.ts';
import { openClearance } from '../../src/control/publishing/clearance.ts';
import { createFeed } from '../../src/control/publishing/feed.ts';
import { createRecentOctets } from '../../src/control/publishing/recent-octets.ts';
import { openSigner } from '../../src/control/publishing/signer.ts';
import { openStore } from '../../src/control/store/database/open.ts';
import type { Store } from '../../src/control/store/store.ts';
import type { AccountRow } from '../../src/control/store/tables/accounts.ts';
import type { MemberRole } from '../../src/control/store/tables/domains.ts';
import { createTrafficThread } from '../../src/control/traffic/thread.ts';
import { addPanel } from '../../src/page/panel/open-panel.ts';
import { addReference } from '../../src/page/reference/open-reference.ts';
import { judgeAnswer } from './api-shapes.ts';
import type { TestDatabase } from './databases.ts';
import { TEST_ORIGINS } from './origin-bounds.ts';

/** What the DNS says until told otherwise. */
export interface ScriptedDns {
  delegation: Awaited<ReturnType<DomainLookups['delegation']>>;
  challenge: Awaited<ReturnType<DomainLookups['challenge']>>;
  /** Runs inside every lookup, before it answers. */
  meanwhile: () => Promise<void>;
  /** How often it was told that there are records to look for. */
  scans: number;
}

export interface TestApi {
  readonly url: string;
  readonly port: number;
  readonly store: Store;
  /** Where the store is: a data folder or an address. */
  readonly database: string;
  readonly dns: ScriptedDns;
  readonly log: string[];
  readonly uses: KeyUses;
  /** Where entries of decision logs go. */
  readonly logs: LogIntake['store'];
  /** Runs once, before the next snapshot a handler reads from. */
  beforeRead: (() => Promise<void>) | null;
  /** Milliseconds the clock is ahead of the real one. */
  ahead: number;
  now(): number;
  person(name: string): Promise<Person>;
  close(): Promise<void>;
}

/** An account with a key, and requests made with it. */
export interface Person {
  readonly account: AccountRow;
  readonly key: string;
  readonly keyId: number;
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  anotherKey(options?: Partial<NewKey>): Promise<{ readonly key: string; readonly id: number }>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | undefined>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any;
}

export interface TestApiOptions {
  readonly tier?: TierSlug;
  readonly overQuota?: OverQuota;
  readonly budget?: number;
  /** Default: true, so that tests register names that are nobody's. */
  readonly privateNames?: boolean;
  /** Special addresses that origins may have. Default: those of tests. */
  readonly allowedOrigins?: readonly string[];
  readonly publication?: PublicationService;
  /** Default: one key of its own; `null`: none. */
  readonly secretsKey?: KeyRing | null;
  /** Whether it obtains certificates. Default: no. */
  readonly issues?: boolean;
  /** What the API sees of the store. */
  readonly around?: (store: Store) => Store;
  /** Sends codes to new addresses. Default: none is sent. */
  readonly codes?: Services['codes'];
  /** Default: computes on the API's own thread, as unbuilt sources do. */
  readonly compute?: Partial<ComputeOptions>;
}

/** A secrets key that no file has. */
export function newKeyRing(): KeyRing {
  const text = newKeyText();
  return openKeyRing({ where: 'memory', read: () => text });
}

/** Starts one. */
export async function startApi(database: TestDatabase, options: TestApiOptions = {}): Promise<TestApi> {
  const made = await database.make();
  const store = await openStore({ database: made.database });
  const dns = scriptDns();
  const log: string[] = [];
  const uses = createKeyUses(store);
  const state: Pick<TestApi, 'ahead' | 'beforeRead'> = { ahead: 0, beforeRead: null };
  const seen = options.around?.(store) ?? store;
  const hooked: Store = {
    ...seen,
    async read(work) {
      const first = state.beforeRead;
      state.beforeRead = null;
      await first?.();
      return seen.read(work);
    },
  };
  const clock = (): number => Date.now() + state.ahead;
  const compute = createCompute({ file: null, ...options.compute, store });
  const secretsKey = options.secretsKey === undefined ? newKeyRing() : options.secretsKey;
  const services: Services = {
    store: hooked,
    uses,
    clock,
    budget: createRequestBudget(options.budget ?? 50_000),
    tier: options.tier ?? 'enterprise',
    overQuota: options.overQuota ?? 'serve',
    privateNames: options.privateNames ?? true,
    specialOrigin: createSpecialJudge({ prefixes: options.allowedOrigins ?? TEST_ORIGINS, local: false }),
    lifecycle: scriptLifecycle(dns),
    publication: options.publication ?? { waitForOutbox: async () => null },
    ...(options.codes && { codes: options.codes }),
    compute,
    secretsKey,
    issues: options.issues === true,
  };
  const own = pino({}, { write: (line: string) => void log.push(line) });
  const signer = await openSigner(store, clock);
  await openClearance(store, clock());
  const octets = createRecentOctets();
  const feed = createFeed({ store, signer, log: own, octets });
  const traffic = createTrafficThread({ store });
  const logs = openDecisionLogs(
    { to: 'store', days: 7 },
    { store, log: own, onAppended: () => undefined, onFailed: () => undefined },
  )!;
  const nodes = { store, feed, signer, octets, log: own, clock, traffic, logs: logs.intake, secretsKey };
  const app = await createApi({
    services: { ...services, logs: logs.search! },
    pages: [addReference, addPanel],
    nodes,
    log: own,
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    store,
    database: made.database,
    dns,
    log,
    uses,
    logs: logs.intake.store,
    get ahead() {
      return state.ahead;
    },
    set ahead(milliseconds: number) {
      state.ahead = milliseconds;
    },
    get beforeRead() {
      return state.beforeRead;
    },
    set beforeRead(work: (() => Promise<void>) | null) {
      state.beforeRead = work;
    },
    now: clock,
    person: (name) => makePerson(store, port, name),
    async close() {
      await app.close();
      await compute.close();
      await traffic.close();
      await logs.close();
      await store.close();
      await made.drop();
    },
  };
}

function scriptDns(): ScriptedDns {
  return {
    delegation: { state: 'none', set: null, found: [] },
    challenge: { state: 'absent', found: [] },
    meanwhile: async () => undefined,
    scans: 0,
  };
}

export const SETS = [
  ['ns1.edge.test', 'ns2.edge.test'],
  ['ns3.edge.test', 'ns4.edge.test'],
] as const;

function scriptLifecycle(dns: ScriptedDns): DomainLookups {
  return {
    nameserverSets: SETS,
    scan: () => {
      dns.scans++;
    },
    async delegation() {
      await dns.meanwhile();
      return dns.delegation;
    },
    async challenge() {
      await dns.meanwhile();
      return dns.challenge;
    },
  };
}

async function makePerson(store: Store, port: number, name: string): Promise<Person> {
  const account = await createAccount(store, { name, now: Date.now() });
  if (!account.ok) throw new Error(account.reason);
  const anotherKey: Person['anotherKey'] = async (options) => {
    const made = await createKey(store, {
      account: name,
      name: 'test',
      expiry: null,
      readOnly: false,
      now: Date.now(),
      ...options,
    });
    if (!made.ok) throw new Error(made.reason);
    return { key: made.value.key, id: made.value.row.id };
  };
  const { key, id } = await anotherKey();
  return {
    account: account.value,
    key,
    keyId: id,
    anotherKey,
    async call(method, path, body, headers = {}) {
      const sent = { method, path, body, headers: { authorization: `Bearer ${key}`, ...headers } };
      const answer = await send(port, sent);
      const wrong = judgeAnswer(method, path, answer);
      if (wrong !== null) throw new Error(wrong);
      return answer;
    },
  };
}

/** Makes an account a member of a domain, as people do: the owner invites, the account accepts. */
export async function addMember(
  owner: Person,
  { member, domain, role }: { readonly member: Person; readonly domain: string; readonly role: MemberRole },
): Promise<void> {
  const { name } = member.account;
  const invited = await owner.call('POST', `/domains/${domain}/members/`, { name, role });
  if (invited.status !== 202) throw new Error(invited.text);
  const accepted = await member.call('POST', `/invitations/${invited.body.id}/accept`);
  if (accepted.status !== 200) throw new Error(accepted.text);
}

export interface Sent {
  readonly method: string;
  readonly path: string;
  /** JSON, or octets as they are. */
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** One request over a socket of its own, the path exactly as given. */
export function send(port: number, { method, path, body, headers = {} }: Sent): Promise<Answer> {
  const octets =
    body === undefined ? null : Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body), 'utf8');
  const own = octets === null ? {} : { 'content-type': 'application/json', 'content-length': octets.length };
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { host: '127.0.0.1', port, method, path, headers: { ...own, ...headers }, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers as Record<string, string | undefined>,
            text,
            body: String(response.headers['content-type']).includes('json')
              ? JSON.parse(text || 'null')
              : text,
          });
        });
      },
    );
    request.on('error', reject);
    request.end(octets ?? undefined);
  });
}
