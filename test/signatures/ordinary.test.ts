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

test('the traffic is large, of many kinds, and the same each time', () => {
  expect(plain.length).toBeGreaterThanOrEqual(2_000);
  expect(new Set(plain.map(({ kind }) => kind)).size).toBeGreaterThanOrEqual(20);
  expect(ordinaryTraffic()).toEqual(traffic);
  expect(traffic.some(({ hard }) => hard)).toBe(true);
});

test('nothing is blocked at level 1, and nothing critical is seen', () => {
  const critical = found(plain, 1).flatMap(({ kind, finding }) =>
    finding.matches
      .filter(({ severity }) => severity <= 2)
      .map(({ id, variable, value }) => ({ kind, id, variable, value })),
  );
  expect(critical).toEqual([]);
  expect(found(plain, 1).filter(({ finding }) => finding.score >= BLOCK_AT)).toEqual([]);
});

test.each([1, 2, 3, 4])('nothing is cut off by the step budget at level %i', (paranoia) => {
  const cut = traffic.filter(({ request }) => inspectRequest(request, paranoia).exhausted);
  expect(cut.map(({ kind }) => kind)).toEqual([]);
});

test('what the higher levels see, and what lessons about attacks cost', () => {
  const lines = [1, 2, 3, 4].map((paranoia) => {
    const count = (list: readonly OrdinaryRequest[]) =>
      found(list, paranoia).filter(({ finding }) => finding.score >= BLOCK_AT).length;
    const hard = traffic.filter((one) => one.hard);
    return `level ${paranoia}: ${count(plain)} of ${plain.length} ordinary, ${count(hard)} of ${hard.length} lessons blocked`;
  });
  console.log(lines.join('\n'));
  expect(lines[0]).toContain(`level 1: 0 of ${plain.length}`);
});
