/** Named lists, on both databases: their entries against a model, who has them, which rules name them, their sealed forms. */
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { packEntries, packKeys } from '../../../src/control/store/repositories/list-entries.ts';
import type { ListOwner, NewList } from '../../../src/control/store/repositories/lists.ts';
import type { Store } from '../../../src/control/store/store.ts';
import { SERVICE } from '../../../src/control/store/tables/accounts.ts';
import type { DomainRow } from '../../../src/control/store/tables/domains.ts';
import type { ListRow } from '../../../src/control/store/tables/lists.ts';
import { sealList } from '../../../src/engine/compiler/seal-list.ts';
import { entryKey, type ListEntry } from '../../../src/rules/model/lists.ts';
import { newDomain, newRule, outboxRow, seed, T } from '../../support/sample-rows.ts';
import { kinds, openForEach } from './databases.ts';

/** Values of which some have one key, some inner stars, some what no database takes as it is. */
const VALUES = [
  '/a',
  '/A',
  '/%61',
  '/a%2Ab',
  '/a*b',
  '/*/x*',
  '*',
  '*.php',
  '/%C3%BC',
  `/${'x'.repeat(2_000)}`,
  '/%F0%9F%98%80',
];

const entry: fc.Arbitrary<ListEntry> = fc.record(
  { value: fc.constantFrom(...VALUES), comment: fc.constantFrom('one', 'zwei ü') },
  { requiredKeys: ['value'] },
);

type Change =
  | { readonly kind: 'replace'; readonly entries: readonly ListEntry[] }
  | { readonly kind: 'add'; readonly entries: readonly ListEntry[] }
  | { readonly kind: 'remove'; readonly values: readonly string[] };

const some = fc.array(entry, { maxLength: 8 }).map(unique);
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ kind: fc.constant('replace' as const), entries: some }),
  fc.record({ kind: fc.constant('add' as const), entries: some }),
  fc.record({ kind: fc.constant('remove' as const), values: fc.subarray(VALUES, { maxLength: 3 }) }),
);

/** As the model reads them: of one key the last, in the place of the first. */
function unique(entries: readonly ListEntry[]): readonly ListEntry[] {
  return [...byKey(entries).values()];
}

function byKey(entries: readonly ListEntry[]): Map<string, ListEntry> {
  return new Map(entries.map((one) => [entryKey('path', one.value), one]));
}

function after(before: readonly ListEntry[], made: Change): readonly ListEntry[] {
  if (made.kind === 'replace') return made.entries;
  if (made.kind === 'add') return unique([...before, ...made.entries]);
  const removed = new Set(made.values.map((value) => entryKey('path', value)));
  return before.filter(({ value }) => !removed.has(entryKey('path', value)));
}

function isScanned({ value }: ListEntry): boolean {
  const star = value.indexOf('*');
  return star >= 0 && (value.indexOf('*', star + 1) >= 0 || (star > 0 && star < value.length - 1));
}

describe.each(kinds)('$name', (kind) => {
  let store: Store;
  let domain: DomainRow;
  let other: DomainRow;
  let made = 0;

  openForEach(kind, (opened) => {
    ({ store } = opened);
  });
  beforeEach(async () => {
    await store.write(async (tx) => {
      ({ domain } = await seed(tx));
      other = await tx.domains.insert(newDomain('other.example', domain.user_id));
    });
  });

  const ofDomain = (): ListOwner => ({ account_id: null, domain_id: domain.id });
  const ofAccount = (): ListOwner => ({ account_id: domain.user_id, domain_id: null });
  const insert = (owner: ListOwner, list: Partial<NewList> = {}) =>
    store.write((tx) => tx.lists.insert({ ...owner, name: 'a', kind: 'path', created_at: T, ...list }));
  const entries = async (id: number): Promise<readonly ListEntry[]> => {
    const all: ListEntry[] = [];
    for await (const some of store.latest.lists.entries(id)) all.push(...some);
    return all;
  };
  const make = (id: number, change: Change) =>
    store.write((tx) =>
      change.kind === 'remove'
        ? tx.lists.removeEntries(id, packKeys('path', change.values), T + 1)
        : tx.lists[change.kind === 'add' ? 'addEntries' : 'replaceEntries'](
            id,
            packEntries('path', change.entries),
            T + 1,
          ),
    );
  const naming = ({ id }: DomainRow, name = 'a') =>
    store.write((tx) => tx.rules.insert(newRule(id, { lists: [{ name, kind: 'path' }] })));

  test('entries and their totals are those of the model after any changes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 6 }), async (changes) => {
        made += 1;
        const list = await insert(ofDomain(), { name: `l${made}` });
        let model: readonly ListEntry[] = [];
        let version = 1;
        for (const one of changes) {
          const row = await make(list.id, one);
          model = after(model, one);
          version += 1;
          expect(await entries(list.id)).toEqual(model);
          expect(row).toMatchObject({
            version,
            entries: model.length,
            scanned: model.filter(isScanned).length,
          });
          // The header and the smallest tables.
          expect(row!.octets + 4_096).toBeGreaterThanOrEqual(
            sealList({ kind: 'path', entries: model }).length,
          );
          expect(await store.latest.lists.byId(list.id)).toEqual(row);
        }
        await store.write((tx) => tx.lists.remove(list));
        expect(await entries(list.id)).toEqual([]);
      }),
      { numRuns: 25, interruptAfterTimeLimit: 90_000, markInterruptAsFailure: true },
    );
  });

  test('a page has the entries after a position', async () => {
    const { id } = await insert(ofDomain());
    await make(id, { kind: 'add', entries: ['/1', '/2', '/3'].map((value) => ({ value })) });
    await make(id, { kind: 'remove', values: ['/2'] });
    await make(id, { kind: 'add', entries: [{ value: '/4' }] });
    const first = await store.latest.lists.page(id, { after: -1, limit: 2 });
    expect(first.map(({ value }) => value)).toEqual(['/1', '/3']);
    const rest = await store.latest.lists.page(id, { after: first.at(-1)!.position, limit: 2 });
    expect(rest.map(({ value }) => value)).toEqual(['/4']);
  });

  test('a redirect is read as it was written', async () => {
    const { id } = await insert(ofDomain(), { kind: 'redirect' });
    const written = [
      { value: '/a', to: 'https://a.example/', status: 308, comment: 'c' },
      { value: '/b', to: '/c' },
    ];
    await store.write((tx) => tx.lists.replaceEntries(id, packEntries('redirect', written), T));
    expect(await entries(id)).toEqual(written);
  });

  test('100,000 entries are replaced in one write of at most 10 seconds', { timeout: 60_000 }, async () => {
    const { id } = await insert(ofDomain(), { kind: 'ip' });
    const all = Array.from({ length: 100_000 }, (_, at) => ({
      value: `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`,
    }));
    const packed = packEntries('ip', all);
    for (let round = 0; round < 2; round++) {
      const started = performance.now();
      const row = await store.write((tx) => tx.lists.replaceEntries(id, packed, T));
      expect(row!.entries).toBe(100_000);
      expect(performance.now() - started).toBeLessThan(10_000);
    }
    expect((await entries(id))[99_999]).toEqual(all[99_999]);
  });

  test('a replacement that fails leaves the entries as they were', async () => {
    const { id } = await insert(ofDomain());
    await make(id, { kind: 'add', entries: [{ value: '/1' }] });
    const failing = store.write(async (tx) => {
      await tx.lists.replaceEntries(id, packEntries('path', [{ value: '/2' }]), T);
      throw new Error('refused');
    });
    await expect(failing).rejects.toThrow('refused');
    expect(await entries(id)).toEqual([{ value: '/1' }]);
    expect(await store.latest.lists.byId(id)).toMatchObject({ version: 2, entries: 1 });
  });

  test('a name is unique for its owner, and that of the domain means its own list', async () => {
    const account = await insert(ofAccount(), { kind: 'ip' });
    expect(await store.latest.lists.named(domain.id, ['a', 'b'])).toEqual(new Map([['a', account]]));
    const own = await insert(ofDomain());
    for (const [owner, subject] of [
      [ofDomain(), 'lists.domain_id'],
      [ofAccount(), 'lists.account_id'],
    ] as const) {
      await expect(insert(owner)).rejects.toMatchObject({
        code: 'conflict',
        subject: expect.stringContaining(subject),
      });
    }
    expect(await store.latest.lists.named(domain.id, ['a'])).toEqual(new Map([['a', own]]));
    expect(await store.latest.lists.named(other.id, ['a'])).toEqual(new Map([['a', account]]));
    expect(await store.latest.lists.kinds(domain.id)).toEqual(new Map([['a', 'path']]));
    expect(await store.latest.lists.kinds(other.id)).toEqual(new Map([['a', 'ip']]));
    expect(await store.latest.lists.list(ofAccount())).toEqual([account]);
    expect(await store.latest.lists.get(ofDomain(), 'b')).toBe(null);
  });

  test('a list reaches the domains whose rules mean it', async () => {
    const account = await insert(ofAccount());
    const first = await naming(domain);
    await naming(other, 'b');
    const reached = async (list: ListRow) => (await store.latest.lists.reached(list)).map(({ name }) => name);
    expect(await reached(account)).toEqual([domain.name]);
    const second = await naming(other);
    expect(await reached(account)).toEqual([domain.name, other.name]);
    expect(await store.latest.lists.naming(account, 9)).toEqual([
      { id: first.id, type: 'drop', domain_id: domain.id, domain: domain.name },
      { id: second.id, type: 'drop', domain_id: other.id, domain: other.name },
    ]);
    expect(await store.latest.lists.naming(account, 1)).toHaveLength(1);
    const own = await insert(ofDomain());
    expect(await reached(account)).toEqual([other.name]);
    expect(await reached(own)).toEqual([domain.name]);
    await store.write((tx) => tx.rules.remove({ domain_id: domain.id, type: 'drop', id: first.id }));
    expect(await reached(own)).toEqual([]);
    await store.write((tx) => tx.domains.remove(domain.id));
    expect(await store.latest.lists.byId(own.id)).toBe(null);
  });

  test('an update of a rule without lists leaves its lists as they are, one with lists replaces them', async () => {
    const { id } = await naming(domain);
    const key = { domain_id: domain.id, type: 'drop', id } as const;
    const change = { priority: 1, body: '{}', record_ids: [], updated_at: T };
    await store.write((tx) => tx.rules.update(key, change));
    expect(await store.latest.lists.uses(domain.id, 'stored')).toEqual([{ name: 'a', kind: 'path' }]);
    const lists = [{ name: 'b', kind: 'ip' }] as const;
    await store.write((tx) => tx.rules.update(key, { ...change, lists }));
    expect(await store.latest.lists.uses(domain.id, 'published')).toEqual(lists);
  });

  test('changes of lists wait as rows of their own kind, one a domain', async () => {
    await store.write((tx) => tx.outbox.append(outboxRow(domain)));
    const ids = await store.write((tx) =>
      tx.outbox.appendLists([domain, other], { ...SERVICE, at: T, reason: 'list `@a` changed' }),
    );
    const rows = await store.latest.outbox.list(domain.id);
    expect(rows.map(({ reason, lists_only }) => [reason, lists_only])).toEqual([
      ['rule.create', false],
      ['list `@a` changed', true],
    ]);
    expect(ids.get(domain.id)).toBe(rows[1]!.id);
    expect((await store.latest.outbox.list(other.id)).map(({ id }) => id)).toEqual([ids.get(other.id)]);
    expect(await store.write((tx) => tx.outbox.appendLists([], { ...SERVICE, at: T, reason: 'x' }))).toEqual(
      new Map(),
    );
  });

  describe('sealed forms', () => {
    const digest = 'd'.repeat(64);
    const seal = (id: number, version: number, at = T) =>
      store.write((tx) => tx.lists.putSealed(id, { version, digest, bytes: Uint8Array.of(1, 2), at }));
    const prune = (before: number) => store.write((tx) => tx.lists.prune(before, 10));
    const plan = 'e'.repeat(64);

    test('a digest is that of the version that was sealed', async () => {
      const { id } = await insert(ofDomain());
      expect(await seal(id, 1)).toBe(true);
      expect(await store.latest.lists.byId(id)).toMatchObject({ digest, sealed_version: 1, version: 1 });
      await make(id, { kind: 'add', entries: [{ value: '/1' }] });
      expect(await seal(id, 1)).toBe(false);
      expect(await store.latest.lists.byId(id)).toMatchObject({ digest, sealed_version: 1, version: 2 });
      expect([...(await store.latest.lists.blob(digest))!]).toEqual([1, 2]);
    });

    test('what a list or a stored plan refers to is not removed, all else after a time', async () => {
      const list = await insert(ofDomain());
      await seal(list.id, 1);
      expect(await prune(T + 1)).toBe(0);
      await store.write(async (tx) => {
        await tx.plans.putBlob(plan, Uint8Array.of(1), T);
        await tx.lists.filePlan(plan, [digest, digest]);
        await tx.lists.remove(list);
      });
      expect(await store.latest.lists.ofPlan(plan)).toEqual([digest]);
      expect(await prune(T + 1)).toBe(0);
      await store.write(async (tx) => {
        await tx.plans.publish({ ...outboxRow(domain), revision: 1, digest: plan, through: 0 });
        await tx.plans.publish({ ...outboxRow(domain), revision: 2, digest: null, through: 0 });
        expect(await tx.plans.prune(domain.name, [1])).toBe(1);
      });
      expect(await store.latest.lists.ofPlan(plan)).toEqual([]);
      expect(await prune(T)).toBe(0);
      expect(await prune(T + 1)).toBe(1);
      expect(await store.latest.lists.blob(digest)).toBe(null);
    });

    test('a plan cannot refer to a sealed list that is not stored', async () => {
      const filing = store.write(async (tx) => {
        await tx.plans.putBlob(plan, Uint8Array.of(1), T);
        await tx.lists.filePlan(plan, [digest]);
      });
      await expect(filing).rejects.toMatchObject({ code: 'missing' });
    });
  });
});
