/** How much of the attack traffic the starter signatures find, by spelling. */
import { expect, test } from 'vitest';
import { inspectRequest, starter } from '../support/starter.ts';
import {
  ATTACK_PLACES,
  ATTACK_SPELLINGS,
  type AttackPlace,
  type AttackRequest,
  type AttackSpelling,
  attackTraffic,
} from '../support/traffic/attacks.ts';

const first = new Set(starter().program.levels[0]!.rules.map(({ id }) => id));
const attacks = attackTraffic().filter(({ id }) => first.has(id));

/** Shares that level 1 blocks, as measured and rounded down: a signature that stops working shows here. */
const SPELLING_FLOORS: Readonly<Record<AttackSpelling, number>> = {
  plain: 0.85,
  'double url': 0.75,
  // Entities are undone only where a browser would: in attributes that hold a URL.
  'html entities': 0.04,
  'mixed case': 0.83,
  comments: 0.74,
  'tabs and lines': 0.85,
  '%u escapes': 0.74,
  'null octets': 0.45,
};
const PLACE_FLOORS: Readonly<Record<AttackPlace, number>> = {
  query: 1,
  name: 1,
  form: 0.95,
  json: 0.95,
  multipart: 0.95,
  cookie: 0.9,
  path: 0.75,
  // Few families look at headers.
  header: 0.4,
};

function share(list: readonly AttackRequest[], paranoia: number): number {
  return list.filter(({ request }) => inspectRequest(request, paranoia).score >= 5).length / list.length;
}

test('the attack traffic is large and has every spelling in every place', () => {
  expect(attacks.length).toBeGreaterThanOrEqual(500);
  const pairs = new Set(attacks.map(({ spelling, place }) => `${spelling}/${place}`));
  expect(pairs.size).toBe(ATTACK_SPELLINGS.length * ATTACK_PLACES.length);
  expect(attackTraffic()).toEqual(attackTraffic());
});

test.each(ATTACK_SPELLINGS)('%s', (spelling) => {
  const list = attacks.filter((one) => one.spelling === spelling);
  const shares = [1, 2, 3].map((paranoia) => share(list, paranoia));
  const percent = shares.map((one) => `${Math.floor(one * 100)} %`).join(', ');
  console.log(`${spelling}: ${list.length} requests, blocked at levels 1, 2, 3: ${percent}`);
  expect(shares[0]).toBeGreaterThanOrEqual(SPELLING_FLOORS[spelling]);
});

test.each(ATTACK_PLACES)('plain attacks in %s are detected', (place) => {
  const list = attacks.filter((one) => one.spelling === 'plain' && one.place === place);
  expect(share(list, 1)).toBeGreaterThanOrEqual(PLACE_FLOORS[place]);
});
