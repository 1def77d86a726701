/** What only PostgreSQL can do to a store: lose it in the middle, tell other processes, be set up wrongly. */
import { beforeEach, describe, expect, inject, test } from 'vitest';
import { isStoreFault } from '../../../src/base/storage/fault.ts';
import { openStore } from '../../../src/control/store/database/open.ts';
import type { StoreChange } from '../../../src/control/store/database/statement.ts';
import type { Store } from '../../../src/control/store/store.ts';
import type { DomainRow } from '../../../src/control/store/tables/domains.ts';
import { asAdmin } from '../../support/postgres.ts';
import { requires } from '../../support/requires.ts';
import { newRule, outboxRow, seed } from '../../support/sample-rows.ts';
import { until } from '../../support/until.ts';
import { openForEach, type Place, postgres } from './databases.ts';

const WITNESS = `
  CREATE TABLE witness (setting text);
  CREATE FUNCTION testify() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO witness VALUES (current_setting('synchronous_commit'));
    RETURN NEW;
  END $$;
  CREATE TRIGGER testifies AFTER INSERT ON accounts FOR EACH ROW EXECUTE FUNCTION testify()`;

describe('postgres', requires(inject('missingPostgres')), () => {
  let place: Place;
  let store: Store;
  let domain: DomainRow;

  openForEach(postgres, (opened) => {
    ({ place, store } = opened);
  });
  beforeEach(async () => {
    domain = (await store.write((tx) => seed(tx))).domain;
  });

  /** Ends every connection of the store, as a restart of the server does. */
  async function cutConnections(): Promise<number> {
    const name = new URL(place.database).pathname.slice(1);
    const { rows } = await asAdmin(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = '${name}' AND application_name = 'edgeplan' AND pid <> pg_backend_pid()`,
    );
    return rows.length;
  }

  test('a connection lost in the middle of a write undoes it, and the next goes through', async () => {
    const write = store.write(async (tx) => {
      await tx.rules.insert(newRule(domain.id));
      expect(await cutConnections()).toBeGreaterThan(0);
      await tx.rules.insert(newRule(domain.id));
    });
    await expect(write).rejects.toSatisfy(
      (error) => isStoreFault(error, 'unavailable') && error.undone && error.cause !== undefined,
    );
    expect(await store.latest.rules.count(domain.id, 'drop')).toBe(0);
    await store.write((tx) => tx.rules.insert(newRule(domain.id)));
    expect(await store.latest.rules.count(domain.id, 'drop')).toBe(1);
  });

  test('a connection lost before the commit leaves the outcome open, and says so', async () => {
    const write = store.write(async (tx) => {
      await tx.rules.insert(newRule(domain.id));
      await cutConnections();
    });
    await expect(write).rejects.toSatisfy((error) => isStoreFault(error, 'unavailable') && !error.undone);
    await expect(write).rejects.toThrow('may or may not');
  });

  test('cut off again and again while writing, it keeps what it acknowledged', async () => {
    const acknowledged: number[] = [];
    let over = false;
    const cutter = (async () => {
      try {
        for (let cuts = 0; cuts < 25; cuts++) {
          const before = acknowledged.length;
          await until(() => acknowledged.length > before, 'a write that goes through');
          await cutConnections();
        }
      } finally {
        over = true;
      }
    })();
    let open = 0;
    let lost = 0;
    const writers = Array.from({ length: 6 }, async (_, lane) => {
      for (let round = 0; !over; round++) {
        const priority = lane * 100_000 + round;
        try {
          await store.write((tx) => tx.rules.insert(newRule(domain.id, { priority })));
          acknowledged.push(priority);
        } catch (error) {
          expect(error).toSatisfy((fault) => isStoreFault(fault, 'unavailable'));
          lost += 1;
          if (isStoreFault(error, 'unavailable') && !error.undone) open += 1;
        }
      }
    });
    await Promise.all([cutter, ...writers]);
    const rules = await store.read((tx) => tx.rules.list(domain.id, 'drop')).catch(() => null);
    const kept = new Set(
      (rules ?? (await store.latest.rules.list(domain.id, 'drop'))).map((rule) => rule.priority),
    );
    expect(lost).toBeGreaterThan(0);
    expect(acknowledged.filter((priority) => !kept.has(priority))).toEqual([]);
    expect(kept.size - acknowledged.length).toBeLessThanOrEqual(open);
  });

  test('processes side by side hear of each other, also after the line was cut', async () => {
    const other = await place.open();
    try {
      const heard: StoreChange[] = [];
      other.listen((change) => heard.push(change));
      const hears = async (change: StoreChange) => {
        heard.length = 0;
        const started = Date.now();
        while (!heard.includes(change)) {
          if (Date.now() - started > 10_000)
            throw new Error(`never heard ${change}, only ${heard.join(' ')}`);
          await store.write((tx) => tx.outbox.append(outboxRow(domain)));
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      };
      await hears('outbox');
      heard.length = 0;
      await cutConnections();
      const started = Date.now();
      while (!heard.includes('unknown') && Date.now() - started < 10_000) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      expect(heard).toContain('unknown');
      await hears('outbox');
    } finally {
      await other.close();
    }
  });

  test('two processes write to one domain one after the other', async () => {
    const other = await place.open();
    try {
      await Promise.all(
        Array.from({ length: 40 }, (_, index) =>
          (index % 2 === 0 ? store : other).write(async (tx) => {
            if ((await tx.rules.count(domain.id, 'drop')) < 7) await tx.rules.insert(newRule(domain.id));
          }),
        ),
      );
    } finally {
      await other.close();
    }
    expect(await store.latest.rules.count(domain.id, 'drop')).toBe(7);
  });

  test('acknowledged means on the disk, whatever the database is set to', async () => {
    const name = new URL(place.database).pathname.slice(1);
    await asAdmin(`ALTER DATABASE ${name} SET synchronous_commit = off`);
    // The store's own connections say what they are set to when they write an account.
    await asAdmin(WITNESS, place.database);
    try {
      const second = await place.open();
      await second.write((tx) =>
        tx.accounts.insert({ name: 'witnessed', active: true, created_at: 1, updated_at: 1 }),
      );
      await second.close();
      const { rows } = await asAdmin(
        'SELECT setting, current_setting($$synchronous_commit$$) AS own FROM witness',
        place.database,
      );
      expect(rows).toEqual([{ setting: 'on', own: 'off' }]);
    } finally {
      await asAdmin('DROP TABLE witness CASCADE; DROP FUNCTION testify CASCADE', place.database);
      await asAdmin(`ALTER DATABASE ${name} RESET synchronous_commit`);
    }
  });

  test('a backup of PostgreSQL is refused with a sentence that names pg_dump', async () => {
    await expect(store.backup('/tmp/x')).rejects.toThrow('pg_dump');
  });

  test('what cannot be reached is unavailable, without telling the password', async () => {
    const closed = openStore({ database: 'postgres://edgeplan:s3cret@127.0.0.1:1/none' });
    await expect(closed).rejects.toSatisfy((error) => isStoreFault(error, 'unavailable'));
    await expect(closed).rejects.not.toThrow('s3cret');
    const address = new URL(place.database);
    address.password = 's3cret';
    const opened = await openStore({ database: address.href });
    expect(opened.about.where).not.toContain('s3cret');
    await opened.close();
  });
});
