/** Damaged sealed counts: every one of them is refused with a fault, or opens as counts that can be sealed again. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { xxhash32 } from '../../src/base/octets/xxhash32.ts';
import { type CountedRequest, fromEach, TOP_KINDS } from '../../src/engine/counts/counts.ts';
import {
  openBatch,
  openCounts,
  openTop,
  openTops,
  sealBatch,
  sealCounts,
  sealTops,
  type TrafficBatch,
} from '../../src/engine/counts/layout.ts';
import { CountsFault } from '../../src/engine/counts/octets.ts';
import { type CountedTraffic, createRequestCounter } from '../../src/engine/counts/request-counter.ts';
import { generatedCounted, generatedDecisions } from '../support/counted-requests.ts';
import { plainCounts, plainLists } from '../support/plain-counts.ts';
import { sizeOf } from '../support/size.ts';

const REQUESTS = generatedCounted(generatedDecisions(40, 50), 6);
/** Inputs that are damaged, of all kinds together. */
const DAMAGED = sizeOf('EDGEPLAN_PAIRS', { usual: 20_000, full: 200_000 });
/** Octets of version and kind, and of the checksum. */
const HEAD = 2;
const CHECKSUM = 4;

function trafficOf(requests: readonly CountedRequest[]): CountedTraffic {
  const counter = createRequestCounter();
  for (const request of requests) counter.count(request);
  return counter.drain()!;
}

describe('damaged octets', () => {
  const few = trafficOf(REQUESTS.slice(0, 60));
  const counts = sealCounts(few.counts);
  const tops = sealTops(few.tops);
  const many = sealCounts(trafficOf(REQUESTS).counts);
  const minute = 1_700_000_040_000;
  const batch: TrafficBatch = { batch: 9, entries: [{ domain: 'example.com', minute, counts, tops }] };
  const KINDS = [
    { name: 'counts', bytes: counts, open: openCounts, again: againCounts },
    { name: 'counts of many visitors', bytes: many, open: openCounts, again: againCounts },
    { name: 'top lists', bytes: tops, open: openTops, again: againTops },
    { name: 'a batch', bytes: sealBatch(batch), open: openBatch, again: againBatch },
  ] as const;

  test.each(KINDS)(
    'of $name are refused with a fault, whatever is cut, changed or put in',
    ({ bytes, open }) => {
      const damage = fc.oneof(
        fc.nat(bytes.length - 1).map((size) => bytes.subarray(0, size)),
        fc
          .tuple(fc.nat(bytes.length - 1), fc.nat(7))
          .map(([at, bit]) => withOctet(bytes, at, bytes[at]! ^ (1 << bit))),
        fc
          .tuple(fc.nat(bytes.length), fc.uint8Array({ minLength: 1, maxLength: 9 }))
          .map(([at, put]) => Uint8Array.of(...bytes.subarray(0, at), ...put, ...bytes.subarray(at))),
        fc.uint8Array({ maxLength: 60 }),
      );
      fc.assert(
        fc.property(damage, (damaged) => {
          expect(() => open(damaged)).toThrow(CountsFault);
        }),
        { numRuns: DAMAGED / KINDS.length },
      );
    },
  );

  test.each(KINDS)(
    'of $name with a right checksum are refused, or sealed again they are the same',
    ({ bytes, again }) => {
      const content = bytes.length - HEAD - CHECKSUM;
      const changes = fc.array(fc.tuple(fc.nat(content - 1), fc.nat(255)), { minLength: 1, maxLength: 4 });
      fc.assert(
        fc.property(changes, fc.option(fc.nat(content), { freq: 3 }), (octets, size) => {
          const damaged = bytes.slice(0, size === null ? -CHECKSUM : HEAD + size);
          for (const [at, octet] of octets) if (HEAD + at < damaged.length) damaged[HEAD + at] = octet;
          try {
            again(withChecksum(damaged));
          } catch (error) {
            if (!(error instanceof CountsFault)) throw error;
            expect(['truncated', 'layout']).toContain(error.code);
          }
        }),
        { numRuns: DAMAGED / KINDS.length },
      );
    },
  );
});

function againCounts(bytes: Uint8Array): void {
  const counts = openCounts(bytes);
  expect(plainCounts(openCounts(sealCounts(counts)))).toEqual(plainCounts(counts));
}

function againTops(bytes: Uint8Array): void {
  const lists = openTops(bytes);
  expect(plainLists(fromEach(TOP_KINDS, (kind) => openTop(bytes, kind)))).toEqual(plainLists(lists));
  expect(plainLists(openTops(sealTops(lists)))).toEqual(plainLists(lists));
}

function againBatch(bytes: Uint8Array): void {
  const opened = openBatch(bytes);
  const sealed = sealBatch(opened);
  expect(Buffer.compare(sealBatch(openBatch(sealed)), sealed)).toBe(0);
}

function withChecksum(content: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(content.length + CHECKSUM);
  bytes.set(content);
  new DataView(bytes.buffer).setUint32(content.length, xxhash32(content), true);
  return bytes;
}

function withOctet(bytes: Uint8Array, at: number, octet: number): Uint8Array {
  const changed = bytes.slice();
  changed[at] = octet;
  return changed;
}
