/**
 * Laws of traffic counts: sealing and opening are inverse, merging is commutative and associative, and the counter of a node
 * counts what the plain way counts.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addTopLists,
  addTrafficCounts,
  type CountedRequest,
  createTopLists,
  createTrafficCounts,
  fromEach,
  TOP_KINDS,
  type TopLists,
  type TrafficCounts,
} from '../../src/engine/counts/counts.ts';
import {
  countGatewayRequest,
  MAX_GATEWAY_USES,
  MAX_USE_CONSUMERS,
} from '../../src/engine/counts/gateway-counts.ts';
import { openCounts, openTop, openTops, sealCounts, sealTops } from '../../src/engine/counts/layout.ts';
import { countRequest, countTops, createRequestCounter } from '../../src/engine/counts/request-counter.ts';
import { COUNTED, generatedCounted, generatedDecisions } from '../support/counted-requests.ts';
import { plainCounts, plainLists } from '../support/plain-counts.ts';

const REQUESTS = generatedCounted(generatedDecisions(120, 50), 5);
type Requests = readonly CountedRequest[];

function countsOf(requests: Requests): TrafficCounts {
  const counts = createTrafficCounts();
  for (const request of requests) countRequest(counts, request);
  return counts;
}

function listsOf(requests: Requests): TopLists {
  const lists = createTopLists();
  for (const request of requests) countTops(lists, request);
  return lists;
}

function sumOf(parts: readonly TrafficCounts[]): TrafficCounts {
  const sum = createTrafficCounts();
  for (const part of parts) addTrafficCounts(sum, part);
  return sum;
}

/** Runs of the generated requests, of very different lengths from anywhere: the first one's position, and how many. */
const SPAN = fc.tuple(fc.nat(REQUESTS.length - 1), fc.oneof(fc.nat(8), fc.nat(300), fc.nat(4_000)));

function requestsOf([from, size]: readonly [number, number]): Requests {
  return REQUESTS.slice(from, from + size);
}

describe('traffic counts', () => {
  test('are the same after sealing and opening', () => {
    fc.assert(
      fc.property(SPAN, (span) => {
        const counts = countsOf(requestsOf(span));
        expect(plainCounts(openCounts(sealCounts(counts)))).toEqual(plainCounts(counts));
      }),
      { numRuns: 60 },
    );
  });

  test('of no request are the same after sealing and opening', () => {
    const nothing = createTrafficCounts();
    expect(plainCounts(openCounts(sealCounts(nothing)))).toEqual(plainCounts(nothing));
    const lists = createTopLists();
    expect(plainLists(openTops(sealTops(lists)))).toEqual(plainLists(lists));
  });

  test('of parts, in any order and grouping, add up to those of the whole', () => {
    fc.assert(
      fc.property(SPAN, SPAN, SPAN, (...spans) => {
        const [one, two, three] = spans.map(requestsOf) as [Requests, Requests, Requests];
        const [a, b, c] = [countsOf(one), countsOf(two), countsOf(three)];
        const whole = plainCounts(countsOf([...one, ...two, ...three]));
        expect(plainCounts(sumOf([a, b, c]))).toEqual(whole);
        expect(plainCounts(sumOf([c, sumOf([b, a])]))).toEqual(whole);
        expect(plainCounts(sumOf([sumOf([a, c]), openCounts(sealCounts(b))]))).toEqual(whole);
      }),
      { numRuns: 30 },
    );
  });

  test('of gateways are those of a plain count', () => {
    const span = REQUESTS.slice(0, 3_000);
    const { gateways, sums } = countsOf(span);
    const admitted = span.filter(({ gateway }) => gateway?.isAdmitted === true);
    expect(admitted.length).toBeGreaterThan(0);
    expect(sums.gateway_requests).toBe(admitted.length);
    for (const parts of [gateways.uses, gateways.consumers])
      expect([...parts.values()].reduce((sum, one) => sum + one.admitted, 0)).toBe(admitted.length);
    for (const [consumer, { requests }] of gateways.consumers)
      expect(requests).toBe(span.filter(({ gateway }) => gateway?.consumer === consumer).length);
    for (const { requests, status, gateway: id, consumer, operation } of gateways.uses.values()) {
      const alike = span.filter(
        ({ gateway, status: own }) =>
          gateway?.gateway === id &&
          gateway.consumer === consumer &&
          gateway.operation === operation &&
          (own === status || (status === 0 && (own < 100 || own > 599))),
      );
      expect(requests).toBe(alike.length);
    }
    for (const [key, at] of gateways.keys) {
      const uses = span.filter(({ gateway }) => gateway?.key === key);
      expect(at).toBe(Math.max(...uses.map((use) => use.at)));
    }
  });

  test('of gateways beyond their bounds lose their division and no request', () => {
    const counts = createTrafficCounts();
    const size = MAX_USE_CONSUMERS + 5;
    for (let at = 0; at < size; at++) {
      const gateway = { gateway: 1, consumer: `c${at}`, operation: '', isAdmitted: at % 2 === 0, key: null };
      countRequest(counts, { ...COUNTED, gateway });
    }
    const { uses, consumers, uncounted, unnamed } = openCounts(sealCounts(counts)).gateways;
    expect([uses.size, consumers.size]).toEqual([MAX_GATEWAY_USES, MAX_USE_CONSUMERS]);
    expect([uncounted.requests, unnamed.requests]).toEqual([size - MAX_GATEWAY_USES, 5]);
    const admitted = [...consumers.values()].reduce((sum, one) => sum + one.admitted, unnamed.admitted);
    expect(admitted).toBe(counts.sums.gateway_requests);
  });

  test('without requests to gateways have the octets of earlier releases', () => {
    const plain = countsOf(REQUESTS.slice(0, 50).map((request) => ({ ...request, gateway: null })));
    const sealed = sealCounts(plain);
    const gateway = { gateway: 1, consumer: '', operation: '', isAdmitted: false, key: null };
    countGatewayRequest(plain.gateways, gateway, { status: 401, at: 1 });
    // All but the checksum, which has four octets, is the beginning of what counts with gateways are.
    expect(sealCounts(plain).subarray(0, sealed.length - 4)).toEqual(sealed.subarray(0, sealed.length - 4));
    const none = openCounts(sealed).gateways;
    expect([none.uses.size, none.consumers.size, none.keys.size]).toEqual([0, 0, 0]);
  });

  test('do not change when they are added to others', () => {
    const part = countsOf(REQUESTS.slice(0, 500));
    const before = plainCounts(part);
    const sum = sumOf([part, part]);
    countRequest(sum, REQUESTS[0]!);
    expect(plainCounts(part)).toEqual(before);
  });
});

describe('top lists', () => {
  test('are the same after sealing and opening', () => {
    fc.assert(
      fc.property(SPAN, (span) => {
        const lists = listsOf(requestsOf(span));
        const sealed = sealTops(lists);
        expect(plainLists(openTops(sealed))).toEqual(plainLists(lists));
        const alone = fromEach(TOP_KINDS, (kind) => openTop(sealed, kind));
        expect(plainLists(alone)).toEqual(plainLists(lists));
      }),
      { numRuns: 40 },
    );
  });

  test('of parts, in any order, add up to those of the whole while all values are listed', () => {
    fc.assert(
      fc.property(SPAN, SPAN, (...spans) => {
        const [one, two] = spans.map(requestsOf) as [Requests, Requests];
        const whole = plainLists(listsOf([...one, ...two]));
        for (const parts of [
          [one, two],
          [two, one],
        ]) {
          const sum = createTopLists();
          for (const part of parts) addTopLists(sum, openTops(sealTops(listsOf(part))));
          expect(plainLists(sum)).toEqual(whole);
        }
      }),
      { numRuns: 30 },
    );
  });
});

describe('a request counter', () => {
  test('counts what the plain counters count, between any drains', () => {
    fc.assert(
      fc.property(SPAN, fc.array(fc.nat(400), { maxLength: 6 }), (whole, drains) => {
        const requests = requestsOf(whole);
        const counter = createRequestCounter();
        const counts = createTrafficCounts();
        let from = 0;
        for (const size of [...drains, requests.length]) {
          const span = requests.slice(from, from + size);
          from += size;
          for (const request of span) counter.count(request);
          const drained = counter.drain();
          expect(drained === null).toBe(span.length === 0);
          if (drained === null) continue;
          expect(plainCounts(drained.counts)).toEqual(plainCounts(countsOf(span)));
          expect(plainLists(drained.tops)).toEqual(plainLists(listsOf(span)));
          addTrafficCounts(counts, drained.counts);
        }
        expect(plainCounts(counts)).toEqual(plainCounts(countsOf(requests.slice(0, from))));
      }),
      { numRuns: 40 },
    );
  });
});
