import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createWorkerRoute } from '../../../../src/edge/workers/primary.ts';

const open = (workers: number, seed = 7) =>
  createWorkerRoute({ workers, seed, isProxy: (address) => address === '192.0.2.9' });

describe('the worker of a client address', () => {
  it('is always the same one', () => {
    const address = fc.oneof(fc.ipV4(), fc.ipV6(), fc.string());
    fc.assert(
      fc.property(address, fc.integer({ min: 1, max: 256 }), (peer, workers) => {
        const found = open(workers).of(peer);
        expect(found).toBeGreaterThanOrEqual(0);
        expect(found).toBeLessThan(workers);
        expect(open(workers).of(peer)).toBe(found);
      }),
    );
  });

  it.each([
    ['192.0.2.1', '::ffff:192.0.2.1'],
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff'],
    ['fe80::1', 'fe80::1%eth0'],
  ])('%s goes where %s goes', (one, other) => {
    for (let seed = 0; seed < 20; seed++) expect(open(64, seed).of(one)).toBe(open(64, seed).of(other));
  });

  it('is spread over all workers, and differently under another seed', () => {
    const all = Array.from({ length: 4_000 }, (_, at) => `203.0.${at >> 8}.${at & 255}`);
    const counts = [0, 0, 0, 0];
    for (const address of all) counts[open(4).of(address)]!++;
    for (const count of counts) expect(Math.abs(count - 1_000)).toBeLessThan(200);
    const moved = all.filter((address) => open(4, 7).of(address) !== open(4, 8).of(address));
    expect(moved.length).toBeGreaterThan(2_000);
  });

  it('changes in turn for trusted proxies and for peers without an address', () => {
    const route = open(3);
    expect([1, 2, 3].map(() => route.of('192.0.2.9')).sort()).toEqual([0, 1, 2]);
    expect([1, 2, 3].map(() => route.of(undefined)).sort()).toEqual([0, 1, 2]);
  });
});
