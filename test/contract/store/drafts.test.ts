/** Drafts against a model: stored and published rules, their differences and totals, whatever was written, on both databases. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ChangedRule, StoredBeside } from '../../../src/control/store/repositories/drafts.ts';
import type { RuleWrite } from '../../../src/control/store/repositories/rules.ts';
import type { Store, WriteTransaction } from '../../../src/control/store/store.ts';
import type { PatternRow, RuleRow } from '../../../src/control/store/tables/rules.ts';
import { newRule, seed, T } from '../../support/sample-rows.ts';
import { kinds, openForAll } from './databases.ts';

/** So few that rules share them. */
const PATTERNS: readonly PatternRow[] = ['', '2f00', '2f006100'].map((prefix, index) => ({
  digest: `p${index}`,
  octets: 10 ** index,
  build: 3 * 10 ** index,
  eighths: 7 * 10 ** index,
  prefix,
}));

/** A rule as the model has it. */
interface Known {
  readonly row: RuleRow;
  readonly content: string | null;
  readonly costs: NonNullable<RuleWrite['costs']>;
  readonly lists: NonNullable<RuleWrite['lists']>;
}

/** The lists that rules name. */
const LISTS = [
  { name: 'a', kind: 'ip' },
  { name: 'b', kind: 'path' },
] as const;

/** Rules by id; a published rule is the same object as the stored one until the draft changes it. */
interface Model {
  stored: Map<number, Known>;
  published: Map<number, Known>;
  edit: number;
}

const KINDS = [
  ...['insert', 'insert', 'update', 'update', 'back', 'prioritise', 'remove', 'remove', 'unscope'],
  ...['undone', 'publish', 'discard', 'note'],
] as const;

interface Step {
  readonly kind: (typeof KINDS)[number];
  readonly at: number;
  readonly type: 'drop' | 'error_page' | 'waf';
  readonly records: readonly number[];
  readonly name: string;
  readonly content: string | null;
  readonly costs: Known['costs'];
  readonly lists: Known['lists'];
}

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({
    kind: fc.constantFrom(...KINDS),
    at: fc.nat(50),
    type: fc.constantFrom('drop', 'error_page', 'waf'),
    records: fc.subarray([3, 5, 7]),
    name: fc.constantFrom('a', 'é', '0123456789'),
    content: fc.constantFrom(null, '{"0":"ü"}'),
    costs: fc.record({ addresses: fc.nat(9), patterns: fc.subarray([...PATTERNS]) }),
    lists: fc.subarray([...LISTS]),
  }),
  { minLength: 8, maxLength: 40 },
);

function bodyOf({ name, records }: Pick<Step, 'name' | 'records'>): string {
  return JSON.stringify({ name, record_ids: records });
}

/** The body without a record. */
function without(body: string, record: number): string {
  const { name, record_ids: records } = JSON.parse(body) as { name: string; record_ids: number[] };
  return bodyOf({ name, records: records.filter((id) => id !== record) });
}

function writeOf({ row, content, costs, lists }: Known): RuleWrite {
  const { record_ids } = JSON.parse(row.body) as { readonly record_ids: readonly number[] };
  return { priority: row.priority, body: row.body, record_ids, content, costs, lists };
}

/** Runs one step on the store and on the model. */
async function run(tx: WriteTransaction, domainId: number, model: Model, step: Step): Promise<void> {
  const { kind, content, costs, lists } = step;
  if (kind === 'publish') {
    await tx.drafts.publish(domainId);
    model.published = new Map(model.stored);
    model.edit += 1;
    return;
  }
  if (kind === 'discard') {
    await tx.drafts.discard(domainId);
    model.stored = new Map(model.published);
    model.edit += 1;
    return;
  }
  if (kind === 'note') {
    model.edit += 1;
    expect(await tx.drafts.addEdit(domainId, T + model.edit)).toBe(model.edit);
    return;
  }
  const rules = [...model.stored.values()];
  const rule = rules[step.at % (rules.length + 1)];
  if (kind === 'insert' || rule === undefined) {
    const write = { priority: step.at, body: bodyOf(step), record_ids: step.records, content, costs, lists };
    const row = await tx.rules.insert(newRule(domainId, { ...write, type: step.type }));
    model.stored.set(row.id, { row, content, costs, lists });
    return;
  }
  const { id, type } = rule.row;
  await runOn(tx, { domain_id: domainId, type, id }, { model, rule, step });
}

interface OnRule {
  readonly model: Model;
  readonly rule: Known;
  readonly step: Step;
}

async function runOn(
  tx: WriteTransaction,
  key: { readonly domain_id: number; readonly type: RuleRow['type']; readonly id: number },
  { model, rule, step }: OnRule,
): Promise<void> {
  const { id, domain_id: domainId } = key;
  switch (step.kind) {
    case 'update':
    case 'back': {
      const back = step.kind === 'back' ? model.published.get(id) : undefined;
      const wanted = back ?? {
        row: { ...rule.row, body: bodyOf(step), priority: step.at },
        content: step.content,
        costs: step.costs,
        lists: step.lists,
      };
      const row = (await tx.rules.update(key, { ...writeOf(wanted), updated_at: T + step.at }))!;
      model.stored.set(id, { ...wanted, row });
      return;
    }
    case 'prioritise':
      await tx.rules.prioritise(domainId, [{ id, priority: step.at }], T + step.at);
      model.stored.set(id, { ...rule, row: { ...rule.row, priority: step.at, updated_at: T + step.at } });
      return;
    case 'remove':
      expect(await tx.rules.remove(key)).toBe(true);
      model.stored.delete(id);
      return;
    case 'unscope':
      return unscope(tx, domainId, { model, record: [3, 5, 7][step.at % 3]! });
    default:
      await tx
        .attempt(async () => {
          await tx.rules.update(key, { ...writeOf(rule), priority: 4_711, updated_at: T });
          await tx.rules.remove(key);
          throw UNDONE;
        })
        .catch((error: unknown) => {
          if (error !== UNDONE) throw error;
        });
  }
}

/** A record is deleted: the rules of both sides lose it, which is no change of the draft. */
async function unscope(
  tx: WriteTransaction,
  domainId: number,
  { model, record }: { readonly model: Model; readonly record: number },
): Promise<void> {
  const beside = await tx.drafts.naming(domainId, [record]);
  const named = await tx.rules.naming(domainId, [record]);
  await tx.drafts.rescope(
    domainId,
    beside.map((row) => ({ id: row.rule_id, body: without(row.body!, record) })),
  );
  const changed = named.map((row) => {
    const body = without(row.body, record);
    return { id: row.id, body, record_ids: (JSON.parse(body) as { record_ids: number[] }).record_ids };
  });
  await tx.rules.rescope(domainId, changed, T + 99);
  const renewed = new Map<Known, Known>();
  for (const [id, one] of model.stored) {
    const body = without(one.row.body, record);
    if (body === one.row.body) continue;
    const now = { ...one, row: { ...one.row, body, updated_at: T + 99 } };
    renewed.set(one, now);
    model.stored.set(id, now);
  }
  for (const [id, one] of model.published) {
    const body = without(one.row.body, record);
    if (body === one.row.body) continue;
    model.published.set(id, renewed.get(one) ?? { ...one, row: { ...one.row, body } });
  }
}

const UNDONE = new Error('undone');

function byOrder(rules: Iterable<Known>): readonly Known[] {
  const keyOf = ({ row }: Known) => [row.type, row.priority, row.id] as const;
  return [...rules].sort((a, b) => {
    const [one, other] = [keyOf(a), keyOf(b)];
    if (one[0] !== other[0]) return one[0] < other[0] ? -1 : 1;
    return one[1] - other[1] || one[2] - other[2];
  });
}

function changesOf({ stored, published }: Model): readonly ChangedRule[] {
  const ids = [...new Set([...stored.keys(), ...published.keys()])].sort((a, b) => a - b);
  return ids.flatMap((id): readonly ChangedRule[] => {
    const [now, was] = [stored.get(id), published.get(id)];
    const { type } = (now ?? was)!.row;
    const updated_at = now?.row.updated_at ?? null;
    if (was === undefined) return [{ id, type, change: 'created', updated_at }];
    if (now === undefined) return [{ id, type, change: 'deleted', updated_at }];
    if (was.row.body !== now.row.body || was.content !== now.content)
      return [{ id, type, change: 'changed', updated_at }];
    return was.row.priority === now.row.priority ? [] : [{ id, type, change: 'reordered', updated_at }];
  });
}

function contentsOf(rules: ReadonlyMap<number, Known>) {
  return [...rules.values()]
    .flatMap(({ row, content }) => (content === null ? [] : [{ rule_id: row.id, content }]))
    .sort((a, b) => a.rule_id - b.rule_id);
}

/** Published rules that the draft has changed or removed. */
function besideOf({ stored, published }: Model, type: Step['type']): readonly StoredBeside[] {
  return [...published.values()]
    .filter((known) => known.row.type === type && stored.get(known.row.id) !== known)
    .map(({ row: { id, body } }) => ({ id, body }))
    .sort((a, b) => a.id - b.id);
}

async function compare(store: Store, domainId: number, model: Model): Promise<void> {
  const { rules, drafts } = store.latest;
  expect(await rules.listAll(domainId)).toEqual(byOrder(model.stored.values()).map(({ row }) => row));
  expect(await drafts.publishedRules(domainId)).toEqual(
    byOrder(model.published.values()).map(({ row }) => row),
  );
  for (const type of ['drop', 'waf'] as const)
    expect(await drafts.beside(domainId, type)).toEqual(besideOf(model, type));
  expect(await rules.contents(domainId)).toEqual(contentsOf(model.stored));
  expect(await drafts.publishedContents(domainId)).toEqual(contentsOf(model.published));
  const changes = changesOf(model);
  expect(await drafts.changes(domainId, { after: 0, limit: 1_000 })).toEqual(changes);
  expect(await drafts.count(domainId)).toBe(changes.length);
  expect((await drafts.get(domainId))?.edit).toBe(model.edit);
  const named = (record: number) =>
    [...model.stored.values()]
      .filter(({ row }) => (JSON.parse(row.body) as { record_ids: number[] }).record_ids.includes(record))
      .map(({ row }) => row.id)
      .sort((a, b) => a - b);
  for (const record of [3, 5, 7]) {
    expect((await rules.naming(domainId, [record])).map(({ id }) => id)).toEqual(named(record));
  }
  await compareTotals(store, domainId, [...model.stored.values()]);
  await compareLists(store, domainId, model);
}

/** The lists are those that the stored and the published rules name, and every rule that names one is found. */
async function compareLists(store: Store, domainId: number, { stored, published }: Model): Promise<void> {
  const { lists } = store.latest;
  const names = (rules: Model['stored']) =>
    LISTS.filter(({ name }) =>
      [...rules.values()].some((rule) => rule.lists.some((one) => one.name === name)),
    );
  expect(await lists.uses(domainId, 'stored')).toEqual(names(stored));
  expect(await lists.uses(domainId, 'published')).toEqual(names(published));
  for (const { name } of LISTS) {
    const list = { account_id: null, domain_id: domainId, name };
    const ids = [stored, published].flatMap((rules) =>
      [...rules].flatMap(([id, rule]) => (rule.lists.some((one) => one.name === name) ? [id] : [])),
    );
    const naming = await lists.naming(list, 1_000);
    expect(naming.map(({ id }) => id).sort((a, b) => a - b)).toEqual([...new Set(ids)].sort((a, b) => a - b));
    expect((await lists.reached(list)).length).toBe(ids.length > 0 ? 1 : 0);
  }
}

/** The totals are those of the stored rules. */
async function compareTotals(store: Store, domainId: number, stored: readonly Known[]): Promise<void> {
  const { rules } = store.latest;
  let [octets, addresses] = [0, 0];
  for (const { row, content, costs } of stored) {
    octets += Buffer.byteLength(row.body) + Buffer.byteLength(content ?? '');
    addresses += costs.addresses;
  }
  const totals = await rules.totals(domainId);
  const sum = (name: 'rules' | 'octets' | 'addresses') => totals.reduce((all, one) => all + one[name], 0);
  expect([sum('rules'), sum('octets'), sum('addresses')]).toEqual([stored.length, octets, addresses]);
  const patterns = [...new Set(stored.flatMap(({ costs }) => costs.patterns))];
  expect((await rules.patternCosts(domainId, { without: 0 })).octets).toBe(
    patterns.reduce((all, one) => all + one.octets, 0),
  );
}

describe.each(kinds)('$name', (kind) => {
  let store: Store;
  let made = 0;
  openForAll(kind, (opened) => {
    ({ store } = opened);
  });

  async function manual(): Promise<number> {
    made += 1;
    const { domain } = await store.write((tx) => seed(tx, `d${made}.example`));
    expect(domain.publish_mode).toBe('automatic');
    await store.write(async (tx) => {
      await tx.domains.update(domain.id, { publish_mode: 'manual' });
      await tx.drafts.begin(domain.id);
    });
    return domain.id;
  }

  test('stored and published rules, their differences and totals are those of the model', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const domainId = await manual();
        const model: Model = { stored: new Map(), published: new Map(), edit: 0 };
        for (const step of all) {
          await store.write((tx) => run(tx, domainId, model, step));
          await compare(store, domainId, model);
        }
        expect(await store.write((tx) => tx.domains.remove(domainId))).toBe(true);
        expect(await store.latest.drafts.get(domainId)).toBe(null);
        expect(await store.latest.drafts.publishedRules(domainId)).toEqual([]);
        expect((await store.latest.drafts.storedBeside(domainId)).rules).toBe(0);
      }),
      // Each step is several commits: the search for a smaller example ends before the test's time-out, which reports no seed.
      { numRuns: 15, interruptAfterTimeLimit: 90_000, markInterruptAsFailure: true },
    );
  });

  test('a domain that publishes automatically stores no rule twice', async () => {
    made += 1;
    const { domain } = await store.write((tx) => seed(tx, `d${made}.example`));
    const rule = await store.write((tx) => tx.rules.insert(newRule(domain.id)));
    const key = { domain_id: domain.id, type: rule.type, id: rule.id };
    await store.write((tx) =>
      tx.rules.update(key, { priority: 1, body: '{"x":1}', record_ids: [], updated_at: T }),
    );
    expect(await store.latest.drafts.storedBeside(domain.id)).toEqual({ rules: 0, octets: 0 });
    expect(await store.latest.drafts.get(domain.id)).toBe(null);
    expect(await store.latest.drafts.changes(domain.id, { after: 0, limit: 9 })).toEqual([]);
  });

  test('only rules that the draft changes are stored beside it, once', async () => {
    const domainId = await manual();
    const ids: number[] = [];
    for (let count = 0; count < 3; count++) {
      ids.push((await store.write((tx) => tx.rules.insert(newRule(domainId)))).id);
    }
    await store.write((tx) => tx.drafts.publish(domainId));
    const key = { domain_id: domainId, type: 'drop', id: ids[1]! } as const;
    for (const priority of [1, 2]) {
      const change = { priority, body: '{"x":1}', record_ids: [], updated_at: T };
      await store.write((tx) => tx.rules.update(key, change));
    }
    expect(await store.latest.drafts.storedBeside(domainId)).toEqual({ rules: 1, octets: 2 });
    const page = await store.latest.drafts.changes(domainId, { after: ids[1]!, limit: 9 });
    expect(page).toEqual([]);
  });
});
