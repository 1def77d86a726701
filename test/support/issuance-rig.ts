/** A store with an issuer on it, an authority with faults, and a scripted clock: domains are added as the API would. */

import {
  createIssuer,
  type Issuer,
  type IssuerOptions,
} from '../../src/control/certificates/issuance/issuer.ts';
import { newKeyText, openKeyRing } from '../../src/control/certificates/key-ring.ts';
import { createHostNames } from '../../src/control/dns/host-names.ts';
import { openStore } from '../../src/control/store/database/open.ts';
import type { Store } from '../../src/control/store/store.ts';
import type { DomainRow } from '../../src/control/store/tables/domains.ts';
import { type ChallengeCheck, startAuthority, type TestAuthority } from './acme-authority.ts';
import type { TestDatabase } from './databases.ts';
import { activeDomain, newRecord, publication, T } from './sample-rows.ts';

export interface IssuanceRig {
  readonly store: Store;
  readonly ca: TestAuthority;
  readonly ring: IssuerOptions['ring'];
  /** The scripted clock. */
  now: number;
  /** Outcomes of orders, in their order. */
  readonly outcomes: string[];
  /** Adds a published domain with proxied names; `zone`: with a zone of ours. */
  addDomain(name: string, facts?: DomainFacts): Promise<DomainRow>;
  /** Another issuer on the same store, as another process has. */
  issuer(changes?: Partial<IssuerOptions>): Issuer;
  /** A pass of the usual issuer. */
  pass(): Promise<void>;
  close(): Promise<void>;
}

export interface DomainFacts {
  /** Names of proxied A records. Default: `@`. */
  readonly names?: readonly string[];
  /** `later`: the domain is managed, and its zone is not made yet. Default: `false`. */
  readonly zone?: boolean | 'later';
  /** The owning account; absent: a new one. */
  readonly owner?: number;
}

export interface IssuanceRigOptions {
  /** The life of certificates. Default: 90 days. */
  readonly lifeMs?: number;
  /** Default: the store answers. */
  readonly resolve?: ChallengeCheck;
  /** Without polls of authorizations, for runs with many orders. */
  readonly prompt?: boolean;
}

/** Opens it. */
export async function openIssuance(
  database: TestDatabase,
  { lifeMs = 90 * 86_400_000, resolve, prompt = false }: IssuanceRigOptions = {},
): Promise<IssuanceRig> {
  const place = await database.make();
  const store = await openStore({ database: place.database, role: 'server' });
  const key = newKeyText();
  const ring = openKeyRing({ where: 'the test', read: () => key });
  const time = { now: T };
  const ca = await startAuthority({
    clock: () => time.now,
    lifeMs,
    prompt,
    resolve: resolve ?? ((challenge) => isAnswered(store, challenge)),
  });
  let usual: Issuer | null = null;
  const rig: IssuanceRig = {
    ...{ store, ca, ring, outcomes: [] },
    get now() {
      return time.now;
    },
    set now(at) {
      time.now = at;
    },
    addDomain: (name, facts = {}) => addDomain(rig, name, facts),
    issuer: (changes = {}) =>
      createIssuer({
        ...{ store, ring, directory: ca.directoryUrl, email: null, nameservers: [], orders: 1_000_000 },
        log: { info: () => undefined, warn: () => undefined },
        clock: () => time.now,
        onOutcome: (outcome) => rig.outcomes.push(outcome),
        nodesMs: 0,
        lookup: createHostNames().lookupFor('operator'),
        ...changes,
      }),
    pass() {
      usual ??= rig.issuer();
      return usual.pass();
    },
    async close() {
      await ca.stop();
      await store.close();
      await place.drop();
    },
  };
  return rig;
}

async function addDomain(
  { store, now }: IssuanceRig,
  name: string,
  { names = ['@'], zone = false, owner }: DomainFacts,
): Promise<DomainRow> {
  return store.write(async (tx) => {
    const times = { created_at: now, updated_at: now };
    const account =
      owner ?? (await tx.accounts.insert({ name: `owner of ${name}`, active: true, ...times })).id;
    const dns_mode = zone === false ? 'external' : 'managed';
    const domain = await tx.domains.insert(activeDomain(name, account, { dns_mode }));
    await tx.records.insert(names.map((one) => newRecord(domain.id, { name: one })));
    if (zone === true) await tx.zones.put(zoneOf(domain), null, { steps: 1, octets: 1 });
    await tx.plans.putBlob('plan', new Uint8Array(8), now);
    await tx.plans.publish(publication(name, { domain_id: domain.id, digest: 'plan', at: now }));
    return domain;
  });
}

function zoneOf({ id, name }: DomainRow) {
  const facts = { primary_name: 'ns1.test', settings: '', problems_json: '{"count":0,"first":[]}' };
  return { name, domain_id: id, serial: 1, content: new Uint8Array(0), records: 0, updated_at: T, ...facts };
}

/** Whether nodes, or name servers, would answer a challenge now. */
async function isAnswered(
  store: Store,
  { type, name, token, keyAuthorization, digest }: Parameters<ChallengeCheck>[0],
): Promise<string | null> {
  if (type === 'dns-01') {
    for (let zone = name; zone.includes('.'); zone = zone.slice(zone.indexOf('.') + 1)) {
      const found = await store.latest.zones.challenges(zone);
      if (found.some(({ owner, value }) => owner === `_acme-challenge.${name}` && value === digest))
        return null;
    }
    return 'no such TXT record';
  }
  for (let domain = name; domain.includes('.'); domain = domain.slice(domain.indexOf('.') + 1)) {
    const listed = (await store.latest.plans.current(domain))?.challenges ?? '[]';
    const found = JSON.parse(listed) as readonly { readonly token: string; readonly answer: string }[];
    if (found.some((one) => one.token === token && one.answer === keyAuthorization)) return null;
  }
  return 'no node answers the token';
}
