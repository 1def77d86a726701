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
