/** Imports of wallets and invoices, on both databases: idempotent, in any order, at once, and what they suspend. */
import { beforeEach, describe, expect, test } from 'vitest';
import { LINES_AT_ONCE, SETTLED_AT_ONCE } from '../../../src/control/billing/limits.ts';
import { createBillingWatch, settleDomain } from '../../../src/control/billing/settle.ts';
import { applyEvent } from '../../../src/control/domains/apply-event.ts';
import { newChallenge } from '../../../src/control/domains/challenge.ts';
import type { LifecycleEvent } from '../../../src/control/domains/state.ts';
import { resumeDomain, suspendDomain } from '../../../src/control/domains/suspensions.ts';
import type { Store } from '../../../src/control/store/store.ts';
import { type AccountRow, SERVICE } from '../../../src/control/store/tables/accounts.ts';
import type { DomainRow } from '../../../src/control/store/tables/domains.ts';
import { billedAt, importLines, invoiceLine, walletLine } from '../../support/billing.ts';
import { activeDomain, T } from '../../support/sample-rows.ts';
import { kinds, openForAll, type Place } from './databases.ts';

const NOTHING = { lines: 0, written: 0, unchanged: 0, stale: 0, refused: 0, suspended: 0, resumed: 0 };

describe.each(kinds)('$name', (kind) => {
  let place: Place;
  let store: Store;
  let count = 0;
  let account: AccountRow;
  let domain: DomainRow;

  openForAll(kind, (opened) => {
    ({ place, store } = opened);
  });
  beforeEach(async () => {
    count += 1;
    account = await addAccount(`acme${count}`);
    domain = await addDomain(`shop${count}.example`);
  });

  const addAccount = (name: string): Promise<AccountRow> =>
    store.write((tx) => tx.accounts.insert({ name, active: true, created_at: T, updated_at: T }));
  const addDomain = (name: string, of = account): Promise<DomainRow> =>
    store.write((tx) => tx.domains.insert(activeDomain(name, of.id)));
  const run = (lines: readonly object[], options = {}) => importLines(store, lines, options);
  const wallet = (balance: number, after: number, change: object = {}): object =>
    walletLine(account.name, balance, { at: billedAt(after), ...change });
  const causes = async (of = domain): Promise<readonly string[]> => {
    const row = (await store.latest.domains.get(of.id))!;
    const list = (await store.latest.suspensions.list(of.id)).map(({ cause }) => cause);
    expect([row.suspended, row.suspended_at !== null]).toEqual([list.length > 0, list.length > 0]);
    return list;
  };
  const audit = async (of = domain): Promise<readonly string[]> =>
    (await store.latest.audit.list(of.id, { before: Number.MAX_SAFE_INTEGER, limit: 100 }))
      .map(({ action, after_json }) => `${action} ${JSON.parse(after_json ?? '{}').reason ?? ''}`.trim())
      .reverse();
  const notices = async (): Promise<readonly string[]> =>
    (
      await store.latest.notifications.list(account.id, {
        before: Number.MAX_SAFE_INTEGER,
        limit: 500,
        unread: false,
      })
    )
      .map(({ kind: name, domain: about }) => `${name} ${about}`)
      .reverse();
  const poll = async (of = store): Promise<void> => {
    const failures: unknown[] = [];
    const watch = createBillingWatch({
      ...{ store: of, overQuota: 'serve', clock: Date.now },
      entitlementsOf: () => Promise.reject(new Error('no quota is read here')),
      note: (note) => {
        if (note.kind === 'failed' && note.domain === null) failures.push(note.error);
      },
    });
    await watch.poll();
    expect(failures).toEqual([]);
  };

  test('a wallet below zero suspends and zero resumes, each published, audited and notified of once', async () => {
    expect(await run([wallet(-1, 1)])).toMatchObject({ lines: 1, written: 1, suspended: 1, resumed: 0 });
    expect(await causes()).toEqual(['wallet']);
    expect(await run([wallet(-500, 2)])).toMatchObject({ written: 1, suspended: 0 });
    expect(await run([wallet(0, 3)])).toMatchObject({ written: 1, suspended: 0, resumed: 1 });
    expect(await causes()).toEqual([]);
    expect(await audit()).toEqual([
      "domain.suspend the wallet of its owner's account is below zero",
      'domain.resume',
    ]);
    expect(await notices()).toEqual([`domain.suspended ${domain.name}`, `domain.resumed ${domain.name}`]);
    const published = (await store.latest.outbox.list(domain.id)).map(({ reason }) => reason);
    expect(published).toEqual(['the domain was suspended', 'the domain is no longer suspended']);
  });

  test('the same lines again change nothing, whatever their order', async () => {
    const lines = [
      wallet(5, 1),
      wallet(-5, 4),
      invoiceLine(account.name, `i${count}`),
      wallet(3, 2),
      invoiceLine(account.name, `i${count}`, { status: 'void', at: billedAt(9) }),
    ];
    expect(await run(lines)).toMatchObject({ lines: 5, written: 4, stale: 1, suspended: 1, refusals: [] });
    const state = async () => [
      await store.latest.wallets.get(account.id),
      await store.latest.invoices.byRefs([`i${count}`]),
      await causes(),
      await audit(),
      await notices(),
    ];
    const before = await state();
    expect(await run(lines)).toMatchObject({ ...NOTHING, lines: 5, unchanged: 2, stale: 3 });
    expect(await run([...lines].reverse())).toMatchObject({ ...NOTHING, lines: 5, unchanged: 2, stale: 3 });
    expect(await state()).toEqual(before);
  });

  test('a line of the same time that differs is refused, in one file and in the next', async () => {
    const lines = [wallet(5, 1), wallet(6, 1), wallet(5, 1, { id: 'another id' })];
    const refusals = ['2 conflicting_line at'];
    expect(await run(lines)).toMatchObject({ written: 1, unchanged: 1, refused: 1, refusals });
    expect(await run([wallet(5, 1, { currency: 'USD' })])).toMatchObject({ refused: 1 });
    const invoice = (change: object) => invoiceLine(account.name, `c${count}`, change);
    expect(await run([invoice({}), invoice({ total: 1 })])).toMatchObject({ written: 1, refusals });
    expect(await run([invoice({ lines: [{ description: 'a', amount: 1 }] })])).toMatchObject({ refused: 1 });
    expect(await store.latest.wallets.get(account.id)).toMatchObject({ balance: 5, currency: 'EUR' });
  });

  test('the id of a wallet line does not decide: account and time do', async () => {
    await run([wallet(5, 1, { id: 'booking 1' }), wallet(-7, 2, { id: 'booking 1' })]);
    expect(await store.latest.wallets.get(account.id)).toMatchObject({ ref: 'booking 1', balance: -7 });
    expect(await run([wallet(1, 1, { id: 'booking 2' })])).toMatchObject({ stale: 1 });
  });

  test('lines of unknown accounts, of the future and of foreign invoices are refused, and the others apply', async () => {
    const other = await addAccount(`other${count}`);
    await run([invoiceLine(other.name, `f${count}`)]);
    const lines = [
      walletLine('nobody at all', -1),
      wallet(-1, 0, { at: new Date(Date.now() + 2 * 86_400_000).toISOString() }),
      invoiceLine(account.name, `f${count}`, { at: billedAt(9) }),
      invoiceLine(account.name, `own${count}`),
      invoiceLine(other.name, `own${count}`, { at: billedAt(9) }),
      wallet(-3, 1),
      wallet(-2, 0, { at: new Date(Date.now() + 3_600_000).toISOString() }),
    ];
    const done = await run(lines);
    expect(done).toMatchObject({ written: 3, refused: 4, suspended: 1 });
    expect(done.refusals).toEqual([
      '1 unknown_account account',
      '2 future_line at',
      '3 foreign_invoice id',
      '5 foreign_invoice id',
    ]);
    expect(await store.latest.invoices.byRefs([`f${count}`])).toMatchObject([{ account_id: other.id }]);
  });

  test('a dry run counts the same and changes nothing', async () => {
    await addDomain(`more${count}.example`);
    const lines = [wallet(-5, 1), invoiceLine(account.name, `d${count}`), walletLine('nobody at all', 1)];
    const dry = await run(lines, { dryRun: true });
    expect(await store.latest.wallets.get(account.id)).toBeNull();
    expect(await store.latest.invoices.byRefs([`d${count}`])).toEqual([]);
    expect([await causes(), await audit(), await notices()]).toEqual([[], [], []]);
    expect(await run(lines)).toEqual(dry);
    expect(dry).toMatchObject({ written: 2, refused: 1, suspended: 2 });
    expect(await run([wallet(0, 2)], { dryRun: true })).toMatchObject({ resumed: 2 });
    expect(await causes()).toEqual(['wallet']);
  });

  test('a domain with several causes is suspended until the last of them is gone', async () => {
    const change = { author: SERVICE, now: T };
    const fresh = () => store.latest.domains.get(domain.id);
    await store.write(async (tx) => suspendDomain(tx, (await fresh())!, { ...change, cause: 'operator' }));
    expect(await run([wallet(-1, 1)])).toMatchObject({ suspended: 0 });
    expect(await causes()).toEqual(['operator', 'wallet']);
    await store.write(async (tx) => resumeDomain(tx, (await fresh())!, { ...change, cause: 'operator' }));
    expect(await causes()).toEqual(['wallet']);
    await store.write(async (tx) => suspendDomain(tx, (await fresh())!, { ...change, cause: 'quota' }));
    expect(await run([wallet(1, 2)])).toMatchObject({ resumed: 0 });
    expect(await causes()).toEqual(['quota']);
    await store.write(async (tx) => resumeDomain(tx, (await fresh())!, { ...change, cause: 'quota' }));
    expect(await causes()).toEqual([]);
    expect(await audit()).toEqual([
      'domain.suspend the operator has suspended it',
      "domain.suspend the wallet of its owner's account is below zero",
      "domain.resume still suspended: the wallet of its owner's account is below zero",
      'domain.suspend its traffic has reached the quota of its plan',
      'domain.resume still suspended: its traffic has reached the quota of its plan',
      'domain.resume',
    ]);
    expect(await notices()).toEqual([`domain.suspended ${domain.name}`, `domain.resumed ${domain.name}`]);
  });

  test('a ban, a disabled domain and a lost delegation are one thing, the suspension another', async () => {
    const challenge = newChallenge(T);
    const event = (of: LifecycleEvent) =>
      store.write(async (tx) =>
        applyEvent(tx, (await tx.domains.get(domain.id))!, of, { author: SERVICE, now: T }),
      );
    const status = async () => (await store.latest.domains.get(domain.id))!.status;
    await run([wallet(-1, 1)]);
    await event({ kind: 'checked', result: 'other' });
    expect([await status(), await causes()]).toEqual(['moved', ['wallet']]);
    await event({ kind: 'disable' });
    await event({ kind: 'ban' });
    expect(await run([wallet(0, 2)])).toMatchObject({ resumed: 1 });
    expect([await status(), await causes()]).toEqual(['banned', []]);
    await run([wallet(-1, 3)]);
    await event({ kind: 'unban', proof: 'holds', challenge });
    expect([await status(), await causes()]).toEqual(['active', ['wallet']]);
  });

  test('a new domain of an account below zero is suspended; a name that changes hands follows its owner', async () => {
    const poor = await addAccount(`poor${count}`);
    await run([walletLine(poor.name, -1)]);
    const made = await store.write(async (tx) =>
      settleDomain(tx, await tx.domains.insert(activeDomain(`new${count}.example`, poor.id)), T),
    );
    expect([made.suspended, await causes(made)]).toEqual([true, ['wallet']]);
    await store.write((tx) => tx.domains.remove(made.id));
    const next = await store.write(async (tx) =>
      settleDomain(tx, await tx.domains.insert(activeDomain(made.name, account.id)), T),
    );
    expect([next.suspended, await causes(next)]).toEqual([false, []]);
    expect(await run([walletLine(poor.name, 5, { at: billedAt(1) })])).toMatchObject({ resumed: 0 });
  });

  test('an account with more domains than one transaction settles is settled whole', async () => {
    const most = 2 * SETTLED_AT_ONCE + 7;
    const names = Array.from({ length: most - 1 }, (_, at) => `many${at}.of${count}.example`);
    await store.write(async (tx) => {
      for (const name of names) await tx.domains.insert(activeDomain(name, account.id));
    });
    expect(await run([wallet(-1, 1)], { dryRun: true })).toMatchObject({ suspended: most });
    expect(await run([wallet(-1, 1)])).toMatchObject({ suspended: most });
    expect(await store.latest.suspensions.ofAccount(account.id, 'wallet')).toHaveLength(most);
    expect(await run([wallet(0, 2)])).toMatchObject({ resumed: most });
    expect(await store.latest.suspensions.ofAccount(account.id, 'wallet')).toEqual([]);
    expect((await notices()).length).toBeGreaterThan(0);
  });

  test('the watch continues where an import was killed, and so does the import when it runs again', async () => {
    const second = await addDomain(`second${count}.example`);
    const row = {
      account_id: account.id,
      ref: 'w',
      balance: -1,
      currency: 'EUR',
      at: Date.parse(billedAt(1)),
    };
    // What an import leaves that is killed between its first transaction and the next.
    const cut = () =>
      store.write(async (tx) => {
        await tx.wallets.put([row]);
        const fresh = (await tx.domains.get(domain.id))!;
        await suspendDomain(tx, fresh, { cause: 'wallet', author: SERVICE, now: T });
      });
    await cut();
    expect([await causes(), await causes(second)]).toEqual([['wallet'], []]);
    await poll();
    expect([await causes(), await causes(second)]).toEqual([['wallet'], ['wallet']]);
    expect(await run([wallet(-1, 1)])).toMatchObject({ unchanged: 1, suspended: 0 });
    await store.write((tx) => tx.wallets.put([{ ...row, balance: 0, at: row.at + 1 }]));
    expect(await run([wallet(0, 2)])).toMatchObject({ unchanged: 1, resumed: 2 });
    const about = (name: string) => [`domain.suspended ${name}`, `domain.resumed ${name}`];
    expect([...(await notices())].sort()).toEqual([...about(domain.name), ...about(second.name)].sort());
  });

  test('a file of several transactions has the effect of its lines', async () => {
    const accounts: AccountRow[] = [];
    for (let at = 0; at < 7; at++) accounts.push(await addAccount(`big${at}of${count}`));
    const size = 2 * LINES_AT_ONCE + 3;
    const lines = Array.from({ length: size }, (_, at) =>
      walletLine(accounts[at % 7]!.name, at - 500, { at: billedAt(at) }),
    );
    expect(await run(lines)).toMatchObject({ lines: size, written: size });
    for (const [at, { id }] of accounts.entries()) {
      const last = [...lines.keys()].findLast((index) => index % 7 === at)!;
      expect(await store.latest.wallets.get(id)).toMatchObject({ balance: last - 500 });
    }
  });

  test('imports at the same time end in the state of the latest lines, and notify once', async () => {
    // One process at a time opens the embedded store as a server.
    const others = kind.name === 'postgres' ? [await place.open(), await place.open()] : [];
    const stores = [store, ...others];
    const accounts = [account, await addAccount(`at once ${count}`)];
    for (let at = 0; at < 20; at++) await addDomain(`once${at}of${count}.example`, accounts[at % 2]);
    const files = Array.from({ length: 9 }, (_, file) =>
      [
        ...accounts.map(({ name }) => walletLine(name, file === 7 ? 4 : -file - 1, { at: billedAt(file) })),
        ...Array.from({ length: 30 }, (_unused, at) =>
          invoiceLine(account.name, `${count}-${at}`, { total: file, at: billedAt(file) }),
        ),
      ].sort(() => (file % 2 === 0 ? 1 : -1)),
    );
    const importing = Promise.all(files.map((lines, at) => importLines(stores[at % stores.length]!, lines)));
    // Watches of other processes settle the same domains meanwhile.
    for (let at = 0; at < 6; at++) await poll(stores.at(-1));
    const all = await importing;
    expect(all.map(({ refused }) => refused)).toEqual(files.map(() => 0));
    const refs = Array.from({ length: 30 }, (_, at) => `${count}-${at}`);
    const stored = await store.latest.invoices.byRefs(refs);
    expect(stored.map(({ total }) => total)).toEqual(refs.map(() => 8));
    for (const { id } of accounts) {
      expect(await store.latest.wallets.get(id)).toMatchObject({ balance: -9 });
      expect(await store.latest.suspensions.ofAccount(id, 'wallet')).toHaveLength(
        id === account.id ? 11 : 10,
      );
    }
    // Each domain alternates; none is notified of twice in a row.
    for (const about of [domain.name, `once0of${count}.example`]) {
      const own = (await notices()).filter((text) => text.endsWith(` ${about}`));
      expect(
        own.every((text, at) => text.startsWith(at % 2 === 0 ? 'domain.suspended' : 'domain.resumed')),
      ).toBe(true);
      expect(own.length % 2).toBe(1);
    }
    for (const other of others) await other.close();
  });
});
