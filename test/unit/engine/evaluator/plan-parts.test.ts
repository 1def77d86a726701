/** Plans with a registry: contained, or by digest beside lists, and what is said of a part that is not there. */
import { describe, expect, test } from 'vitest';
import { createOpenedLists } from '../../../../src/edge/following/opened-lists.ts';
import { compile } from '../../../../src/engine/compiler/compile.ts';
import { printPlan } from '../../../../src/engine/compiler/print.ts';
import { sealRegistry } from '../../../../src/engine/compiler/seal-registry.ts';
import { loadPlan, openPlanPart, type PlanPart } from '../../../../src/engine/evaluator/index.ts';
import { listsOfPlan, registryOfPlan } from '../../../../src/engine/evaluator/plan-parts.ts';
import { GATEWAYS_VERSION } from '../../../../src/engine/plan/layout.ts';
import {
  digestsIn,
  listDigests,
  REGISTRY_NAME,
  registryDigest,
  withListDigests,
} from '../../../../src/engine/plan/list-digests.ts';
import { openPlan, seal } from '../../../../src/engine/plan/seal.ts';
import type { Registry, SealedRegistry } from '../../../../src/rules/model/types.ts';
import { diffPlans } from '../../../../src/workbench/proofs/diff.ts';
import { addressList, byDigest, droppingSet, hexOf } from '../../../support/listed-plans.ts';
import { registryOf } from '../../../support/registries.ts';

const REGISTRY = registryOf({ consumers: [{ username: 'acme', keys: [{ sha256: 'ab'.repeat(32) }] }] });
const SEALED = sealRegistry(REGISTRY);
const OTHER = sealRegistry(registryOf({ consumers: [{ username: 'other' }] }));
const LIST = addressList('192.0.2.1');
const FILES = new Map([LIST, SEALED, OTHER].map((octets) => [hexOf(octets), octets]));

function planWith(registry: Registry | SealedRegistry): Uint8Array {
  const ruleSet = { ...droppingSet([byDigest('bad', LIST)], ['@bad']), registry };
  return seal(compile(ruleSet).plan, { revision: 1 });
}
const find = (digest: string): PlanPart | null => {
  const octets = FILES.get(digest);
  return octets === undefined ? null : openPlanPart(octets);
};

describe('a plan with a registry', () => {
  const contained = planWith(REGISTRY);
  const named = planWith({ digest: hexOf(SEALED) });

  test('has it in it, or refers to it beside its lists', () => {
    expect(digestsIn(contained)).toEqual([hexOf(LIST)]);
    expect(digestsIn(named)).toEqual([hexOf(LIST), hexOf(SEALED)]);
    for (const bytes of [contained, named]) {
      const { plan, version } = {
        ...openPlan(bytes),
        version: new DataView(bytes.buffer).getUint32(4, true),
      };
      expect(version).toBe(GATEWAYS_VERSION);
      expect(listsOfPlan(plan, { lists: find }).map(({ kind }) => kind)).toEqual(['ip']);
      expect(registryOfPlan(plan, { lists: find })?.consumer('acme')?.username).toBe('acme');
      expect(listDigests(plan).map(({ name }) => name)).toEqual(['bad']);
    }
    expect(registryDigest(openPlan(contained).plan)).toBeNull();
    expect(registryDigest(openPlan(named).plan)).toBe(hexOf(SEALED));
  });

  test('decides by its lists as one without', () => {
    const request = { scheme: 'https', method: 'GET', host: 'example.com', target: '/' };
    for (const bytes of [contained, named]) {
      const evaluator = loadPlan(bytes, { lists: find });
      expect(evaluator.evaluate({ ...request, ip: '192.0.2.1' }).action).toBe('block');
      expect(evaluator.evaluate({ ...request, ip: '192.0.2.2' }).action).toBe('forward');
    }
  });

  test('gets another one by its digest, as compiling would give it', () => {
    const changed = withListDigests(named, new Map([[REGISTRY_NAME, hexOf(OTHER)]]), 1);
    expect(changed).toEqual(planWith({ digest: hexOf(OTHER) }));
    expect(registryOfPlan(openPlan(changed).plan, { lists: find })?.consumer('other')).not.toBeNull();
  });

  test('is refused without it, and with a list in its place', () => {
    const without = (digest: string): PlanPart | null => (digest === hexOf(SEALED) ? null : find(digest));
    expect(() => loadPlan(named, { lists: without })).toThrow(
      `the plan names a registry with digest ${hexOf(SEALED)}, which is not there`,
    );
    const asList = (): PlanPart | null => openPlanPart(LIST);
    expect(() => loadPlan(named, { lists: asList })).toThrow('found a list of kind `ip`');
    const asRegistry = (): PlanPart | null => openPlanPart(SEALED);
    expect(() => loadPlan(named, { lists: asRegistry })).toThrow('found one of kind `registry`');
  });

  test('is printed with the digest or the size of its registry', () => {
    expect(printPlan(openPlan(named))).toMatchObject({ registry: { digest: hexOf(SEALED) } });
    const printed = printPlan(openPlan(contained));
    expect(printed).toMatchObject({ registry: { octets: SEALED.length } });
    expect(printPlan(openPlan(planWith(registryOf({ consumers: [{ username: 'acmf' }] }))))).not.toEqual(
      printed,
    );
  });

  test('differs from one with another registry', () => {
    const side = (bytes: Uint8Array) => ({ opened: openPlan(bytes) });
    const { same, domain } = diffPlans(side(named), side(planWith({ digest: hexOf(OTHER) })));
    expect(same).toBe(false);
    expect(domain).toEqual([{ field: 'registry.digest', was: hexOf(SEALED), now: hexOf(OTHER) }]);
    expect(diffPlans(side(named), side(named)).same).toBe(true);
  });

  test('shares the registry of its digest with the other plans of a process', () => {
    let reads = 0;
    const opened = createOpenedLists((digest) => {
      reads++;
      return FILES.get(digest)!;
    });
    const [first, second] = [opened.get(hexOf(SEALED)), opened.get(hexOf(SEALED))];
    expect([first.kind, first === second, reads]).toEqual(['registry', true, 1]);
  });
});
