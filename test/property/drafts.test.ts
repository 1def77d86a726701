/**
 * Random sequences of rule writes, publications, discards, changes of the mode, record writes and restarts, over real HTTP: the
 * published plan is always that of the rules which the model has as published.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { printPlan } from '../../src/engine/compiler/print.ts';
import { openPlan } from '../../src/engine/plan/seal.ts';
import { type TestDatabase, testDatabases } from '../support/databases.ts';
import { addDomain, type House, openHouse } from '../support/publish-setup.ts';

/** Each process makes a key, and an account has at most ten. */
const MAX_RESTARTS = 8;

const KINDS = [
  ...['create', 'create', 'change', 'change', 'toggle', 'remove', 'reorder', 'record'],
  ...['publish', 'discard', 'manual', 'manual', 'automatic', 'restart'],
] as const;

const steps = fc.array(
  fc.record({ kind: fc.constantFrom(...KINDS), at: fc.nat(20), path: fc.constantFrom('/a', '/b', '/c/*') }),
  { minLength: 6, maxLength: 18 },
);

interface Rule {
  readonly path: string;
  readonly enabled: boolean;
  readonly priority: number;
}

interface Model {
  manual: boolean;
  stored: Map<number, Rule>;
  published: Map<number, Rule>;
}

class Site {
  readonly model: Model = { manual: false, stored: new Map(), published: new Map() };
  readonly name: string;
  readonly house: () => House;
  records = 1;

  constructor(house: () => House, name: string) {
    this.house = house;
    this.name = name;
  }

  async call(method: string, below: string, body?: unknown) {
    return this.house().call(method, `/domains/${this.name}${below}`, body);
  }

  /** Runs a step and returns whether it was accepted. */
  async run({ kind, at, path }: typeof steps extends fc.Arbitrary<(infer S)[]> ? S : never): Promise<void> {
    const { model } = this;
    const ids = [...model.stored.keys()];
    const id = ids[at % Math.max(1, ids.length)];
    switch (kind) {
      case 'manual':
      case 'automatic':
        return this.#setMode(kind);
      case 'publish': {
        const { status } = await this.call('POST', '/draft/publish');
        expect(status).toBe(model.manual ? 200 : 409);
        if (model.manual) model.published = new Map(model.stored);
        return;
      }
      case 'discard': {
        const { status } = await this.call('DELETE', '/draft');
        expect(status).toBe(model.manual ? 200 : 409);
        if (model.manual) model.stored = new Map(model.published);
        return;
      }
      case 'record': {
        const record = { name: `h${this.records++}`, type: 'A', destination: '198.51.100.1', proxied: true };
        expect((await this.call('POST', '/records/', record)).status).toBe(200);
        return;
      }
      case 'restart':
        return;
      default:
        await this.#writeRule(kind, { id, at, path });
        if (!model.manual) model.published = new Map(model.stored);
    }
  }

  async #setMode(publish_mode: 'manual' | 'automatic'): Promise<void> {
    const { model } = this;
    const waits = differs(model.stored, model.published);
    const { status } = await this.call('PUT', '/publishing', { publish_mode });
    const isRefused = publish_mode === 'automatic' && model.manual && waits;
    expect(status).toBe(isRefused ? 409 : 200);
    if (!isRefused) model.manual = publish_mode === 'manual';
  }

  async #writeRule(
    kind: string,
    { id, at, path }: { readonly id: number | undefined; readonly at: number; readonly path: string },
  ): Promise<void> {
    const { stored } = this.model;
    if (kind === 'create' || id === undefined) {
      const sent = { path_includes: [path], countries: ['DE'], priority: at };
      const { body } = await this.call('POST', '/rules/drop/', sent);
      stored.set(body.id, { path, enabled: true, priority: at });
      return;
    }
    const rule = stored.get(id)!;
    if (kind === 'change') {
      await this.call('PUT', `/rules/drop/${id}`, { path_includes: [path], priority: at });
      stored.set(id, { ...rule, path, priority: at });
    } else if (kind === 'toggle') {
      await this.call('PATCH', `/rules/drop/${id}/toggle`);
      stored.set(id, { ...rule, enabled: !rule.enabled });
    } else if (kind === 'remove') {
      await this.call('DELETE', `/rules/drop/${id}`);
      stored.delete(id);
    } else {
      const order = [...stored.keys()].sort((a, b) => ((a * (at + 3)) % 7) - ((b * (at + 3)) % 7) || a - b);
      expect((await this.call('PUT', '/rules/drop/reorder', { ids: order })).status).toBe(200);
      order.forEach((one, index) => {
        stored.set(one, { ...stored.get(one)!, priority: (index + 1) * 10 });
      });
    }
  }

  /** The rules of the published plan, and those that the API shows, are those of the model. */
  async compare(): Promise<void> {
    const { store, publisher } = this.house();
    await publisher.publishNow();
    const current = await store.latest.plans.current(this.name);
    const opened = openPlan((await store.latest.plans.blob(current!.digest!))!);
    const { rules } = printPlan(opened) as { readonly rules: readonly Record<string, unknown>[] };
    const planned = rules.map(({ id, enabled, priority, path }) => {
      const [include] = (path as { readonly includes: readonly { readonly source: string }[] }).includes;
      return [id, { path: include?.source ?? include, enabled, priority }];
    });
    expect(new Map(planned as [number, Rule][])).toEqual(this.model.published);
    const { body } = await this.call('GET', '/rules/drop/');
    const shown = body.map((one: Record<string, unknown>) => [
      one['id'],
      { path: (one['path_includes'] as string[])[0], enabled: one['enabled'], priority: one['priority'] },
    ]);
    expect(new Map(shown)).toEqual(this.model.stored);
    const draft = (await this.call('GET', '/draft')).body;
    expect(draft.changed > 0).toBe(this.model.manual && differs(this.model.stored, this.model.published));
  }
}

function differs(a: ReadonlyMap<number, Rule>, b: ReadonlyMap<number, Rule>): boolean {
  const text = (rules: ReadonlyMap<number, Rule>) =>
    JSON.stringify([...rules].sort(([one], [other]) => one - other));
  return text(a) !== text(b);
}

describe.each(testDatabases())('$kind', (database: TestDatabase) => {
  let made: Awaited<ReturnType<TestDatabase['make']>>;
  let house: House;
  let [count, restarts] = [0, 0];
  beforeAll(async () => {
    made = await database.make();
    house = await openHouse({ database: made.database, idle: true });
  });
  afterAll(async () => {
    await house.close();
    await made.drop();
  });

  test('the published plan has the published rules of the model after every step', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        count += 1;
        const site = new Site(() => house, `d${count}.test`);
        await addDomain(house, site.name);
        for (const step of all) {
          await site.run(step);
          if (step.kind === 'restart' && restarts < MAX_RESTARTS) {
            restarts += 1;
            await house.close();
            house = await openHouse({ database: made.database, idle: true });
          }
          await site.compare();
        }
      }),
      { numRuns: 12 },
    );
  });
});
