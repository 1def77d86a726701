/** Private keys of obtained certificates, of orders under way and of accounts at CAs: encrypted, rotated, and lost. */
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { boxKeyOctets } from '../../src/base/platform/cryptography.ts';
import { createIssuer, type Issuer } from '../../src/control/certificates/issuance/issuer.ts';
import { openAccountKey, openOrderKey } from '../../src/control/certificates/issuance/sealed-keys.ts';
import {
  type KeyRing,
  newKeyText,
  openKey,
  openKeyRing,
  sealedUnder,
} from '../../src/control/certificates/key-ring.ts';
import { BOX_KEY_HEADER } from '../../src/control/certificates/make-set.ts';
import {
  checkKeys,
  LOST_KEY,
  resealIssuance,
  resealKeys,
} from '../../src/control/certificates/stored-keys.ts';
import { createHostNames } from '../../src/control/dns/host-names.ts';
import { createNode } from '../../src/control/publishing/nodes.ts';
import { readPage } from '../../src/control/publishing/pages.ts';
import { openSigner } from '../../src/control/publishing/signer.ts';
import type { Store } from '../../src/control/store/store.ts';
import { startAuthority, type TestAuthority } from '../support/acme-authority.ts';
import { startApi, type TestApi } from '../support/api.ts';
import { addSubject, type Subject } from '../support/api-rules-subject.ts';
import { type TestDatabase, testDatabases } from '../support/databases.ts';
import { type IssuanceRig, openIssuance } from '../support/issuance-rig.ts';
import { keyTraces } from '../support/key-traces.ts';
import { publication } from '../support/sample-rows.ts';

const DAY = 86_400_000;
/** How every private key of P-256 begins in PEM (PKCS #8). */
const P256_PEM = 'MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0w';

/** Every private key of the store, PEM, decrypted. */
async function everyKey(
  store: Store,
  ring: KeyRing,
): Promise<Record<'issued' | 'orders' | 'accounts', string[]>> {
  const { certificates, issuance } = store.latest;
  const issued = (await certificates.withKeys(0, 100)).map((row) => openKey(row.sealed_key!, row, ring)!);
  const orders = (await issuance.withKeys(0, 100)).map(
    (row) => openOrderKey({ ...row, sealed_key: row.sealed_key! }, ring)!,
  );
  const accounts = (await issuance.accounts()).map((row) => openAccountKey(row, ring)!);
  return { issued, orders, accounts };
}

/** All that the database has: files with a backup, or rows as text; by where it is. */
async function everyOctet(
  { store, database: where }: Pick<TestApi, 'store' | 'database'>,
  { kind, folder }: { readonly kind: TestDatabase['kind']; readonly folder: string },
): Promise<ReadonlyMap<string, Buffer>> {
  if (kind === 'sqlite') {
    const copy = join(folder, `copy-${Math.random()}.db`);
    await store.backup(copy);
    const files = readdirSync(where, { recursive: true, encoding: 'utf8' }).map((name) => join(where, name));
    const whole = [copy, ...files].filter((file) => statSync(file).isFile());
    return new Map(whole.map((file) => [file, readFileSync(file)]));
  }
  const client = new pg.Client({ connectionString: where });
  await client.connect();
  const { rows } = await client.query(`select tablename from pg_tables where schemaname = 'public'`);
  const found = new Map<string, Buffer>();
  for (const { tablename } of rows) {
    const { rows: texts } = await client.query(`select t::text as row from "${tablename}" as t`);
    found.set(tablename, Buffer.from(texts.map(({ row }) => row).join('\n')));
  }
  await client.end();
  return found;
}

describe.each(testDatabases())('keys of issuance on $kind', (database) => {
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-issuance-'));
  const text = newKeyText();
  const ring = openKeyRing({ where: 'the test', read: () => text });
  const box = boxKeyOctets(generateKeyPairSync('x25519').publicKey).toString('base64');
  const answers: Buffer[] = [];
  let api: TestApi;
  let ca: TestAuthority;
  let subject: Subject;
  let issuer: Issuer;
  /** Keys that were in the store at any time. */
  const keys: string[] = [];

  const log = (fields: object, message: string) =>
    void api.log.push(JSON.stringify({ ...fields, message }, (_, value) => showError(value)));
  const showError = (value: unknown) => (value instanceof Error ? `${value.stack} ${value.cause}` : value);
  beforeAll(async () => {
    api = await startApi(database, { secretsKey: ring });
    ca = await startAuthority({ clock: api.now, lifeMs: 90 * DAY, resolve: async () => null });
    issuer = createIssuer({
      ...{ store: api.store, ring, directory: ca.directoryUrl, email: 'ops@example.com' },
      ...{ nameservers: null, orders: 300, clock: api.now, nodesMs: 0, log: { info: log, warn: log } },
      lookup: createHostNames().lookupFor('operator'),
    });
    subject = await addSubject(api);
  });
  afterAll(async () => {
    await ca?.stop();
    await api?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const addRecord = async (one: Subject) => {
    const record = { type: 'A', name: 'www', destination: '198.51.100.7', proxied: true };
    expect((await one.ask('POST', '/records/', record)).status).toBe(200);
    await api.store.write(async (tx) => {
      await tx.plans.putBlob('d', new Uint8Array(8), api.now());
      const { id: domain_id, name } = one.domain;
      await tx.plans.publish(publication(name, { domain_id, digest: 'd', at: api.now() }));
    });
  };
  const ask = async (one: Subject, path: string) => {
    const { text: said, headers, status } = await one.ask('GET', path);
    answers.push(Buffer.from(said), Buffer.from(JSON.stringify(headers)));
    expect(status, said).toBe(200);
  };
  const note = async () => {
    const found = await everyKey(api.store, ring);
    keys.push(...Object.values(found).flat());
    return found;
  };

  test('no answer, feed, log line, table or file has one in any form', async () => {
    await addRecord(subject);
    await issuer.pass();
    expect(await note()).toMatchObject({ issued: [expect.any(String)], accounts: [expect.any(String)] });
    // A renewal, whose key replaces the one before: after the window of the CA, which begins at two thirds of the life.
    api.ahead = 64 * DAY;
    await issuer.pass();
    expect((await note()).issued).toHaveLength(1);
    // An order under way, and one that was refused.
    const [open, refused] = [await addSubject(api), await addSubject(api)];
    await addRecord(open);
    await addRecord(refused);
    ca.faults.loseAnswers = (endpoint) => endpoint === 'finalize';
    ca.faults.refuse = (name) =>
      name.endsWith(refused.domain.name) ? { at: 'validation', detail: 'no' } : null;
    await issuer.pass();
    expect(await note()).toMatchObject({ orders: [expect.any(String)] });
    expect(new Set(keys).size).toBe(4);
    for (const one of [subject, open, refused])
      for (const path of ['', '/ssl/', '/audit/', '/records/']) await ask(one, path);
    answers.push(Buffer.from((await subject.owner.call('GET', '/notifications/')).text));
    const { token } = await api.store.write((tx) => createNode(tx, 'eu-1', api.now()));
    const headers = { authorization: `Bearer ${token}`, [BOX_KEY_HEADER]: box };
    for (const path of ['/nodes/manifest?since=0&wait=0', `/nodes/certificates/${subject.domain.name}`]) {
      const response = await fetch(`${api.url}${path}`, { headers });
      expect(response.status).toBe(200);
      answers.push(Buffer.from(await response.arrayBuffer()));
    }
    const signer = await openSigner(api.store, api.now);
    const page = await readPage(0, 'default', { store: api.store, signer, clock: api.now });
    answers.push(Buffer.from(JSON.stringify(page)));
    expect(api.log.join('')).toContain('a certificate was obtained');
    expect(api.log.join('')).toContain('the CA has refused names');

    const octets = await everyOctet(api, { kind: database.kind, folder });
    const said: [string, Buffer][] = answers.map((answer, index) => [`answer ${index}`, answer]);
    said.push(['log', Buffer.from(api.log.join('\n'))]);
    for (const [where, found] of said) expect(found.includes('PRIVATE KEY'), where).toBe(false);
    for (const [where, found] of [...octets, ...said]) {
      // The database has the key that pages for nodes are signed with, of another algorithm, as PEM.
      expect(found.includes(P256_PEM), where).toBe(false);
      for (const key of new Set(keys)) expect(keyTraces(key).in(found), where).toEqual([]);
    }
    expect(keys.every((key) => key.includes(P256_PEM))).toBe(true);
    // The chain is there, so the search would have found the key.
    const issued = ca.records.issued.filter(({ names }) => names[0]!.endsWith(subject.domain.name)).at(-1)!;
    const [, line] = issued.pem.split('\n');
    expect([...octets.values()].some((one) => one.includes(line!))).toBe(true);
  });
});

describe.each(testDatabases())('a secrets key on $kind', (database) => {
  let rig: IssuanceRig;
  afterAll(() => rig?.close());
  const statesOf = async (id: number) =>
    (await rig.store.latest.certificates.list(id)).map(({ status, error }) => ({ status, error }));

  test('is replaced for accounts and orders under way too, which then go on', async () => {
    rig = await openIssuance(database);
    const texts = [newKeyText()];
    const ring = openKeyRing({ where: 'the test', read: () => texts.join(' ') });
    const issuer = rig.issuer({ ring });
    const domains = [await rig.addDomain('one.example'), await rig.addDomain('two.example')];
    await issuer.pass();
    const open = await rig.addDomain('three.example');
    rig.ca.faults.loseAnswers = (endpoint) => endpoint === 'finalize';
    await issuer.pass();
    rig.ca.clearFaults();
    const before = await everyKey(rig.store, ring);
    expect([before.issued.length, before.orders.length, before.accounts.length]).toEqual([2, 1, 1]);

    texts.unshift(newKeyText());
    expect(await resealKeys(rig.store, ring)).toEqual({ resealed: 2, lost: 0 });
    expect(await resealIssuance(rig.store, ring)).toEqual({ resealed: 2, lost: 0 });
    expect(await resealIssuance(rig.store, ring)).toEqual({ resealed: 0, lost: 0 });
    texts.pop();
    const { issuance, certificates } = rig.store.latest;
    const rows = [
      ...(await certificates.withKeys(0, 9)),
      ...(await issuance.withKeys(0, 9)),
      ...(await issuance.accounts()),
    ];
    expect(rows.map(({ sealed_key }) => sealedUnder(sealed_key!))).toEqual(rows.map(() => ring.current().id));
    expect(await everyKey(rig.store, ring)).toEqual(before);

    // A process that has read the new key alone.
    rig.now += 10 * 60_000;
    await rig.issuer({ ring }).pass();
    for (const { id } of [...domains, open])
      expect(await statesOf(id)).toEqual([{ status: 'active', error: '' }]);
    expect(rig.ca.records.accounts).toHaveLength(1);
    expect(rig.ca.records.orders).toHaveLength(3);
  });

  test('that is lost costs obtained certificates, orders and the account, and all are made anew', async () => {
    const texts = [newKeyText()];
    const ring = openKeyRing({ where: 'elsewhere', read: () => texts.join(' ') });
    const names = ['one.example', 'two.example', 'three.example'];
    const domains = await Promise.all(
      names.map(async (name) => (await rig.store.latest.plans.current(name))!),
    );
    expect(await resealIssuance(rig.store, ring)).toEqual({ resealed: 0, lost: 1 });
    const open = await rig.addDomain('four.example');
    rig.now += DAY;
    expect(await checkKeys(rig.store, ring, rig.now)).toEqual({ lost: 3, domains: 3, recovered: 0 });
    for (const { domain_id } of domains)
      expect(await statesOf(domain_id)).toEqual([{ status: 'failed', error: LOST_KEY.acme }]);
    await rig.issuer({ ring }).pass();
    for (const id of [...domains.map(({ domain_id }) => domain_id), open.id])
      expect(await statesOf(id)).toEqual([{ status: 'active', error: '' }]);
    expect(rig.ca.records.accounts).toHaveLength(2);
    expect(await checkKeys(rig.store, ring, rig.now)).toEqual({ lost: 0, domains: 0, recovered: 0 });
    const { issued, accounts } = await everyKey(rig.store, ring);
    expect([issued.length, accounts.length]).toEqual([4, 1]);
    // Nothing is due any more: one certificate for each name.
    const orders = rig.ca.records.orders.length;
    await rig.issuer({ ring }).pass();
    expect(rig.ca.records.orders).toHaveLength(orders);
  });

  test('that is lost with an order under way begins that order again', async () => {
    const texts = [newKeyText()];
    const ring = openKeyRing({ where: 'a third place', read: () => texts.join(' ') });
    const open = await rig.addDomain('five.example');
    rig.ca.faults.loseAnswers = (endpoint) => endpoint === 'finalize';
    await rig.issuer({ ring }).pass();
    rig.ca.clearFaults();
    expect((await rig.store.latest.issuance.withKeys(0, 9)).map(({ domain_id }) => domain_id)).toContain(
      open.id,
    );
    texts[0] = newKeyText();
    rig.now += DAY;
    await rig.issuer({ ring }).pass();
    expect(await statesOf(open.id)).toEqual([{ status: 'active', error: '' }]);
  });
});
