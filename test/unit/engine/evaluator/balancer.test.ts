import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  createPoolState,
  createTurnState,
  type Pool,
  type PoolState,
  pick,
  pickInTurn,
  type Surroundings,
} from '../../../../src/engine/evaluator/balancer.ts';

const ADVANCE = { advance: true };
const PEEK = { advance: false };

function poolOf(
  lbType: Pool['lbType'],
  weights: number[],
  nodeIds: number[][] = weights.map(() => []),
): Pool {
  return { lbType, weights, nodeIds };
}

function around({
  down = [],
  loads = [],
  nodeId = null,
}: {
  down?: number[];
  loads?: number[];
  nodeId?: number | null;
} = {}): Surroundings {
  return { nodeId, healthy: (i) => !down.includes(i), inFlight: (i) => loads[i] ?? 0 };
}

function picks(pool: Pool, state: PoolState, { count, here }: { count: number; here: Surroundings }): string {
  return Array.from({ length: count }, () => 'abcdefgh'[pick(pool, state, here, ADVANCE)]).join(' ');
}

describe('round_robin', () => {
  test('spreads weights 5, 1, 1 as nginx does, round after round', () => {
    const pool = poolOf('round_robin', [5, 1, 1]);
    const state = createPoolState(3);
    expect(picks(pool, state, { count: 14, here: around() })).toBe('a a b a c a a a a b a c a a');
  });

  test('takes equals in order, and never a weight of 0', () => {
    const state = createPoolState(4);
    expect(picks(poolOf('round_robin', [1, 0, 1, 1]), state, { count: 7, here: around() })).toBe(
      'a c d a c d a',
    );
  });

  test('round_robin skips origins that are down, and uses all but the drained when every one is down', () => {
    const pool = poolOf('round_robin', [1, 1, 1, 0]);
    expect(picks(pool, createPoolState(4), { count: 4, here: around({ down: [0, 3] }) })).toBe('b c b c');
    expect(picks(pool, createPoolState(4), { count: 4, here: around({ down: [1, 0, 2] }) })).toBe('a b c a');
  });

  test('round_robin leaves the rotation of skipped origins unchanged', () => {
    const pool = poolOf('round_robin', [2, 1]);
    const state = createPoolState(2);
    // Standings after a: a -1, b 1. While b is out, a alone moves by 2 - 2.
    expect(picks(pool, state, { count: 1, here: around() })).toBe('a');
    expect(picks(pool, state, { count: 3, here: around({ down: [1] }) })).toBe('a a a');
    expect([...state.standing]).toEqual([-1, 1]);
    expect(picks(pool, state, { count: 2, here: around() })).toBe('b a');
  });
});

describe('least_load', () => {
  test('takes the fewest requests for the weight', () => {
    const pool = poolOf('least_load', [1, 2, 4]);
    expect(picks(pool, createPoolState(3), { count: 1, here: around({ loads: [1, 1, 3] }) })).toBe('b');
    expect(picks(pool, createPoolState(3), { count: 1, here: around({ loads: [5, 9, 17] }) })).toBe('c');
    expect(picks(pool, createPoolState(3), { count: 1, here: around({ loads: [0, 1, 1], down: [0] }) })).toBe(
      'c',
    );
  });

  test('rotates among equal shares only', () => {
    const pool = poolOf('least_load', [3, 6, 1]);
    const state = createPoolState(3);
    // 1/3 and 2/6 are equal; c is busier. Standings: b 6, a 3 of 9; then a 6, b 3; then b 9, a 0 …
    expect(picks(pool, state, { count: 6, here: around({ loads: [1, 2, 1] }) })).toBe('b a b b a b');
    expect(state.standing[2]).toBe(0);
  });

  test('least_load counts a load that is not a number above 0 as 0', () => {
    const pool = poolOf('least_load', [1, 1, 1]);
    const here = around({ loads: [2, Number.NaN, -7] });
    expect(picks(pool, createPoolState(3), { count: 4, here })).toBe('b c b c');
  });
});

describe('geo', () => {
  const pool = poolOf('geo', [1, 9, 1, 1, 0], [[7], [7, 8], [], [], [9]]);

  test('takes the origins of this node, else those of no node, else all', () => {
    const from = (nodeId: number | null) =>
      picks(pool, createPoolState(5), { count: 4, here: around({ nodeId }) });
    expect(from(7)).toBe('a b a b');
    expect(from(8)).toBe('b b b b');
    expect(from(1)).toBe('c d c d');
    expect(from(null)).toBe('c d c d');
    // Node 9 is named only by a drained origin.
    expect(from(9)).toBe('c d c d');
    const named = poolOf('geo', [1, 1, 0], [[7], [8], []]);
    expect(picks(named, createPoolState(3), { count: 4, here: around({ nodeId: 1 }) })).toBe('a b a b');
  });

  test('geo uses the next group when one is down, and the first when all are', () => {
    const from = (down: number[]) =>
      picks(pool, createPoolState(5), { count: 4, here: around({ nodeId: 7, down }) });
    expect(from([0])).toBe('b b b b');
    expect(from([0, 1])).toBe('c d c d');
    expect(from([0, 1, 2])).toBe('d d d d');
    expect(from([0, 1, 2, 3])).toBe('a b a b');
    const fromElsewhere = picks(pool, createPoolState(5), {
      count: 4,
      here: around({ nodeId: 1, down: [2, 3] }),
    });
    expect(fromElsewhere).toBe('a b a b');
  });
});

describe('records of one host', () => {
  test('several records of one host are chosen in turn, in the order of their ids', () => {
    const state = createTurnState();
    const turns = Array.from({ length: 5 }, () => pickInTurn(3, state, ADVANCE));
    expect(turns).toEqual([0, 1, 2, 0, 1]);
    expect([pickInTurn(3, state, PEEK), pickInTurn(3, state, PEEK)]).toEqual([2, 2]);
  });

  test('a single record is always chosen, and a group that shrank restarts its turns', () => {
    expect([pickInTurn(1, createTurnState(), ADVANCE), pickInTurn(2, { next: 5 }, ADVANCE)]).toEqual([0, 0]);
  });
});

const pools = fc.integer({ min: 1, max: 8 }).chain((count) =>
  fc.record({
    lbType: fc.constantFrom('round_robin' as const, 'least_load' as const, 'geo' as const),
    weights: fc
      .array(fc.integer({ min: 0, max: 20 }), { minLength: count, maxLength: count, size: 'max' })
      .filter((list) => list.some((weight) => weight > 0)),
    nodeIds: fc.array(fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 2 }), {
      minLength: count,
      maxLength: count,
      size: 'max',
    }),
  }),
);
const moments = fc.record({
  down: fc.array(fc.nat(7), { maxLength: 8 }),
  loads: fc.array(fc.integer({ min: 0, max: 6 }), { maxLength: 8 }),
  nodeId: fc.option(fc.integer({ min: 1, max: 4 })),
});

test('a peek returns the next pick and does not change the state', () => {
  fc.assert(
    fc.property(pools, fc.array(moments, { maxLength: 30, size: 'max' }), (pool, list) => {
      const state = createPoolState(pool.weights.length);
      for (const moment of list) {
        const before = [...state.standing];
        const peeked = pick(pool, state, around(moment), PEEK);
        expect([...state.standing]).toEqual(before);
        expect(pick(pool, state, around(moment), ADVANCE)).toBe(peeked);
        expect(pool.weights[peeked]).toBeGreaterThan(0);
      }
    }),
    { numRuns: 200 },
  );
});

test('a healthy origin is picked whenever one exists', () => {
  fc.assert(
    fc.property(pools, moments, (pool, moment) => {
      const index = pick(pool, createPoolState(pool.weights.length), around(moment), PEEK);
      const some = pool.weights.some((weight, i) => weight > 0 && !moment.down.includes(i));
      expect(moment.down.includes(index)).toBe(!some);
    }),
    { numRuns: 500 },
  );
});

test('round_robin gives every origin its exact share of each round, and no origin is ever a whole request ahead', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 1, maxLength: 8, size: 'max' }),
      fc.nat(3),
      (weights, rounds) => {
        fc.pre(weights.some((weight) => weight > 0));
        const sum = weights.reduce((a, b) => a + b, 0);
        const pool = poolOf('round_robin', weights);
        const state = createPoolState(weights.length);
        const taken = weights.map(() => 0);
        for (let step = 1; step <= sum * (rounds + 1); step++) {
          taken[pick(pool, state, around(), ADVANCE)]! += 1;
          for (const [i, weight] of weights.entries())
            expect(taken[i]! - (step * weight) / sum).toBeLessThan(1);
        }
        expect(taken).toEqual(weights.map((weight) => weight * (rounds + 1)));
      },
    ),
    { numRuns: 100 },
  );
});
