/**
 * Random lines of billing against a naive model, on both databases: what each line does, and what is stored and suspended
 * after it, whatever the order, the duplicates, the files and the restarts.
 */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createBillingWatch } from '../../../src/control/billing/settle.ts';
import { resumeDomain, suspendDomain } from '../../../src/control/domains/suspensions.ts';
import type { Store } from '../../../src/control/store/store.ts';
import { SERVICE } from '../../../src/control/store/tables/accounts.ts';
import type { SuspensionCause } from '../../../src/control/store/tables/billing.ts';
import { billedAt, type Imported, importLines, invoiceLine, walletLine } from '../../support/billing.ts';
import { activeDomain, T } from '../../support/sample-rows.ts';
import { FULL } from '../../support/size.ts';
import { kinds, type Place } from './databases.ts';

const ACCOUNTS = ['ann', 'bob'] as const;
const DOMAINS = ['a1', 'a2', 'b1', 'b2'] as const;
type Domain = (typeof DOMAINS)[number];
const ownerOf = (domain: Domain): string => (domain.startsWith('a') ? 'ann' : 'bob');

/** A line of few values, so that lines collide. */
interface Line {
  readonly kind: 'wallet' | 'invoice';
  readonly account: string;
  readonly id: string;
  readonly amount: number;
  readonly at: number;
}

type Step =
  | { readonly kind: 'import'; readonly lines: readonly Line[]; readonly dry: boolean }
  | { readonly kind: 'operator'; readonly domain: Domain; readonly suspend: boolean }
  | { readonly kind: 'restart' }
  | { readonly kind: 'poll' };

const lineOf = fc.record<Line>({
  kind: fc.constantFrom('wallet', 'wallet', 'invoice'),
  account: fc.constantFrom('ann', 'ann', 'bob', 'nobody'),
  id: fc.constantFrom('x', 'y'),
  amount: fc.integer({ min: -2, max: 2 }),
  at: fc.integer({ min: 0, max: 5 }),
});
const stepOf: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('import' as const),
      lines: fc.array(lineOf, { maxLength: 6 }),
      dry: fc.nat({ max: 5 }).map((one) => one === 0),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('operator' as const),
      domain: fc.constantFrom(...DOMAINS),
      suspend: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'restart' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'poll' as const }) },
);

/** The slowest honest billing: one line at a time, everything in maps. */
class Model {
  wallets = new Map<string, Line>();
  invoices = new Map<string, Line>();
  operator = new Set<Domain>();

  copy(): Model {
    const copy = new Model();
    copy.wallets = new Map(this.wallets);
    copy.invoices = new Map(this.invoices);
    copy.operator = new Set(this.operator);
    return copy;
  }

  take(line: Line): 'written' | 'unchanged' | 'stale' | 'refused' {
    if (line.account === 'nobody') return 'refused';
    const [table, key] = line.kind === 'wallet' ? [this.wallets, line.account] : [this.invoices, line.id];
    const before = table.get(key);
    if (before !== undefined) {
      if (before.account !== line.account) return 'refused';
      if (line.at < before.at) return 'stale';
      if (line.at === before.at) return line.amount === before.amount ? 'unchanged' : 'refused';
    }
    table.set(key, line);
    return 'written';
  }

  causes(domain: Domain): readonly SuspensionCause[] {
    const wallet = this.wallets.get(ownerOf(domain));
    return [
      ...(this.operator.has(domain) ? (['operator'] as const) : []),
      ...(wallet !== undefined && wallet.amount < 0 ? (['wallet'] as const) : []),
    ];
  }

  suspended(): readonly Domain[] {
    return DOMAINS.filter((domain) => this.causes(domain).length > 0);
  }
}

const jsonOf = ({ kind, account, id, amount, at }: Line): object =>
  kind === 'wallet'
    ? walletLine(account, amount, { id, at: billedAt(at) })
    : invoiceLine(account, id, { total: amount, at: billedAt(at) });

describe.each(kinds)('$name', (kind) => {
  let place: Place;
  let store: Store;
  const accounts = new Map<string, number>();
  const domains = new Map<Domain, number>();

  beforeEach(async () => {
    place = await kind.place();
  });
  afterEach(() => place.dispose());

  /** Opens the store with the accounts and their domains, of new names. */
  async function begin(round: number): Promise<void> {
    await store.write(async (tx) => {
      for (const name of ACCOUNTS) {
        const times = { created_at: T, updated_at: T };
        accounts.set(
          name,
          (await tx.accounts.insert({ name: `${name}${round}`, active: true, ...times })).id,
        );
      }
      for (const name of DOMAINS) {
        const row = activeDomain(`${name}r${round}.example`, accounts.get(ownerOf(name))!);
        domains.set(name, (await tx.domains.insert(row)).id);
      }
    });
  }

  const imported = (lines: readonly Line[], { round, dryRun }: { round: number; dryRun: boolean }) =>
    importLines(
      store,
      lines.map((line) => jsonOf({ ...line, account: `${line.account}${round}`, id: `${line.id}${round}` })),
      { dryRun },
    );

  async function poll(): Promise<void> {
    const watch = createBillingWatch({
      ...{ store, overQuota: 'serve', clock: Date.now },
      entitlementsOf: () => Promise.reject(new Error('no quota is read here')),
      note: () => undefined,
    });
    await watch.poll();
  }

  const operate = (domain: Domain, suspend: boolean): Promise<unknown> =>
    store.write(async (tx) => {
      const row = (await tx.domains.get(domains.get(domain)!))!;
      const change = { cause: 'operator', author: SERVICE, now: T } as const;
      return suspend ? suspendDomain(tx, row, change) : resumeDomain(tx, row, change);
    });

  /** Compares everything that is stored with the model. */
  async function compare(model: Model, round: number): Promise<void> {
    for (const name of ACCOUNTS) {
      const wallet = await store.latest.wallets.get(accounts.get(name)!);
      expect(wallet?.balance).toBe(model.wallets.get(name)?.amount);
    }
    for (const id of ['x', 'y']) {
      const [stored] = await store.latest.invoices.byRefs([`${id}${round}`]);
      const line = model.invoices.get(id);
      expect([stored?.total, stored?.account_id]).toEqual([line?.amount, line && accounts.get(line.account)]);
    }
    for (const name of DOMAINS) {
      const id = domains.get(name)!;
      const causes = (await store.latest.suspensions.list(id)).map(({ cause }) => cause);
      expect(causes).toEqual(model.causes(name));
      expect((await store.latest.domains.get(id))!.suspended).toBe(causes.length > 0);
    }
  }

  /** Every publication of a domain is one change of its flag. */
  async function alternates(model: Model): Promise<void> {
    for (const name of DOMAINS) {
      const reasons = (await store.latest.outbox.list(domains.get(name)!)).map(({ reason }) => reason);
      const wanted = reasons.map((_, at) =>
        at % 2 === 0 ? 'the domain was suspended' : 'the domain is no longer suspended',
      );
      expect(reasons).toEqual(wanted);
      expect(reasons.length % 2 === 1).toBe(model.causes(name).length > 0);
    }
  }

  function expected(model: Model, lines: readonly Line[]): Omit<Imported, 'refusals'> {
    const counts = { written: 0, unchanged: 0, stale: 0, refused: 0 };
    const before = model.suspended();
    for (const line of lines) counts[model.take(line)]++;
    const after = model.suspended();
    return {
      ...counts,
      lines: lines.length,
      suspended: after.filter((name) => !before.includes(name)).length,
      resumed: before.filter((name) => !after.includes(name)).length,
    };
  }

  test('any lines, files, operator commands and restarts end as in the model', async () => {
    let round = 0;
    store = await place.open();
    try {
      await fc.assert(
        fc.asyncProperty(fc.array(stepOf, { minLength: 1, maxLength: 8 }), async (steps) => {
          round += 1;
          await begin(round);
          let model = new Model();
          for (const step of steps) {
            switch (step.kind) {
              case 'import': {
                const next = model.copy();
                const wanted = expected(next, step.lines);
                const { refusals: _, ...done } = await imported(step.lines, { round, dryRun: step.dry });
                expect(done).toEqual(wanted);
                if (!step.dry) model = next;
                break;
              }
              case 'operator':
                await operate(step.domain, step.suspend);
                if (step.suspend) model.operator.add(step.domain);
                else model.operator.delete(step.domain);
                break;
              case 'restart':
                await store.close();
                store = await place.open();
                break;
              default:
                await poll();
            }
          }
          await compare(model, round);
          await alternates(model);
        }),
        { numRuns: FULL ? 400 : 40 },
      );
    } finally {
      await store.close();
    }
  }, 300_000);

  test('lines of different times have one result in any order, doubled and in any files', async () => {
    let round = 0;
    store = await place.open();
    const distinct = fc.uniqueArray(lineOf, {
      maxLength: 12,
      selector: ({ kind: of, account, id, at }) => (of === 'wallet' ? `${account} ${at}` : `${id} ${at}`),
    });
    const files = distinct.chain((lines) =>
      fc.record({
        lines: fc.constant(lines.filter(({ kind: of, account }) => of === 'wallet' || account === 'ann')),
        order: fc.shuffledSubarray([...lines, ...lines], { minLength: 2 * lines.length }),
        cut: fc.nat({ max: 2 * lines.length }),
      }),
    );
    try {
      await fc.assert(
        fc.asyncProperty(files, async ({ lines, order, cut }) => {
          round += 1;
          await begin(round);
          const model = new Model();
          for (const line of lines.toSorted((left, right) => left.at - right.at)) model.take(line);
          const shuffled = order.filter((line) => lines.includes(line));
          await imported(shuffled.slice(0, cut), { round, dryRun: false });
          await imported(shuffled.slice(cut), { round, dryRun: false });
          await compare(model, round);
        }),
        { numRuns: FULL ? 400 : 40 },
      );
    } finally {
      await store.close();
    }
  }, 300_000);
});
