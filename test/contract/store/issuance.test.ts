/** Orders of certificates and accounts at CAs, on both databases. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { OrderClaiming } from '../../../src/control/store/repositories/issuance.ts';
import type { Store } from '../../../src/control/store/store.ts';
import type { ClaimedOrder } from '../../../src/control/store/tables/certificates.ts';
import type { DomainRow } from '../../../src/control/store/tables/domains.ts';
import { activeDomain, newCertificate, T } from '../../support/sample-rows.ts';
import { kinds, type Place } from './databases.ts';

const MINUTE = 60_000;
const DIRECTORY = 'https://ca.example/directory';

describe.each(kinds)('$name', (kind) => {
  let place: Place;
  let store: Store;
  /** Another process: on PostgreSQL a store of its own. */
  let second: Store;
  let count = 0;

  beforeAll(async () => {
    place = await kind.place();
    store = await place.open();
    second = kind.name === 'postgres' ? await place.open() : store;
  });
  afterAll(async () => {
    if (second !== store) await second?.close();
    await store?.close();
    await place?.dispose();
  });
  // Orders of earlier tests are not due.
  beforeEach(async () => {
    for (const { certificate_id } of await claim({
      limit: 1_000,
      perAccount: 1_000,
      now: T + 1_000 * MINUTE,
    }))
      await store.write((tx) => tx.issuance.drop(certificate_id));
  });

  const octets = (text: string) => new Uint8Array(Buffer.from(text));
  const read = (one: Uint8Array | null | undefined) => (one == null ? null : Buffer.from(one).toString());
  const addAccount = () =>
    store.write((tx) =>
      tx.accounts.insert({ name: `a${++count}`, active: true, created_at: T, updated_at: T }),
    );
  const addDomain = (owner: number, changes: Parameters<typeof activeDomain>[2] = {}) =>
    store.write((tx) => tx.domains.insert(activeDomain(`d${++count}.example`, owner, changes)));
  const domainOf = async (changes: Parameters<typeof activeDomain>[2] = {}) =>
    addDomain((await addAccount()).id, changes);
  /** Adds an obtained certificate with an order; out: its id. */
  const order = ({ id, name }: DomainRow, due_at = T, chain: string | null = null) =>
    store.write(async (tx) => {
      count += 1;
      const names_json = JSON.stringify([`n${count}.${name}`]);
      const facts = { source: 'acme', names_json, sha256: chain === null ? '' : `s${count}`, chain } as const;
      const status = chain === null ? 'pending' : 'active';
      const row = await tx.certificates.insert(newCertificate(id, { ...facts, status }));
      await tx.issuance.insert({
        ...{ certificate_id: row.id, domain_id: id, names_json },
        ...{ due_at, failures: 0 },
      });
      return row.id;
    });
  const claim = (changes: Partial<OrderClaiming> = {}, through = store): Promise<readonly ClaimedOrder[]> => {
    const now = changes.now ?? T;
    const usual = { now, until: now + MINUTE, claim: ++count, limit: 16, perAccount: 8 };
    return through.write((tx) => tx.issuance.claim({ ...usual, ...changes }));
  };
  const ids = (claimed: readonly { readonly certificate_id: number }[]) =>
    claimed.map(({ certificate_id }) => certificate_id).sort((one, other) => one - other);
  const rowOf = async (domain: DomainRow, id: number) =>
    (await store.latest.issuance.list(domain.id)).find(({ certificate_id }) => certificate_id === id);

  test('an order is claimed once it is due, with all that is stored of it', async () => {
    const domain = await domainOf();
    const id = await order(domain, T + MINUTE);
    expect(await claim()).toEqual([]);
    const [claimed, ...rest] = await claim({ now: T + MINUTE });
    expect(rest).toEqual([]);
    const { claim: _claim, ...row } = claimed!;
    expect(row).toMatchObject({
      ...{ certificate_id: id, domain_id: domain.id, due_at: T + MINUTE, failures: 0 },
      ...{ url: null, sealed_key: null, window_asked_at: 0 },
    });
    expect(await rowOf(domain, id)).toEqual(row);
    expect(await claim({ now: T + MINUTE })).toEqual([]);
  });

  test('a claim lapses at its end, and later where it is renewed', async () => {
    const id = await order(await domainOf());
    const [first] = await claim();
    expect(await claim({ now: T + MINUTE - 1 })).toEqual([]);
    await store.write((tx) => tx.issuance.renew([first!], T + 2 * MINUTE));
    expect(await claim({ now: T + MINUTE })).toEqual([]);
    expect(ids(await claim({ now: T + 2 * MINUTE }))).toEqual([id]);
    // The claim has passed on: it is not renewed any more.
    await store.write((tx) => tx.issuance.renew([first!], T + 9 * MINUTE));
    expect(ids(await claim({ now: T + 3 * MINUTE }))).toEqual([id]);
  });

  test('a claim of a clock that was ahead is void', async () => {
    const id = await order(await domainOf());
    const day = 1_440 * MINUTE;
    expect(ids(await claim({ now: T + day }))).toEqual([id]);
    expect(ids(await claim())).toEqual([id]);
    expect(await claim()).toEqual([]);
  });

  test('begin and end store nothing for a claim that has passed on', async () => {
    const domain = await domainOf();
    const id = await order(domain);
    const [first] = await claim();
    const [later] = await claim({ now: T + MINUTE });
    const before = await rowOf(domain, id);
    const begin = (by: ClaimedOrder, url: string) =>
      store.write((tx) => tx.issuance.begin(by, { url, sealed_key: octets('key') }));
    const end = (by: ClaimedOrder, continues: boolean) => {
      const next = { names_json: '["x"]', due_at: T + 5 * MINUTE, failures: 3, continues };
      return store.write((tx) => tx.issuance.end(by, next));
    };
    expect(await begin(first!, 'first')).toBe(false);
    expect(await end(first!, false)).toBe(false);
    expect(await rowOf(domain, id)).toEqual(before);
    expect(await begin(later!, 'later')).toBe(true);
    expect(await rowOf(domain, id)).toMatchObject({ url: 'later' });
    expect(read((await rowOf(domain, id))!.sealed_key)).toBe('key');
    expect(await end(later!, true)).toBe(true);
    const ended = { url: 'later', names_json: '["x"]', due_at: T + 5 * MINUTE, failures: 3 };
    expect(await rowOf(domain, id)).toMatchObject(ended);
    // The claim has ended with it.
    expect(await end(later!, true)).toBe(false);
  });

  test('an order that does not continue has neither address nor key, and its window is asked for anew', async () => {
    const domain = await domainOf();
    const id = await order(domain);
    const [claimed] = await claim();
    await store.write(async (tx) => {
      await tx.issuance.begin(claimed!, { url: 'u', sealed_key: octets('key') });
      await tx.issuance.setWindow({ certificate_id: id, planned: T, due_at: T, window_asked_at: T });
      const next = { names_json: '["x"]', due_at: T + MINUTE, failures: 0, continues: false };
      await tx.issuance.end(claimed!, next);
    });
    expect(await rowOf(domain, id)).toMatchObject({ url: null, sealed_key: null, window_asked_at: 0 });
    expect(ids(await claim({ now: T + MINUTE }))).toEqual([id]);
  });

  test('hasten makes an order due earlier and never later', async () => {
    const domain = await domainOf();
    const id = await order(domain, T + 9 * MINUTE);
    const dueAfter = async (due: number) => {
      await store.write((tx) => tx.issuance.hasten(id, due));
      return (await rowOf(domain, id))!.due_at;
    };
    expect(await dueAfter(T + 10 * MINUTE)).toBe(T + 9 * MINUTE);
    expect(await dueAfter(T)).toBe(T);
  });

  test('windows are those of active certificates without failures, the longest unasked first', async () => {
    const domain = await domainOf();
    const [one, other] = [await order(domain, T, 'ONE'), await order(domain, T + MINUTE, 'OTHER')];
    await order(domain);
    const failing = await order(domain, T, 'FAILING');
    const claimed = await claim({ perAccount: 100, limit: 100 });
    await store.write((tx) => {
      const failed = claimed.find(({ certificate_id }) => certificate_id === failing)!;
      const next = { names_json: '["x"]', due_at: T + MINUTE, failures: 1, continues: true };
      return tx.issuance.end(failed, next);
    });
    const asked = async (before: number) =>
      (await store.latest.issuance.windows({ before, limit: 10 })).map((found) => [
        found.certificate_id,
        found.chain,
        found.due_at,
      ]);
    expect(await asked(T)).toEqual([
      [one, 'ONE', T],
      [other, 'OTHER', T + MINUTE],
    ]);
    const set = (certificate_id: number, planned: number, window_asked_at: number) =>
      store.write((tx) => tx.issuance.setWindow({ certificate_id, planned, due_at: T + 5, window_asked_at }));
    expect(await set(one, T, T + 2)).toBe(true);
    expect(await set(other, T + MINUTE, T + 1)).toBe(true);
    expect(await set(failing, T + MINUTE, T)).toBe(false);
    // An answer about a certificate that was renewed meanwhile.
    expect(await set(one, T, T + 9)).toBe(false);
    expect(await asked(T)).toEqual([]);
    expect(await asked(T + 2)).toEqual([[other, 'OTHER', T + 5]]);
    expect(await asked(T + 3)).toEqual([
      [other, 'OTHER', T + 5],
      [one, 'ONE', T + 5],
    ]);
    expect((await rowOf(domain, failing))!.due_at).toBe(T + MINUTE);
  });

  test('one account with many due orders takes no place of another', async () => {
    const many = await addAccount();
    for (let domains = 0; domains < 2; domains += 1) {
      const domain = await addDomain(many.id);
      for (let orders = 0; orders < 25; orders += 1) await order(domain, T - MINUTE);
    }
    const few = await domainOf();
    const id = await order(few);
    const claimed = await claim({ limit: 2, perAccount: 1 });
    expect(ids(claimed)).toContain(id);
    expect(claimed).toHaveLength(2);
    // The first place of each account comes before the second of any.
    await order(few);
    const next = await claim({ now: T + MINUTE, limit: 4, perAccount: 8 });
    expect(next.filter(({ domain_id }) => domain_id === few.id)).toHaveLength(2);
  });

  test('an account has no more orders under way than its places, in all processes together', async () => {
    const account = await addAccount();
    const domain = await addDomain(account.id);
    for (let orders = 0; orders < 8; orders += 1) await order(domain);
    const under = [
      await claim({ perAccount: 3 }),
      await claim({ perAccount: 3 }, second),
      await claim({ perAccount: 5 }, second),
      await claim({ perAccount: 5 }),
    ];
    expect(under.map(({ length }) => length)).toEqual([3, 0, 2, 0]);
    expect(new Set(ids(under.flat())).size).toBe(5);
  });

  test('orders of pending and suspended domains are not claimed, and are when that ends', async () => {
    const suspended = await domainOf({ suspended: true });
    const pending = await domainOf({ status: 'pending' });
    const due = [await order(suspended), await order(pending)];
    expect(await claim()).toEqual([]);
    await store.write(async (tx) => {
      await tx.domains.update(suspended.id, { suspended: false, updated_at: T });
      await tx.domains.update(pending.id, { status: 'active', updated_at: T });
    });
    expect(ids(await claim())).toEqual(due);
  });

  test('orders end with their certificate and with their domain', async () => {
    const domain = await domainOf();
    const [one, other] = [await order(domain), await order(domain)];
    await store.write((tx) => tx.certificates.remove(domain.id, one));
    expect(ids(await store.latest.issuance.list(domain.id))).toEqual([other]);
    await store.write((tx) => tx.domains.remove(domain.id));
    expect(await store.latest.issuance.list(domain.id)).toEqual([]);
    expect(await claim()).toEqual([]);
  });

  test('claims of two processes at once have no order in common', async () => {
    for (let domains = 0; domains < 20; domains += 1) await order(await domainOf());
    const rounds = Array.from({ length: 8 }, (_, index) =>
      claim({ limit: 5 }, index % 2 === 0 ? store : second),
    );
    const claimed = ids((await Promise.all(rounds)).flat());
    expect(new Set(claimed).size).toBe(claimed.length);
    const rest = ids(await claim({ limit: 100 }));
    expect(new Set([...claimed, ...rest]).size).toBe(20);
  });

  test('what is due is counted, with the earliest', async () => {
    expect(await store.latest.issuance.due(T)).toEqual({ orders: 0, since: null });
    const domain = await domainOf();
    await order(domain, T - 2 * MINUTE);
    await order(domain, T);
    await order(domain, T + 1);
    expect(await store.latest.issuance.due(T)).toEqual({ orders: 2, since: T - 2 * MINUTE });
  });

  test('keys of orders are listed in parts, and replaced only where they are those that were read', async () => {
    const domain = await domainOf();
    for (let orders = 0; orders < 3; orders += 1) await order(domain);
    const claimed = await claim();
    for (const one of claimed.slice(0, 2))
      await store.write((tx) => tx.issuance.begin(one, { url: 'u', sealed_key: octets('k') }));
    const [first, next] = ids(claimed.slice(0, 2));
    expect(ids(await store.latest.issuance.withKeys(first! - 1, 1))).toEqual([first]);
    expect(ids(await store.latest.issuance.withKeys(first!, 9))).toEqual([next]);
    const reseal = (before: string, after: string) =>
      store.write((tx) => tx.issuance.reseal(first!, { before: octets(before), after: octets(after) }));
    expect(await reseal('other', 'n')).toBe(false);
    expect(await reseal('k', 'n')).toBe(true);
    expect(read((await rowOf(domain, first!))!.sealed_key)).toBe('n');
  });

  describe('an account', () => {
    let directory: string;
    beforeEach(async () => {
      directory = `${DIRECTORY}/${++count}`;
      const account = { directory, url: 'u1', sealed_key: octets('k1'), created_at: T };
      await store.write((tx) => tx.issuance.putAccount(account));
    });
    const spend = (now: number, burst = 3, through = store) =>
      through.write((tx) =>
        tx.issuance.spend(directory, {
          now,
          everyMs: MINUTE,
          burst,
          reserved: 0,
          longestPauseMs: 10 * MINUTE,
        }),
      );
    const account = () => store.latest.issuance.account(directory);

    test('is replaced by directory, and its key only where it is the one that was read', async () => {
      const next = { directory, url: 'u2', sealed_key: octets('k2'), created_at: T + 1 };
      await store.write((tx) => tx.issuance.putAccount(next));
      expect(await account()).toMatchObject({ url: 'u2', created_at: T + 1 });
      const reseal = (before: string) =>
        store.write((tx) =>
          tx.issuance.resealAccount(directory, { before: octets(before), after: octets('k3') }),
        );
      expect(await reseal('k1')).toBe(false);
      expect(await reseal('k2')).toBe(true);
      expect(read((await account())!.sealed_key)).toBe('k3');
      expect(await store.latest.issuance.account('https://other.example')).toBeNull();
      expect((await store.latest.issuance.accounts()).some((one) => one.directory === directory)).toBe(true);
    });

    test('a caller that reserves orders takes none of these, and others do', async () => {
      const [now, reserving] = [T, { now: T, everyMs: MINUTE, burst: 3, longestPauseMs: 10 * MINUTE }];
      const take = (reserved: number) =>
        store.write((tx) => tx.issuance.spend(directory, { ...reserving, reserved }));
      expect([await take(2), await take(2), await take(0), await take(0), await take(0)]).toEqual([
        null,
        now + MINUTE,
        null,
        null,
        now + MINUTE,
      ]);
    });

    test('has its burst at once, then one order in each interval', async () => {
      expect([await spend(T), await spend(T), await spend(T), await spend(T)]).toEqual([
        null,
        null,
        null,
        T + MINUTE,
      ]);
      expect([await spend(T + MINUTE), await spend(T + MINUTE)]).toEqual([null, T + 2 * MINUTE]);
      const later = T + 60 * MINUTE;
      expect([await spend(later), await spend(later), await spend(later), await spend(later)]).toEqual([
        null,
        null,
        null,
        later + MINUTE,
      ]);
    });

    test('has one allowance in two processes at once', async () => {
      const all = await Promise.all(
        Array.from({ length: 10 }, (_, index) => spend(T, 4, index % 2 === 0 ? store : second)),
      );
      expect(all.filter((until) => until === null)).toHaveLength(4);
    });

    test('has no order during a pause', async () => {
      await store.write((tx) => tx.issuance.pause(directory, T + 5 * MINUTE));
      expect(await spend(T)).toBe(T + 5 * MINUTE);
      expect(await spend(T + 5 * MINUTE)).toBeNull();
      // Longer than a pause can be: a clock that was ahead has stored it.
      await store.write((tx) => tx.issuance.pause(directory, T + 20 * MINUTE));
      expect(await spend(T + 6 * MINUTE)).toBeNull();
    });

    test('whose orders a clock that was ahead has counted waits for one interval', async () => {
      const year = 365 * 1_440 * MINUTE;
      expect(await spend(T + year)).toBeNull();
      expect(await spend(T)).toBe(T + MINUTE);
      expect(await spend(T + MINUTE)).toBeNull();
      expect(await spend(T + MINUTE)).toBe(T + 2 * MINUTE);
    });
  });
});
