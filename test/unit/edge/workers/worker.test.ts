/** Installation of the primary's plans in a worker, from files that may be unreadable or damaged. */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createPlanTable, type PlanTable } from '../../../../src/edge/following/plan-table.ts';
import { createPlanTaker, type PlanTaker } from '../../../../src/edge/workers/worker.ts';
import { compile, seal } from '../../../../src/engine/compiler/index.ts';
import { parseRuleSet } from '../../../../src/rules/model/parse.ts';
import { DOMAIN, RECORDS } from '../../../support/edge-journal.ts';
import { addressList, hexOf, listedPlan } from '../../../support/listed-plans.ts';

const NAME = 'example.com';
const bytes = sealed();
const digest = createHash('sha256').update(bytes).digest('hex');
const CHANGE = {
  kind: 'plan',
  name: NAME,
  plan: { revision: 1, digest, purgeEpoch: 0, purges: null, clearance: null, octets: null, previous: null },
} as const;

let folder: string;
let file: string;
let plans: PlanTable;
let taker: PlanTaker;
let damaged: string[];

function sealed(): Uint8Array {
  const parsed = parseRuleSet({ domain: DOMAIN, records: RECORDS, rules: [] });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.diagnostics));
  return seal(compile(parsed.ruleSet).plan, { revision: 1 });
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'edgeplan-taker-'));
  mkdirSync(join(folder, 'plans'));
  file = join(folder, 'plans', digest);
  damaged = [];
  plans = createPlanTable({
    evaluatorOptions: () => ({}),
    onChange: () => undefined,
    onFault: () => undefined,
    openOctets: 1_000_000,
  });
  taker = createPlanTaker({ plans, directory: folder, onDamaged: (name) => damaged.push(name) });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('a plan that the system could not read is read again and not reported as damaged', () => {
  // Stands for what the system lacks for a moment, such as descriptors.
  symlinkSync(file, file);
  taker.apply(CHANGE);
  expect(plans.find(NAME)).toBe('refused');
  rmSync(file);
  writeFileSync(file, bytes);
  expect(plans.find(NAME)).toMatchObject({ revision: 1 });
  expect(damaged).toEqual([]);
});

it('a damaged plan is reported once, and its name refused until the plan is installed again', () => {
  writeFileSync(file, 'damaged');
  taker.apply(CHANGE);
  for (let request = 0; request < 3; request++) expect(plans.find(NAME)).toBe('refused');
  expect(damaged).toEqual([NAME]);
  writeFileSync(file, bytes);
  taker.prepare(CHANGE)();
  expect(plans.find(NAME)).toMatchObject({ revision: 1 });
});

it('the reason why a plan cannot be prepared has no paths of this machine', () => {
  symlinkSync(file, file);
  let reason = '';
  try {
    taker.prepare(CHANGE);
  } catch (error) {
    reason = (error as Error).message;
  }
  expect(reason).toMatch(/^ELOOP/);
  expect(reason).not.toContain(folder);
});

it('a damaged list is reported as damage of the plan that names it, and the plan before serves meanwhile', () => {
  const lists = [addressList('192.0.2.1'), addressList('192.0.2.2')];
  const sealedPlans = lists.map((list, index) => listedPlan(list, index + 1));
  for (const octets of [...lists, ...sealedPlans])
    writeFileSync(join(folder, 'plans', hexOf(octets)), octets);
  const [before, now] = sealedPlans.map((octets) => ({ digest: hexOf(octets) }));
  const plan = { ...CHANGE.plan, ...now, revision: 2, previous: { revision: 1, ...before! } };
  const change = { ...CHANGE, plan: { ...plan, digest: now!.digest } };
  taker.prepare(change)();
  const blocks = (ip: string): boolean => {
    const found = plans.find(NAME);
    if (found === null || found === 'refused') throw new Error('the name is not served');
    const request = { scheme: 'https', method: 'GET', host: NAME, target: '/', ip };
    return found.evaluator.evaluate(request).action === 'block';
  };
  expect([blocks('192.0.2.1'), blocks('192.0.2.2')]).toEqual([false, true]);
  plans.delete(NAME);
  writeFileSync(join(folder, 'plans', hexOf(lists[1]!)), 'damaged');
  // A worker that starts has no list in memory.
  taker = createPlanTaker({ plans, directory: folder, onDamaged: (name) => damaged.push(name) });
  taker.apply(change);
  expect([blocks('192.0.2.1'), blocks('192.0.2.2')]).toEqual([true, false]);
  expect(damaged).toEqual([NAME]);
});
