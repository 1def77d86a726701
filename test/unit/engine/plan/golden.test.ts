/** Plans that landed keep opening and deciding as they did, or refuse with their sentence. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Evaluator, loadPlan, PlanFault } from '../../../../src/engine/evaluator/index.ts';
import { HEADER, OLDEST_VERSION, PLAN_VERSION } from '../../../../src/engine/plan/layout.ts';
import { decideGolden, type GoldenAnswers, makeGoldenPlans } from '../../../support/golden-plans.ts';

const FOLDER = new URL('../../../../fixtures/plans/', import.meta.url);
const NAMES = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.edgeplan'))
  .map((name) => name.replace(/\.edgeplan$/, ''));

function bytesOf(name: string): Uint8Array {
  return new Uint8Array(readFileSync(new URL(`${name}.edgeplan`, FOLDER)));
}

function answersOf(name: string): GoldenAnswers {
  return JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), 'utf8'));
}

test('the current version has its golden plans', () => {
  expect(NAMES).toEqual(expect.arrayContaining(makeGoldenPlans().map(({ name }) => name)));
});

test.each(NAMES)('%s', (name) => {
  const bytes = bytesOf(name);
  const version = new DataView(bytes.buffer).getUint32(HEADER.version * 4, true);
  expect(name).toMatch(new RegExp(`^v${version}-`));
  if (version < OLDEST_VERSION) {
    expect(() => loadPlan(bytes)).toThrow(PlanFault);
    expect(() => loadPlan(bytes)).toThrow(
      `the plan has version ${version}, this build reads ${OLDEST_VERSION} to ${PLAN_VERSION}; compile the plan again`,
    );
    return;
  }
  const { revision, answers } = answersOf(name);
  const opened: Evaluator = loadPlan(bytes);
  expect(opened.revision).toBe(revision);
  expect(answers.length).toBeGreaterThan(10);
  const decisions = decideGolden(
    bytes,
    answers.map(({ request }) => request),
  );
  for (const [index, { request, decision }] of answers.entries()) {
    expect(decisions[index], `request ${index}: ${JSON.stringify(request)}`).toEqual(decision);
  }
});

test('the golden plans of the current compiler decide as their files record', () => {
  for (const { name, answers } of makeGoldenPlans()) expect(answers).toEqual(answersOf(name).answers);
});

test('the version before today’s has its golden plans, which decide as they did', () => {
  expect(NAMES.filter((name) => name.startsWith(`v${OLDEST_VERSION}-`)).length).toBeGreaterThan(0);
});
