/** The files of lists in a node's plan store, and the lists that a process has open. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { JournaledPlan } from '../../../../src/edge/following/journal.ts';
import { createOpenedLists } from '../../../../src/edge/following/opened-lists.ts';
import { DamageFault, openPlanStore, type PlanStore } from '../../../../src/edge/following/plan-store.ts';
import { createPlanTable, type Installed } from '../../../../src/edge/following/plan-table.ts';
import { addressList, hexOf, listedPlan } from '../../../support/listed-plans.ts';

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const LISTS = [addressList('192.0.2.1'), addressList('192.0.2.2')] as const;
const [FIRST, SECOND] = [hexOf(LISTS[0]), hexOf(LISTS[1])] as const;

let folder: string;
let store: PlanStore;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'edgeplan-lists-'));
  store = await openPlanStore(folder, log);
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const files = (): ReadonlySet<string> => new Set(readdirSync(join(folder, 'plans')));

function journaled(digest: string, previous: string | null = null): JournaledPlan {
  return {
    ...{ revision: 2, digest, tombstone: null, purgeEpoch: 0, keyId: 'k', clearance: null, purges: null },
    previous: previous === null ? null : { revision: 1, digest: previous },
  };
}

/** Stores a plan with its list, as an installation does, without a line of the journal. */
async function put(list: Uint8Array, revision: number, name = 'example.com'): Promise<string> {
  const plan = listedPlan(list, revision, name);
  store.useLists(hexOf(plan), [hexOf(list)]);
  await store.putPlan(hexOf(list), list);
  await store.putPlan(hexOf(plan), plan);
  return hexOf(plan);
}

async function reopen(): Promise<void> {
  await store.close();
  store = await openPlanStore(folder, log);
}

describe('the file of a list', () => {
  test('is removed with the last plan that names it', async () => {
    const plans = [await put(LISTS[0], 1, 'a.test'), await put(LISTS[0], 1, 'b.test')];
    await store.dropPlan(plans[0]!);
    expect(files()).toEqual(new Set([FIRST, plans[1]]));
    await store.dropPlan(plans[1]!);
    expect(files()).toEqual(new Set());
  });

  test('remains for the plan before, also after a restart', async () => {
    const [before, now] = [await put(LISTS[0], 1), await put(LISTS[1], 2)];
    await store.commit([{ kind: 'name', name: 'example.com', plan: journaled(now, before) }]);
    await reopen();
    await store.prune();
    expect(files()).toEqual(new Set([FIRST, SECOND, before, now]));
    await store.dropPlan(before);
    expect(files()).toEqual(new Set([SECOND, now]));
  });

  test('is removed after a crash before the journal named its plan', async () => {
    const named = await put(LISTS[0], 1);
    await store.commit([{ kind: 'name', name: 'example.com', plan: journaled(named) }]);
    // Killed between the list and its plan.
    await store.putPlan(SECOND, LISTS[1]);
    await reopen();
    expect(files()).toEqual(new Set([FIRST, SECOND, named]));
    await store.prune();
    expect(files()).toEqual(new Set([FIRST, named]));
  });

  test('of a plan that was refused is removed by the next pruning, unless another plan names it', async () => {
    store.useLists('refused', [FIRST, SECOND]);
    await store.putPlan(FIRST, LISTS[0]);
    await store.putPlan(SECOND, LISTS[1]);
    store.releaseLists('refused');
    const plan = await put(LISTS[1], 1);
    await store.commit([{ kind: 'name', name: 'example.com', plan: journaled(plan) }]);
    await store.prune();
    expect(files()).toEqual(new Set([SECOND, plan]));
  });

  test('is written after its removal when the content comes back', async () => {
    const plan = await put(LISTS[0], 1);
    const dropped = store.dropPlan(plan);
    const again = await put(LISTS[0], 2);
    await dropped;
    expect(files()).toEqual(new Set([FIRST, again]));
  });

  test('that is missing at the start is named', async () => {
    const plan = await put(LISTS[0], 1);
    await put(LISTS[1], 2);
    await store.commit([{ kind: 'name', name: 'example.com', plan: journaled(plan) }]);
    rmSync(join(folder, 'plans', FIRST));
    await reopen();
    expect(store.missingList(plan)).toBe(FIRST);
    expect(() => store.readList(FIRST)).toThrow(`there is no file of the list \`${FIRST}\``);
  });
});

describe('opened lists', () => {
  test('are read once while they are open, and verified on request', async () => {
    await put(LISTS[0], 1);
    let reads = 0;
    const lists = createOpenedLists((digest) => {
      reads++;
      return store.readList(digest);
    });
    const list = lists.get(FIRST);
    expect([lists.get(FIRST) === list, reads]).toEqual([true, 1]);
    writeFileSync(join(folder, 'plans', FIRST), 'damaged');
    expect(lists.get(FIRST)).toBe(list);
    expect(() => lists.verify(FIRST)).toThrow(DamageFault);
  });

  test('octets that are no list are not opened', () => {
    const lists = createOpenedLists(store.readList);
    expect(() => lists.add(FIRST, LISTS[0].slice(0, 30))).toThrow(/a sealed list has at least/);
    expect(() => lists.add(FIRST, LISTS[0].slice().fill(7, 40))).toThrow(/checksum/);
  });
});

describe('a table of plans that name lists', () => {
  const octets = (list: Uint8Array): Installed => {
    const bytes = listedPlan(list, 1);
    const lists = createOpenedLists(store.readList);
    return { revision: 1, digest: hexOf(bytes), purgeEpoch: 0, read: () => bytes, lists };
  };
  const tableOf = (openOctets: number, closed: string[] = []) =>
    createPlanTable({
      evaluatorOptions: () => ({}),
      onChange: (name, domain) => domain === null && closed.push(name),
      onFault: (name, error) => closed.push(`${name}: ${(error as Error).message}`),
      openOctets,
    });
  const LARGE = addressList(...Array.from({ length: 5_000 }, (_, at) => `10.${at >> 8}.${at & 255}.1`));
  const OTHER = addressList(...Array.from({ length: 5_000 }, (_, at) => `10.${at >> 8}.${at & 255}.2`));

  test('counts the octets of a list once, however many open plans name it', async () => {
    await put(LARGE, 1);
    const closed: string[] = [];
    const table = tableOf(LARGE.length + 400_000, closed);
    const names = Array.from({ length: 20 }, (_, at) => `d${at}.test`);
    for (const name of names) table.set(name, octets(LARGE));
    for (const name of names) table.find(name);
    expect([table.opened, closed]).toEqual([20, []]);
  });

  test('closes the plan that was used least recently when another list does not fit beside its own', async () => {
    await put(LARGE, 1);
    await put(OTHER, 2);
    const closed: string[] = [];
    const table = tableOf(LARGE.length + 100_000, closed);
    table.set('a.test', octets(LARGE));
    table.set('b.test', octets(OTHER));
    table.find('a.test');
    table.find('b.test');
    expect([table.opened, closed]).toEqual([1, ['a.test']]);
    // Its list is not counted any more.
    table.delete('b.test');
    table.find('a.test');
    expect([table.opened, closed]).toEqual([1, ['a.test', 'b.test']]);
  });

  test('serves the plan before while the file of a list is damaged', async () => {
    await put(LARGE, 1);
    await put(OTHER, 2);
    writeFileSync(join(folder, 'plans', hexOf(OTHER)), 'damaged');
    const faults: string[] = [];
    const table = tableOf(10_000_000, faults);
    table.set('a.test', { ...octets(OTHER), previous: { ...octets(LARGE), revision: 0 } });
    expect(table.find('a.test')).toMatchObject({ revision: 0 });
    expect(faults).toEqual([expect.stringContaining('a.test: the file of the list')]);
  });
});
