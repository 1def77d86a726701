/** What the memory of the cache counts. */
import { expect, test } from 'vitest';
import type { CacheEntry } from '../../../../src/edge/cache/entry.ts';
import type { CachedDomain } from '../../../../src/edge/cache/request.ts';
import { createResponseStore } from '../../../../src/edge/cache/store.ts';

const ENTRY = {
  status: 200,
  headers: [],
  length: 1,
  body: Buffer.from('b'),
  terms: { epoch: 0, purgesThrough: 0, mode: 'standard', edgeTtl: null },
  tags: [],
} as object as CacheEntry;

test.each([
  ['of responses', []],
  ['of responses that vary', ['accept-language']],
])('long keys %s stay within the memory', (_what, names) => {
  const memoryOctets = 1 << 20;
  const store = createResponseStore({ memoryOctets, maxInMemory: 1 << 10, disk: null });
  for (let number = 0; number < 500; number++) {
    const resource = {
      domain: {} as CachedDomain,
      key: `https://a.test/${String(number).padEnd(15_000, 'k')}`,
    };
    store.put(resource, {}, { entry: ENTRY, names });
  }
  const keys = store.keys();
  expect(keys.length).toBeGreaterThan(50);
  expect(keys.join('').length).toBeLessThan(memoryOctets);
});
