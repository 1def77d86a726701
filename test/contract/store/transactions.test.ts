/** What a transaction promises, on both databases. */
import { beforeEach, describe, expect, test } from 'vitest';
import { isStoreFault, type StoreFaultCode } from '../../../src/base/storage/fault.ts';
import type { StoreChange } from '../../../src/control/store/database/statement.ts';
import type { Store, WriteTransaction } from '../../../src/control/store/store.ts';
import type { KeyRow } from '../../../src/control/store/tables/accounts.ts';
import type { DomainRow } from '../../../src/control/store/tables/domains.ts';
import { auditEntry, newDomain, newRecord, newRule, outboxRow, seed, T } from '../../support/sample-rows.ts';
import { kinds, openForEach, type Place } from './databases.ts';

/** A promise and the function that settles it. */
function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

const fault = (code: StoreFaultCode, subject?: string) => (error: unknown) =>
  isStoreFault(error, code, subject);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe.each(kinds)('$name', (kind) => {
  let place: Place;
  let store: Store;
  let domain: DomainRow;
  let ownerId: number;

  openForEach(kind, (opened) => {
    ({ place, store } = opened);
  });
  beforeEach(async () => {
    const made = await store.write((tx) => seed(tx));
    domain = made.domain;
    ownerId = made.account.id;
  });

  const newKey = (hash: string) => ({
    account_id: ownerId,
    hash,
    name: 'k',
    read_only: false,
    created_at: T,
    expires_at: null,
  });
  const addRule = (tx: WriteTransaction) => tx.rules.insert(newRule(domain.id));

  test('a read after `version` is never older than that version', async () => {
    const { id } = await store.write((tx) => tx.keys.insert(newKey('looked')));
    const before = store.version();
    expect(await store.looked.keys.byHash('looked')).toMatchObject({ id, revoked_at: null });
    expect(store.version()).toBe(before);
    await store.write((tx) => tx.keys.revoke(id, T));
    const after = store.version();
    if (before !== null) expect(after).not.toBe(before);
    expect(await store.looked.keys.byHash('looked')).toMatchObject({ id, revoked_at: T });
    await store.close();
    expect(store.version()).toBe(null);
    await expect(store.looked.keys.byHash('looked')).rejects.toSatisfy(fault('closed'));
  });

  test('a write is committed as a whole or not at all', async () => {
    const failed = store.write(async (tx) => {
      await addRule(tx);
      await tx.audit.append(auditEntry(domain));
      await tx.outbox.append(outboxRow(domain));
      expect(await tx.rules.list(domain.id, 'drop')).toHaveLength(1);
      throw new Error('changed my mind');
    });
    await expect(failed).rejects.toThrow('changed my mind');
    expect(await store.latest.rules.listAll(domain.id)).toEqual([]);
    expect(await store.latest.audit.list(domain.id, { limit: 9 })).toEqual([]);
    expect(await store.latest.outbox.list(domain.id)).toEqual([]);
  });

  test('a discarded write returns its result, and commits and announces nothing', async () => {
    const changes: StoreChange[] = [];
    const stop = store.listen((change) => changes.push(change));
    const count = await store.write(
      async (tx) => {
        await addRule(tx);
        await tx.outbox.append(outboxRow(domain));
        return tx.rules.count(domain.id, 'drop');
      },
      { discard: true },
    );
    expect(count).toBe(1);
    expect(await store.latest.rules.count(domain.id, 'drop')).toBe(0);
    stop();
    expect(changes.filter((change) => change !== 'unknown')).toEqual([]);
  });

  test('a conflict names the column that has the value already', async () => {
    const again = store.write((tx) => tx.domains.insert(newDomain(domain.name, ownerId)));
    await expect(again).rejects.toSatisfy(fault('conflict', 'domains.name'));
    await store.write((tx) => tx.keys.insert(newKey('h')));
    const key = store.write((tx) => tx.keys.insert(newKey('h')));
    await expect(key).rejects.toSatisfy(fault('conflict', 'api_keys.hash'));
    await expect(key).rejects.toHaveProperty('cause');
    const account = store.write((tx) =>
      tx.accounts.insert({ name: `owner of ${domain.name}`, active: true, created_at: T, updated_at: T }),
    );
    await expect(account).rejects.toSatisfy(fault('conflict', 'accounts.name'));
    const node = { name: 'n', token_hash: 't', created_at: T };
    await store.write((tx) => tx.nodes.insert(node));
    const other = store.write((tx) => tx.nodes.insert({ ...node, token_hash: 'u' }));
    await expect(other).rejects.toSatisfy(fault('conflict', 'nodes.name'));
  });

  test('a reference to a row that does not exist is the fault `missing`', async () => {
    const key = store.write((tx) => tx.keys.insert({ ...newKey('h'), account_id: 9_999 }));
    await expect(key).rejects.toSatisfy(fault('missing'));
    const rule = store.write((tx) => tx.rules.insert(newRule(9_999)));
    await expect(rule).rejects.toSatisfy(fault('missing'));
  });

  test('a failed statement fails the write, caught or not', async () => {
    const write = store.write(async (tx) => {
      await addRule(tx);
      await tx.domains.insert(newDomain(domain.name, ownerId)).catch(() => undefined);
      return 'fine';
    });
    await expect(write).rejects.toSatisfy(fault('conflict'));
    expect(await store.latest.rules.count(domain.id, 'drop')).toBe(0);
  });

  test('a statement that `work` did not await is part of the write', async () => {
    await store.write(async (tx) => {
      void addRule(tx);
    });
    expect(await store.latest.rules.count(domain.id, 'drop')).toBe(1);
    const failing = store.write(async (tx) => {
      tx.domains.insert(newDomain(domain.name, ownerId)).catch(() => undefined);
    });
    await expect(failing).rejects.toSatisfy(fault('conflict'));
  });

  test('an attempt is undone alone', async () => {
    const errors: unknown[] = [];
    await store.write(async (tx) => {
      for (const name of ['a.example', domain.name, 'b.example', '']) {
        try {
          await tx.attempt(async () => {
            await tx.domains.insert(newDomain(`with ${name}`, ownerId));
            await tx.domains.insert(newDomain(name, ownerId));
            if (name === '') throw new Error('no name');
          });
        } catch (error) {
          errors.push(error);
        }
      }
      await tx.attempt(() => addRule(tx));
    });
    const names = (await store.latest.domains.page(0, 99)).map((row) => row.name);
    expect(names).toEqual([domain.name, 'with a.example', 'a.example', 'with b.example', 'b.example']);
    expect(errors).toHaveLength(2);
    expect(errors[0]).toSatisfy(fault('conflict'));
    expect(await store.latest.rules.count(domain.id, 'drop')).toBe(1);
  });

  test('a transaction that has ended refuses every call', async () => {
    let left: WriteTransaction | null = null;
    await store.write(async (tx) => {
      left = tx;
    });
    await expect(left!.rules.insert(newRule(domain.id))).rejects.toSatisfy(fault('closed'));
    const read = await store.read(async (tx) => tx);
    await expect(read.rules.listAll(domain.id)).rejects.toSatisfy(fault('closed'));
  });

  test('a read sees one snapshot, `latest` sees the newest commit', async () => {
    await store.read(async (tx) => {
      expect(await tx.rules.count(domain.id, 'drop')).toBe(0);
      await store.write(addRule);
      expect(await tx.rules.count(domain.id, 'drop')).toBe(0);
      expect(await store.latest.rules.count(domain.id, 'drop')).toBe(1);
      expect(await store.read((other) => other.rules.count(domain.id, 'drop'))).toBe(1);
    });
  });

  test('many reads at once, some of which fail', async () => {
    const reads = Array.from({ length: 40 }, (_, index) =>
      store.read(async (tx) => {
        await pause(5);
        if (index % 7 === 0) throw new Error('no');
        return tx.domains.get(domain.id);
      }),
    );
    const settled = await Promise.allSettled(reads);
    expect(settled.filter((one) => one.status === 'fulfilled' && one.value?.id === domain.id)).toHaveLength(
      34,
    );
  });

  test('writes to one domain run one after the other', async () => {
    const increments = Array.from({ length: 60 }, () =>
      store.write(async (tx) => {
        const now = await tx.domains.get(domain.id);
        await tx.domains.update(domain.id, { cache_l2_max_gb: now!.cache_l2_max_gb + 1 });
      }),
    );
    // The same without reading the domain first: counting rules is what `max_rules_per_set` does.
    const limited = Array.from({ length: 30 }, () =>
      store.write(async (tx) => {
        if ((await tx.rules.count(domain.id, 'drop')) < 10) await addRule(tx);
      }),
    );
    await Promise.all([...increments, ...limited]);
    expect((await store.latest.domains.get(domain.id))?.cache_l2_max_gb).toBe(61);
    expect(await store.latest.rules.count(domain.id, 'drop')).toBe(10);
  });

  test('two writes that lock two domains in opposite order both commit', async () => {
    const other = await store.write((tx) => tx.domains.insert(newDomain('other.example', ownerId)));
    const both = (first: number, second: number) =>
      store.write(async (tx) => {
        await tx.rules.insert(newRule(first));
        await pause(20);
        await tx.rules.insert(newRule(second));
      });
    await Promise.all([both(domain.id, other.id), both(other.id, domain.id)]);
    expect(await store.latest.rules.count(domain.id, 'drop')).toBe(2);
    expect(await store.latest.rules.count(other.id, 'drop')).toBe(2);
  });

  test('a revocation waits for writes that have the key locked', async () => {
    const key: KeyRow = await store.write((tx) => tx.keys.insert(newKey('held')));
    const order: string[] = [];
    const { open, opened } = gate();
    const reading = gate();
    const write = store
      .write(async (tx) => {
        expect(await tx.keys.byHash('held')).toMatchObject({ revoked_at: null, account_active: true });
        reading.open();
        await opened;
        await addRule(tx);
      })
      .then(() => order.push('write'));
    await reading.opened;
    const revoke = store.write((tx) => tx.keys.revoke(key.id, T)).then(() => order.push('revoke'));
    await pause(50);
    expect(order).toEqual([]);
    open();
    await Promise.all([write, revoke]);
    expect(order).toEqual(['write', 'revoke']);
    expect((await store.latest.keys.byHash('held'))?.revoked_at).toBe(T);
  });

  test('counting a request does not wait for a write that has its key locked', async () => {
    if (kind.name === 'sqlite') return expect(kind.name).toBe('sqlite'); // one writer: nothing to hold apart
    const key = await store.write((tx) => tx.keys.insert(newKey('held')));
    const { open, opened } = gate();
    const reading = gate();
    const write = store.write(async (tx) => {
      await tx.keys.byHash('held');
      reading.open();
      await opened;
    });
    await reading.opened;
    await store.write((tx) => tx.keys.recordUse([{ key_id: key.id, day: 1, requests: 1, last_used_at: T }]));
    open();
    await write;
    expect((await store.latest.keys.get(key.id))?.last_used_at).toBe(T);
  });

  test('simultaneous inserts never exceed ten keys', async () => {
    const create = (hash: string) =>
      store.write(async (tx) => {
        if ((await tx.keys.countActive(ownerId, T)) >= 10) throw new Error('ten already');
        await tx.keys.insert(newKey(hash));
      });
    await Promise.allSettled(Array.from({ length: 25 }, (_, index) => create(`h${index}`)));
    expect(await store.latest.keys.countActive(ownerId, T)).toBe(10);
  });

  test('of many simultaneous registrations of a name exactly one succeeds', async () => {
    const tries = Array.from({ length: 20 }, () =>
      store.write((tx) => tx.domains.insert(newDomain('wanted.example', ownerId))),
    );
    const settled = await Promise.allSettled(tries);
    expect(settled.filter((one) => one.status === 'fulfilled')).toHaveLength(1);
    for (const one of settled) {
      if (one.status === 'rejected') expect(one.reason).toSatisfy(fault('conflict', 'domains.name'));
    }
  });

  test('a commit notifies listeners, once for each kind of change in the write', async () => {
    const changes: StoreChange[] = [];
    const stop = store.listen((change) => changes.push(change));
    await store.write(async (tx) => {
      await tx.outbox.append(outboxRow(domain));
      await tx.outbox.append(outboxRow(domain));
      await tx.keys.insert(newKey('told'));
    });
    await store.write((tx) => tx.plans.purge(domain.name, { domain_id: domain.id, at: T }));
    await store.write(addRule);
    expect(changes.filter((change) => change !== 'unknown')).toEqual(['outbox', 'keys', 'manifest']);
    stop();
    await store.write((tx) => tx.outbox.append(outboxRow(domain)));
    expect(changes.filter((change) => change === 'outbox')).toHaveLength(1);
  });

  test('what is written is there after closing', async () => {
    await store.write(addRule);
    await store.write((tx) => tx.records.insert([newRecord(domain.id)]));
    const before = await store.read(async (tx) => [
      await tx.domains.get(domain.id),
      await tx.rules.listAll(domain.id),
      await tx.records.list(domain.id),
    ]);
    await store.close();
    await expect(store.latest.domains.get(domain.id)).rejects.toSatisfy(fault('closed'));
    await expect(store.write(addRule)).rejects.toSatisfy(fault('closed'));
    await expect(store.read(async () => 1)).rejects.toSatisfy(fault('closed'));
    await store.close();
    store = await place.open();
    const after = await store.read(async (tx) => [
      await tx.domains.get(domain.id),
      await tx.rules.listAll(domain.id),
      await tx.records.list(domain.id),
    ]);
    expect(after).toEqual(before);
    await store.ping();
    expect(store.about).toMatchObject({ database: kind.name, warnings: [] });
  });

  test('closing waits for writes that were asked for', async () => {
    const writes = Array.from({ length: 20 }, () => store.write(addRule));
    await store.close();
    await Promise.all(writes);
    store = await place.open();
    expect(await store.latest.rules.count(domain.id, 'drop')).toBe(20);
  });
});
