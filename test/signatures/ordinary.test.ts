/** The starter signatures see no attack in ordinary traffic. */
import { expect, test } from 'vitest';
import { inspectRequest } from '../support/starter.ts';
import { type OrdinaryRequest, ordinaryTraffic } from '../support/traffic/ordinary.ts';

const traffic = ordinaryTraffic();
const plain = traffic.filter(({ hard }) => !hard);
const BLOCK_AT = 5;

function found(list: readonly OrdinaryRequest[], paranoia: number) {
  return list
    .map(({ kind, request }) => ({ kind, request, finding: inspectRequest(request, paranoia) }))
    .filter(({ finding }) => finding.matches.length > 0);
}

test('the ordinary traffic is large, of many kinds, and deterministic', () => {
  expect(plain.length).toBeGreaterThanOrEqual(2_000);
  expect(new Set(plain.map(({ kind }) => kind)).size).toBeGreaterThanOrEqual(20);
  expect(ordinaryTraffic()).toEqual(traffic);
  expect(traffic.some(({ hard }) => hard)).toBe(true);
});

test('no ordinary request is blocked or has a critical match at level 1', () => {
  const critical = found(plain, 1).flatMap(({ kind, finding }) =>
    finding.matches
      .filter(({ severity }) => severity <= 2)
      .map(({ id, variable, value }) => ({ kind, id, variable, value })),
  );
  expect(critical).toEqual([]);
  expect(found(plain, 1).filter(({ finding }) => finding.score >= BLOCK_AT)).toEqual([]);
});

test.each([1, 2, 3, 4])('no ordinary request exhausts the step budget at level %i', (paranoia) => {
  const cut = traffic.filter(({ request }) => inspectRequest(request, paranoia).exhausted);
  expect(cut.map(({ kind }) => kind)).toEqual([]);
});

test('level 1 blocks no ordinary request; the counts of all levels are printed', () => {
  const lines = [1, 2, 3, 4].map((paranoia) => {
    const count = (list: readonly OrdinaryRequest[]) =>
      found(list, paranoia).filter(({ finding }) => finding.score >= BLOCK_AT).length;
    const hard = traffic.filter((one) => one.hard);
    return `level ${paranoia}: ${count(plain)} of ${plain.length} ordinary, ${count(hard)} of ${hard.length} lessons blocked`;
  });
  console.log(lines.join('\n'));
  expect(lines[0]).toContain(`level 1: 0 of ${plain.length}`);
});
