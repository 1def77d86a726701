/** Certificates that the server obtains by ACME: an authority with faults, a scripted clock, and the store in between. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openKey } from '../../src/control/certificates/key-ring.ts';
import { testDatabases } from '../support/databases.ts';
import { type IssuanceRig, openIssuance } from '../support/issuance-rig.ts';
import { newCertificate, newRecord, publication } from '../support/sample-rows.ts';
import { until } from '../support/until.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;

describe.each(testDatabases())('issuance on $kind', (database) => {
  let rig: IssuanceRig;
  let count = 0;
  beforeAll(async () => {
    rig = await openIssuance(database);
  });
  afterAll(() => rig?.close());
  afterEach(() => {
    rig.ca.clearFaults();
    rig.now += 2 * DAY;
  });

  const name = () => `d${++count}.example`;
  const rows = (id: number) => rig.store.latest.certificates.list(id);
  const namesOf = async (id: number) =>
    (await rows(id)).map((row) => [row.status, JSON.parse(row.names_json) as string[]]);

  test('a published domain gets a certificate by HTTP-01, nodes get the set, and nothing is left over', async () => {
    const domain = await rig.addDomain(name(), { names: ['@', 'www'] });
    await rig.pass();
    const [row] = await rig.store.latest.certificates.onFile(domain.id);
    expect(row).toMatchObject({ source: 'acme', status: 'active', error: '' });
    expect(JSON.parse(row!.names_json).sort()).toEqual([domain.name, `www.${domain.name}`]);
    const leaf = new X509Certificate(row!.chain!);
    const key = openKey(row!.sealed_key!, row!, rig.ring)!;
    expect(leaf.checkPrivateKey(createPrivateKey(key))).toBe(true);
    const life = row!.not_after - row!.not_before;
    expect(row!.renew_at! - row!.not_before).toBeLessThanOrEqual((life * 2) / 3);
    expect(row!.renew_at! - row!.not_before).toBeGreaterThan(life * 0.6);
    const entry = await rig.store.latest.plans.current(domain.name);
    expect(entry).toMatchObject({ challenges: null });
    expect(entry!.certificates).toMatch(/^[0-9a-f]{64}$/);
    const orders = rig.ca.records.orders.length;
    await rig.pass();
    expect(rig.ca.records.orders).toHaveLength(orders);
  });

  test('where the zone is ours, names below the domain have a wildcard, proved in the zone', async () => {
    const domain = await rig.addDomain(name(), { names: ['@', 'www', 'api', 'a.b'], zone: true });
    await rig.pass();
    const wanted = [domain.name, `*.${domain.name}`, `*.b.${domain.name}`];
    expect((await namesOf(domain.id)).map(([state, names]) => [state, [...names!].sort()])).toEqual([
      ['active', wanted.sort()],
    ]);
    expect(await rig.store.latest.zones.challenges(domain.name)).toEqual([]);
  });

  test('a managed domain that is published before its zone is made has a wildcard too', async () => {
    const domain = await rig.addDomain(name(), { names: ['@', 'www'], zone: 'later' });
    await rig.pass();
    expect(await namesOf(domain.id)).toEqual([['active', [domain.name, `*.${domain.name}`]]]);
  });

  test('a refused name waits on its own, and the others have their certificate at once', async () => {
    const bad = `bad${count}`;
    const domain = await rig.addDomain(name(), { names: ['@', 'a', 'b', bad, 'c'] });
    rig.ca.faults.refuse = (one) =>
      one.startsWith(bad) ? { at: 'validation', detail: 'connection refused' } : null;
    await rig.pass();
    const found = await rows(domain.id);
    expect(found.map(({ status }) => status)).toEqual(['active', 'failed']);
    expect(JSON.parse(found[0]!.names_json)).toHaveLength(4);
    expect(JSON.parse(found[1]!.names_json)).toEqual([`${bad}.${domain.name}`]);
    expect(found[1]!.error).toContain('connection refused');
    const [order] = (await rig.store.latest.issuance.list(domain.id)).filter(
      ({ certificate_id }) => certificate_id === found[1]!.id,
    );
    expect(order!.due_at - rig.now).toBeGreaterThanOrEqual(7 * MINUTE);
    rig.ca.clearFaults();
    rig.now = order!.due_at;
    await rig.pass();
    expect((await rows(domain.id)).map(({ status }) => status)).toEqual(['active', 'active']);
  });

  test('names that the authority refuses in the order itself are put aside too', async () => {
    const bad = `worse${count}`;
    const domain = await rig.addDomain(name(), { names: ['@', bad] });
    rig.ca.faults.refuse = (one) => (one.startsWith(bad) ? { at: 'order', detail: 'on a list' } : null);
    await rig.pass();
    expect(await namesOf(domain.id)).toEqual([
      ['active', [domain.name]],
      ['failed', [`${bad}.${domain.name}`]],
    ]);
  });

  test('failed validations of a name stay below five an hour for two days', async () => {
    const domain = await rig.addDomain(name());
    rig.ca.faults.refuse = (one) => (one === domain.name ? { at: 'validation', detail: 'no' } : null);
    for (const end = rig.now + 2 * DAY; rig.now < end; rig.now += 5 * MINUTE) await rig.pass();
    const times = rig.ca.records.failedValidations
      .filter((one) => one.name === domain.name)
      .map(({ at }) => at);
    expect(times.length).toBeGreaterThan(4);
    for (const at of times)
      expect(times.filter((other) => other >= at && other < at + 60 * MINUTE).length).toBeLessThan(5);
  });

  test('an authority that is away is asked again, and the certificates come when it is back', async () => {
    const domains = [await rig.addDomain(name()), await rig.addDomain(name())];
    rig.ca.faults.down = true;
    await rig.pass();
    for (const { id } of domains) expect((await rows(id)).map(({ status }) => status)).toEqual(['pending']);
    rig.ca.clearFaults();
    for (let passes = 0; passes < 20; passes += 1) {
      rig.now += MINUTE;
      await rig.pass();
    }
    for (const { id } of domains) expect((await rows(id)).map(({ status }) => status)).toEqual(['active']);
  });

  test('an answer that is lost after each request orders no certificate twice', async () => {
    for (const lost of ['finalize', 'certificate', 'order', 'challenge', 'newAccount'] as const) {
      const domain = await rig.addDomain(name());
      rig.ca.faults.loseAnswers = (endpoint) => endpoint === lost;
      await rig.pass();
      rig.ca.clearFaults();
      for (let passes = 0; passes < 10; passes += 1) {
        rig.now += MINUTE;
        await rig.pass();
      }
      expect((await rows(domain.id)).map(({ status }) => status)).toEqual(['active']);
      const issued = rig.ca.records.issued.filter(({ names }) => names.includes(domain.name));
      expect(issued, lost).toHaveLength(1);
    }
  });

  test('a rate limit is waited for as long as the authority says', async () => {
    const domain = await rig.addDomain(name());
    rig.ca.faults.rateLimit = { left: 1, retryAfter: 7_200 };
    await rig.pass();
    expect((await rows(domain.id))[0]).toMatchObject({ status: 'pending' });
    rig.now += 119 * MINUTE;
    await rig.pass();
    expect((await rows(domain.id))[0]).toMatchObject({ status: 'pending' });
    rig.now += 62 * MINUTE;
    await rig.pass();
    expect((await rows(domain.id))[0]).toMatchObject({ status: 'active', error: '' });
  });

  test('nonces that are rejected and answers of 500 delay and lose nothing', async () => {
    const domain = await rig.addDomain(name());
    rig.ca.faults.rejectNonces = 0.3;
    rig.ca.faults.serverError = 0.1;
    for (let passes = 0; passes < 30; passes += 1) {
      await rig.pass();
      rig.now += 30 * MINUTE;
    }
    expect((await rows(domain.id)).map(({ status }) => status)).toEqual(['active']);
    expect(rig.ca.records.issued.filter(({ names }) => names.includes(domain.name))).toHaveLength(1);
  });

  test('the certificate is renewed when planned, and not before, as one that replaces it', async () => {
    const domain = await rig.addDomain(name());
    await rig.pass();
    const [before] = await rows(domain.id);
    rig.now += DAY;
    await rig.pass();
    // The authority's window begins at two thirds of the life.
    const { not_before: start, not_after: end, sha256, renew_at: planned } = (await rows(domain.id))[0]!;
    expect(planned! - start).toBeGreaterThanOrEqual(((end - start) * 2) / 3);
    rig.now = planned! - MINUTE;
    await rig.pass();
    expect((await rows(domain.id))[0]!.sha256).toBe(sha256);
    rig.now = planned! + MINUTE;
    await rig.pass();
    const [after] = await rows(domain.id);
    expect(after).toMatchObject({ id: before!.id, status: 'active' });
    expect(after!.not_after).toBeGreaterThan(end);
    const issued = rig.ca.records.issued.filter(({ names }) => names.includes(domain.name));
    expect(issued.map(({ replaces }) => replaces)).toEqual([null, issued[0]!.certId]);
  });

  test('names of an uploaded certificate are ordered three days before it ends, and not before', async () => {
    const domain = await rig.addDomain(name(), { names: [] });
    await rig.store.write(async (tx) => {
      const names_json = JSON.stringify([domain.name]);
      const times = { not_before: rig.now, not_after: rig.now + 10 * DAY, created_at: rig.now };
      await tx.certificates.insert(newCertificate(domain.id, { names_json, sha256: 'uploaded', ...times }));
      await tx.records.insert([newRecord(domain.id)]);
      const made = { domain_id: domain.id, digest: 'plan', revision: 2, at: rig.now };
      await tx.plans.publish(publication(domain.name, made));
    });
    await rig.pass();
    expect((await rows(domain.id)).map(({ source }) => source)).toEqual(['custom']);
    rig.now += 7 * DAY + MINUTE;
    await rig.pass();
    expect((await rows(domain.id)).map(({ source, status }) => [source, status])).toEqual([
      ['custom', 'active'],
      ['acme', 'active'],
    ]);
  });

  test('an account that orders much leaves half of the allowance to the others', async () => {
    const own = await openIssuance(database);
    try {
      // 40 orders in three hours: 20 at once.
      const issuer = own.issuer({ orders: 40 });
      const first = await own.addDomain('many0.example');
      for (let at = 1; at < 30; at += 1) await own.addDomain(`many${at}.example`, { owner: first.user_id });
      await issuer.pass();
      const many = own.ca.records.issued.length;
      expect(many).toBeGreaterThan(5);
      // Of the 20, ten are for others; orders that begin together may pass before they are counted.
      expect(many).toBeLessThanOrEqual(15);
      const late = await own.addDomain('late.example');
      await issuer.pass();
      const [row] = await own.store.latest.certificates.list(late.id);
      expect(row).toMatchObject({ status: 'active' });
      for (let passes = 0; passes < 200; passes += 1) {
        own.now += 10 * MINUTE;
        await issuer.pass();
      }
      expect(own.ca.records.issued).toHaveLength(31);
    } finally {
      await own.close();
    }
  });

  test('a window that the authority moves to now renews at once (RFC 9773)', async () => {
    const domain = await rig.addDomain(name());
    await rig.pass();
    const [before] = await rows(domain.id);
    rig.ca.faults.renewalWindow = ({ names }) =>
      names.includes(domain.name) ? { start: rig.now - DAY, end: rig.now - MINUTE } : null;
    rig.now += DAY;
    await rig.pass();
    await rig.pass();
    const [after] = await rows(domain.id);
    expect(after!.sha256).not.toBe(before!.sha256);
  });
});

describe.each(testDatabases())('a slow order on $kind', (database) => {
  test('delays no domain that is added meanwhile', async () => {
    let release = (): void => undefined;
    const slow = new Promise<null>((resolve) => {
      release = () => resolve(null);
    });
    const rig = await openIssuance(database, {
      resolve: ({ name }) => (name === 'slow.example' ? slow : Promise.resolve(null)),
    });
    const issuer = rig.issuer();
    try {
      const statuses = async (id: number) =>
        (await rig.store.latest.certificates.list(id)).map(({ status }) => status);
      const first = await rig.addDomain('slow.example');
      issuer.start();
      await until(() => rig.ca.records.orders.length === 1, 'the slow order');
      const second = await rig.addDomain('quick.example');
      await until(async () => (await statuses(second.id)).includes('active'), 'the other certificate');
      expect(await statuses(first.id)).toEqual(['pending']);
    } finally {
      release();
      await issuer.stop();
      await rig.close();
    }
  });
});
