/** The order in which the items of sources are taken. */
import { describe, expect, it } from 'vitest';
import {
  FEWEST_REORDERED,
  inOrder,
  REORDERED_LINES,
  type Timed,
  type TimedSource,
} from '../../../../src/workbench/access-logs/in-order.ts';
import { seeded } from '../../../support/generate.ts';

interface Item extends Timed {
  readonly name: string;
}

/** A source whose items are at hand three at a time. */
function sourceOf(name: string, times: readonly number[]): TimedSource<Item> {
  let at = 0;
  let end = 0;
  return {
    next: () => (at < end ? { name: `${name}${at}`, time: times[at++]! } : null),
    fill: async () => {
      if (at >= times.length) return false;
      end = Math.min(times.length, at + 3);
      return true;
    },
  };
}

async function taken(...sources: readonly TimedSource<Item>[]) {
  const items: Item[] = [];
  const late = await inOrder(sources, (item) => items.push(item));
  return { items, late, names: items.map(({ name }) => name).join(' ') };
}

const range = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);

describe('items', () => {
  it('of several sources are merged by time; of equal times the first source comes first', async () => {
    const { names, late } = await taken(
      sourceOf('a', [1, 4, 4, 9]),
      sourceOf('b', [2, 4, 8]),
      sourceOf('c', []),
    );
    expect(names).toBe('a0 b0 a1 a2 b1 b2 a3');
    expect(late).toBe(0);
  });

  it('of one source are put in order; equal times stay as they came', async () => {
    const { names, late } = await taken(sourceOf('a', [5, 3, 3, 5, 4, 3, 5]));
    expect(names).toBe('a1 a2 a5 a4 a0 a3 a6');
    expect(late).toBe(0);
  });

  it('without a time stay after the one before', async () => {
    const { names } = await taken(sourceOf('a', [2, Number.NaN, 3]), sourceOf('b', [2.5, Number.NaN]));
    expect(names).toBe('a0 a1 b0 b1 a2');
  });

  it('in no order at all are put in order as long as they fit the window', async () => {
    const random = seeded(7);
    const times = range(REORDERED_LINES).map(() => random.int(60_000));
    const { items, late } = await taken(sourceOf('a', times));
    expect(late).toBe(0);
    expect(items.map(({ time }) => time)).toEqual([...times].sort((left, right) => left - right));
  });

  it('late by fewer than the smallest window are put in order without a growing one', async () => {
    const times = range(5_000).map((at) => (at % 97 === 96 ? at - FEWEST_REORDERED / 2 : at));
    const { late, items } = await taken(sourceOf('a', times));
    expect(late).toBe(0);
    expect(items).toHaveLength(5_000);
  });

  it('that come later than the window are taken late, and counted', async () => {
    const times = [...range(3 * REORDERED_LINES), 5, 6];
    const { items, late } = await taken(sourceOf('a', times));
    expect(late).toBe(2);
    expect(items).toHaveLength(times.length);
  });
});
