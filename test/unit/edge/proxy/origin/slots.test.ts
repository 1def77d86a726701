import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createSlots, type SlotRequest, type Slots } from '../../../../../src/edge/proxy/origin/slots.ts';

interface Asked {
  readonly leave: () => void;
  /** `waits`, `begun`, or why it was refused. */
  state: string;
  release: () => void;
  hurried: boolean;
  ended: boolean;
  /** What its client did so far. */
  flow: { waitedMs: number; octets: number };
}

function ask(slots: Slots, network: string): Asked {
  const asked: Asked = {
    leave: () => take(),
    state: 'waits',
    release: () => undefined,
    hurried: false,
    ended: false,
    flow: { waitedMs: 0, octets: 0 },
  };
  const request: SlotRequest = {
    network,
    begin: (release) => {
      asked.state = 'begun';
      asked.release = release;
      return {
        flow: () => ({ ...asked.flow }),
        hurry: () => {
          asked.hurried = true;
        },
        end: () => {
          asked.ended = true;
          release();
        },
      };
    },
    refuse: (reason) => {
      asked.state = reason;
    },
  };
  const take = slots.take(request);
  return asked;
}

const many = (slots: Slots, network: string, count: number): readonly Asked[] =>
  Array.from({ length: count }, () => ask(slots, network));
const begun = (all: readonly Asked[]): number => all.filter(({ state }) => state === 'begun').length;

const BOUNDS = { maxConnections: 8, maxQueued: 100, waitMs: 60_000 };

describe("slots of an origin's connections", () => {
  test('a network has at most as many slots as it leaves free, and one more', () => {
    const slots = createSlots(BOUNDS);
    const hostile = many(slots, 'a', 20);
    expect(begun(hostile)).toBe(5);
    expect(ask(slots, 'b').state).toBe('begun');
    for (const { leave } of hostile) leave();
    expect(slots.counts()).toEqual({ used: 6, waiting: 0 });
  });

  test('free slots go to waiting networks by round robin, first to those below a quarter', () => {
    const slots = createSlots(BOUNDS);
    const first = many(slots, 'a', 4);
    const second = many(slots, 'b', 4);
    const third = many(slots, 'c', 3);
    expect([begun(first), begun(second), begun(third)]).toEqual([4, 3, 1]);
    const more = many(slots, 'a', 4);
    for (const { release } of first) release();
    // `c` and `a` come up to a quarter each, `b` has more than that; the last slot is for whoever comes.
    expect([begun(more), begun(second), begun(third)]).toEqual([2, 3, 2]);
    expect(slots.counts().used).toBe(7);
    expect(ask(slots, 'd').state).toBe('begun');
    for (const { release } of [...second, ...third]) release();
    expect(begun(more)).toBe(4);
    expect(begun([...second, ...third])).toBe(7);
  });

  test('every user is asked to hurry as soon as a request has to wait', () => {
    const slots = createSlots({ ...BOUNDS, maxConnections: 2 });
    const [first, second] = [ask(slots, 'a'), ask(slots, 'b')];
    expect([first.hurried, second.hurried]).toEqual([false, false]);
    ask(slots, 'c');
    expect([first.hurried, second.hurried]).toEqual([true, true]);
  });

  test('a second release of a slot has no effect', () => {
    const slots = createSlots(BOUNDS);
    const one = ask(slots, 'a');
    one.release();
    one.release();
    expect(slots.counts().used).toBe(0);
  });

  test('a full queue refuses the first request of the network with the most for one with fewer', async () => {
    const slots = createSlots({ ...BOUNDS, maxQueued: 10 });
    const hostile = many(slots, 'a', 15);
    const other = many(slots, 'b', 5);
    expect([begun(hostile), begun(other)]).toEqual([5, 2]);
    expect(slots.counts().waiting).toBe(10);
    expect(hostile.filter(({ state }) => /10 requests wait/.test(state))).toHaveLength(3);
    expect(other.every(({ state }) => state === 'begun' || state === 'waits')).toBe(true);
    const late = ask(slots, 'a');
    await Promise.resolve();
    expect(late.state).toMatch(/10 requests wait/);
  });

  test('a request that waits for longer than the limit is refused', async () => {
    const slots = createSlots({ maxConnections: 1, maxQueued: 10, waitMs: 50 });
    const [, waits] = [ask(slots, 'a'), ask(slots, 'b')];
    await sleep(120);
    expect(waits.state).toBe('no connection to this origin was free within 50 ms');
    expect(slots.counts()).toEqual({ used: 1, waiting: 0 });
  });

  test('slow clients are ended while requests wait, the slowest first', async () => {
    const slots = createSlots({ ...BOUNDS, maxConnections: 3, measureMs: 20 });
    const [slow, slower, busy] = [ask(slots, 'a'), ask(slots, 'b'), ask(slots, 'c')];
    const timer = setInterval(() => {
      slow.flow = { waitedMs: slow.flow.waitedMs + 10, octets: slow.flow.octets + 50 };
      slower.flow = { waitedMs: slower.flow.waitedMs + 10, octets: slower.flow.octets + 1 };
      // Waits for its origin, not for its client.
      busy.flow = { waitedMs: 0, octets: 0 };
    }, 4);
    const waits = ask(slots, 'd');
    for (let tries = 0; tries < 200 && waits.state === 'waits'; tries++) await sleep(10);
    clearInterval(timer);
    expect([waits.state, slower.ended, slow.ended, busy.ended]).toEqual(['begun', true, false, false]);
  });

  test('slow clients are not ended while no request waits', async () => {
    const slots = createSlots({ ...BOUNDS, maxConnections: 1, measureMs: 5 });
    const slow = ask(slots, 'a');
    const timer = setInterval(() => {
      slow.flow = { waitedMs: slow.flow.waitedMs + 10, octets: 0 };
    }, 2);
    await sleep(100);
    clearInterval(timer);
    expect(slow.ended).toBe(false);
  });
});
