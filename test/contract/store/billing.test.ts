/** Causes of suspensions, wallets, invoices and quota notices, on both databases. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../../src/control/store/store.ts';
import type { AccountRow } from '../../../src/control/store/tables/accounts.ts';
import type { InvoiceRow, SuspensionCause, WalletRow } from '../../../src/control/store/tables/billing.ts';
import type { DomainRow } from '../../../src/control/store/tables/domains.ts';
import { newDomain, seed, T } from '../../support/sample-rows.ts';
import { kinds, openForAll } from './databases.ts';

describe.each(kinds)('$name', (kind) => {
  let store: Store;
  let count = 0;
  let account: AccountRow;
  let domain: DomainRow;

  openForAll(kind, (opened) => {
    ({ store } = opened);
  });
  beforeEach(async () => {
    count += 1;
    ({ account, domain } = await store.write((tx) => seed(tx, `b${count}.example`)));
  });

  const suspend = (cause: SuspensionCause, of = domain): Promise<boolean> =>
    store.write((tx) => tx.suspensions.put({ domain_id: of.id, cause, at: T }));

  const setWallet = (balance: number, change: Partial<WalletRow> = {}): Promise<void> =>
    store.write(async (tx) => {
      const row = { account_id: account.id, ref: 'w', balance, currency: 'EUR', at: T, ...change };
      await tx.wallets.lock([row.account_id]);
      await tx.wallets.put([row]);
    });

  const anotherDomain = (name: string): Promise<DomainRow> =>
    store.write((tx) => tx.domains.insert(newDomain(name, account.id)));

  /** Domains of the account that do not fit its wallet. */
  const unsettled = (limit = 100): Promise<readonly number[]> =>
    store.latest.suspensions.unsettled({ accountIds: [account.id], limit });

  describe('causes of a suspension', () => {
    test('are listed in their fixed order, each once, and go with the domain', async () => {
      for (const cause of ['quota', 'operator', 'wallet'] as const) expect(await suspend(cause)).toBe(true);
      expect(await suspend('quota')).toBe(false);
      const causes = async () =>
        (await store.latest.suspensions.list(domain.id)).map((row) => [row.cause, row.at]);
      expect(await causes()).toEqual([
        ['operator', T],
        ['wallet', T],
        ['quota', T],
      ]);
      expect(await store.write((tx) => tx.suspensions.remove(domain.id, 'wallet'))).toBe(true);
      expect(await store.write((tx) => tx.suspensions.remove(domain.id, 'wallet'))).toBe(false);
      await store.write((tx) => tx.domains.remove(domain.id));
      expect(await causes()).toEqual([]);
    });

    test('are found by cause in pages of ids, and by account with the names in order', async () => {
      const more = [await anotherDomain(`z${count}.example`), await anotherDomain(`a${count}.example`)];
      for (const one of [domain, ...more]) await suspend('quota', one);
      await suspend('wallet', more[0]!);
      const byCause = (page: { afterId: number; limit: number }) =>
        store.latest.suspensions.byCause('quota', page);
      expect(await byCause({ afterId: domain.id - 1, limit: 2 })).toEqual([domain.id, more[0]!.id]);
      expect(await byCause({ afterId: more[0]!.id, limit: 2 })).toEqual([more[1]!.id]);
      const names = (cause: SuspensionCause) => store.latest.suspensions.ofAccount(account.id, cause);
      expect((await names('quota')).map(({ name }) => name)).toEqual([
        `a${count}.example`,
        domain.name,
        `z${count}.example`,
      ]);
      expect(await names('wallet')).toEqual([{ id: more[0]!.id, name: more[0]!.name }]);
      expect(await store.latest.suspensions.ofAccount(account.id + 10_000, 'quota')).toEqual([]);
    });
  });

  describe('domains that do not fit their wallet', () => {
    test('are none of an account without a wallet, or with one of zero or more', async () => {
      expect(await unsettled()).toEqual([]);
      await setWallet(0);
      expect(await unsettled()).toEqual([]);
      await suspend('operator');
      expect(await unsettled()).toEqual([]);
    });

    test('are those without the cause below zero and those with it from zero on, by id, at most the limit', async () => {
      const second = await anotherDomain(`second${count}.example`);
      const stranger = await store.write((tx) => seed(tx, `stranger${count}.example`));
      await setWallet(-1);
      await suspend('operator', second);
      expect(await unsettled()).toEqual([domain.id, second.id]);
      expect(await unsettled(1)).toEqual([domain.id]);
      await suspend('wallet');
      expect(await unsettled()).toEqual([second.id]);
      await setWallet(0);
      expect(await unsettled()).toEqual([domain.id]);
      const ofBoth = { accountIds: [account.id, stranger.account.id], limit: 100 };
      expect(await store.latest.suspensions.unsettled(ofBoth)).toEqual([domain.id]);
      expect(await store.latest.suspensions.unsettled({ accountIds: [], limit: 9 })).toEqual([]);
      await setWallet(5, { account_id: stranger.account.id });
      expect(await store.latest.suspensions.unsettled(ofBoth)).toEqual([domain.id]);
    });

    test('are found by account, and counted where the edge changes', async () => {
      const counted = () => store.latest.suspensions.countUnsettled([account.id]);
      const accounts = async () =>
        (await store.latest.suspensions.unsettledAccounts(10_000)).filter((id) => id === account.id);
      const second = await anotherDomain(`counted${count}.example`);
      expect([await counted(), await accounts()]).toEqual([{ suspended: 0, resumed: 0 }, []]);
      await setWallet(-1);
      await suspend('operator', second);
      await store.write((tx) => tx.domains.update(second.id, { suspended: true, suspended_at: T }));
      // The second one is refused before and after.
      expect([await counted(), await accounts()]).toEqual([{ suspended: 1, resumed: 0 }, [account.id]]);
      await suspend('wallet');
      await suspend('wallet', second);
      expect([await counted(), await accounts()]).toEqual([{ suspended: 0, resumed: 0 }, []]);
      await setWallet(0);
      expect([await counted(), await accounts()]).toEqual([{ suspended: 0, resumed: 1 }, [account.id]]);
      expect(await store.latest.suspensions.unsettledAccounts(0)).toEqual([]);
    });
  });

  describe('wallets', () => {
    test('are replaced whole, and are null before the first', async () => {
      expect(await store.latest.wallets.get(account.id)).toBeNull();
      await setWallet(-10_000_000_000_000);
      await setWallet(10_000_000_000_000, { ref: 'ü"\'', currency: 'JPY', at: T + 1 });
      const row = { account_id: account.id, ref: 'ü"\'', currency: 'JPY', at: T + 1 };
      expect(await store.latest.wallets.get(account.id)).toEqual({ ...row, balance: 10_000_000_000_000 });
    });

    test('of several accounts are locked and returned together', async () => {
      const other = await store.write((tx) => seed(tx, `other${count}.example`));
      const ids = [account.id, other.account.id];
      await setWallet(7, { account_id: other.account.id });
      const found = await store.write((tx) => tx.wallets.lock(ids));
      expect(found.map(({ account_id, balance }) => [account_id, balance])).toEqual([[other.account.id, 7]]);
      expect(await store.write((tx) => tx.wallets.lock([]))).toEqual([]);
    });
  });

  describe('invoices', () => {
    const invoice = (ref: string, change: Partial<InvoiceRow> = {}): Omit<InvoiceRow, 'id'> => ({
      ref: `${ref} of ${count}`,
      account_id: account.id,
      number: '1',
      domain: null,
      status: 'open',
      currency: 'EUR',
      total: 100,
      period_start: null,
      period_end: null,
      issued_at: T,
      due_at: null,
      paid_at: null,
      lines_json: '[{"description":"ü\\"","amount":1}]',
      at: T,
      ...change,
    });
    const put = (...rows: readonly Omit<InvoiceRow, 'id'>[]): Promise<readonly string[]> =>
      store.write((tx) => tx.invoices.put(rows));
    const page = (change: object = {}): Promise<readonly InvoiceRow[]> =>
      store.latest.invoices.page(account.id, { after: null, limit: 10, status: null, ...change });

    test('are inserted, replaced by later ones alone, and never given to another account', async () => {
      const other = await store.write((tx) => seed(tx, `payer${count}.example`));
      const first = invoice('a');
      expect(await put(first, invoice('b'))).toHaveLength(2);
      const [{ id }] = (await store.latest.invoices.byRefs([first.ref])) as [InvoiceRow];
      const paid = invoice('a', { status: 'paid', paid_at: T, total: -5, at: T + 1 });
      expect(await put(paid)).toEqual([paid.ref]);
      expect(await put(invoice('a', { at: T + 1 }))).toEqual([]);
      expect(await put(invoice('a'))).toEqual([]);
      expect(await put(invoice('a', { account_id: other.account.id, at: T + 9 }))).toEqual([]);
      expect(await store.latest.invoices.get(account.id, id)).toEqual({ ...paid, id });
      expect(await store.latest.invoices.get(other.account.id, id)).toBeNull();
      expect(await store.latest.invoices.byRefs(['no such one'])).toEqual([]);
      expect(await put()).toEqual([]);
    });

    test('are listed newest first in pages without gaps, also of one time and by status', async () => {
      const rows = Array.from({ length: 9 }, (_, at) =>
        invoice(`p${at}`, { issued_at: T + Math.floor(at / 3), status: at % 2 === 0 ? 'open' : 'void' }),
      );
      await put(...rows);
      const whole = await page();
      expect(whole.map(({ issued_at }) => issued_at - T)).toEqual([2, 2, 2, 1, 1, 1, 0, 0, 0]);
      const gathered: InvoiceRow[] = [];
      for (let after: InvoiceRow | null = null; ; after = gathered.at(-1)!) {
        const part = await page({ after, limit: 2 });
        gathered.push(...part);
        if (part.length < 2) break;
      }
      expect(gathered).toEqual(whole);
      const open = await page({ status: 'open' });
      expect(open).toEqual(whole.filter(({ status }) => status === 'open'));
      expect(await page({ status: 'paid' })).toEqual([]);
      expect(await page({ status: 'open', after: open[1], limit: 2 })).toEqual(open.slice(2, 4));
    });
  });

  test('a level of a quota is recorded once for each size and period, and earlier periods go', async () => {
    const note = (change: object = {}): Promise<boolean> =>
      store.write((tx) =>
        tx.quotas.note({
          domain_id: domain.id,
          period_start: T,
          quota_gb: 100,
          level: 80,
          at: T + 1,
          ...change,
        }),
      );
    expect([await note(), await note({ at: T + 2 }), await note({ level: 100 })]).toEqual([
      true,
      false,
      true,
    ]);
    expect(await note({ quota_gb: 200 })).toBe(true);
    const noticed = async (start: number) =>
      (await store.latest.quotas.noticed(domain.id, start)).map(({ quota_gb, level }) => [quota_gb, level]);
    expect(await noticed(T)).toEqual([
      [100, 80],
      [100, 100],
      [200, 80],
    ]);
    expect(await note({ period_start: T + 100 })).toBe(true);
    expect([await noticed(T), await noticed(T + 100)]).toEqual([[], [[100, 80]]]);
    await store.write((tx) => tx.domains.remove(domain.id));
    expect(await noticed(T + 100)).toEqual([]);
  });
});
