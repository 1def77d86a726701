/**
 * Whatever is reported, when and in what order, and whenever it is rolled up: what is read equals the naive sum, on both
 * databases.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Store } from '../../../src/control/store/store.ts';
import type { DomainRow } from '../../../src/control/store/tables/domains.ts';
import type { NodeRow } from '../../../src/control/store/tables/nodes.ts';
import { TRAFFIC_SUMS } from '../../../src/control/store/tables/traffic.ts';
import { readGatewayUse } from '../../../src/control/traffic/gateway-use.ts';
import {
  readMonitoredMinutes,
  readSums,
  readTop,
  readTotal,
  readTraffic,
  STEP_MINUTES,
  type TrafficStep,
} from '../../../src/control/traffic/read-traffic.ts';
import { createRollUp, type RollUp } from '../../../src/control/traffic/roll-up.ts';
import { takeBatch } from '../../../src/control/traffic/take-batch.ts';
import { createTrafficThread, type TrafficThread } from '../../../src/control/traffic/thread.ts';
import {
  addTopLists,
  addTrafficCounts,
  createTopLists,
  createTrafficCounts,
  TOP_KINDS,
  type TopLists,
  type TrafficCounts,
} from '../../../src/engine/counts/counts.ts';
import { sealBatch } from '../../../src/engine/counts/layout.ts';
import { mergeSpaceSaving } from '../../../src/engine/counts/space-saving.ts';
import {
  plainCounts,
  plainTops,
  type SampleCounts,
  sampleCounts,
  sampleTops,
  sealedSample,
} from '../../support/sample-counts.ts';
import { seed, T } from '../../support/sample-rows.ts';
import { sizeOf } from '../../support/size.ts';
import { kinds, type Place } from './databases.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** The naive side: every entry that must count. */
interface Counted {
  readonly domainId: number;
  readonly minute: number;
  readonly sample: SampleCounts;
}

type Step =
  | { readonly kind: 'send'; readonly node: number; readonly entries: readonly Entry[] }
  /** A batch that was sent before, whichever. */
  | { readonly kind: 'repeat'; readonly which: number }
  | { readonly kind: 'later'; readonly minutes: number }
  | { readonly kind: 'roll' }
  | { readonly kind: 'reopen' };

interface Entry {
  readonly domain: number;
  /** Minutes before the present. */
  readonly age: number;
  readonly requests: number;
  readonly seed: number;
}

const entries: fc.Arbitrary<readonly Entry[]> = fc.uniqueArray(
  fc.record({
    domain: fc.nat(2),
    age: fc.oneof(
      { weight: 6, arbitrary: fc.nat(15) },
      { weight: 2, arbitrary: fc.nat(300) },
      { weight: 1, arbitrary: fc.nat(34 * 1_440) },
    ),
    requests: fc.integer({ min: 1, max: 20 }),
    seed: fc.nat(1_000),
  }),
  { minLength: 1, maxLength: 6, selector: ({ domain, age }) => `${domain} ${age}` },
);

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('send' as const), node: fc.nat(2), entries }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('repeat' as const), which: fc.nat(50) }) },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('later' as const),
        minutes: fc.oneof(fc.nat(20), fc.nat(90), fc.nat(2_000), fc.nat(2_000), fc.nat(30 * 1_440)),
      }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('roll' as const) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('reopen' as const) }) },
  ),
  { minLength: 5, maxLength: 40, size: 'max' },
);

describe.each(kinds)('the roll-up on $name', (kind) => {
  let place: Place;
  let store: Store;
  let thread: TrafficThread;
  let rollUp: RollUp;
  let now = T;
  const problems: unknown[] = [];
  const log = {
    warn: (...line: unknown[]) => void problems.push(line),
    error: (...line: unknown[]) => void problems.push(line),
  };
  let run = 0;

  async function open(): Promise<void> {
    store = await place.open();
    thread = createTrafficThread({ store, file: null });
    rollUp = createRollUp({ store, thread, log, clock: () => now });
  }
  async function close(): Promise<void> {
    await rollUp.stop();
    await thread.close();
    await store.close();
  }

  beforeAll(async () => {
    place = await kind.place();
    await open();
  });
  afterAll(async () => {
    await close();
    await place.dispose();
  });

  async function setUp(): Promise<{ domains: DomainRow[]; nodes: NodeRow[] }> {
    run += 1;
    const domains: DomainRow[] = [];
    const nodes: NodeRow[] = [];
    for (const number of [0, 1, 2]) {
      domains.push((await store.write((tx) => seed(tx, `d${run}-${number}.example`))).domain);
      const node = {
        name: `n${run}-${number}`,
        token_hash: `${run} ${number}`,
        created_at: now - 60 * DAY_MS,
      };
      nodes.push(await store.write((tx) => tx.nodes.insert(node)));
    }
    return { domains, nodes };
  }

  /** Groups what was counted by the start of the step in milliseconds. */
  function naive(counted: readonly Counted[], length: number): Map<number, unknown> {
    const byStart = new Map<number, TrafficCounts>();
    for (const { minute, sample } of counted) {
      const start = (minute - (minute % length)) * MINUTE_MS;
      const counts = byStart.get(start) ?? createTrafficCounts();
      byStart.set(start, counts);
      addTrafficCounts(counts, sampleCounts(sample));
    }
    return new Map(
      [...byStart].sort(([a], [b]) => a - b).map(([start, counts]) => [start, plainCounts(counts)]),
    );
  }

  async function compare(domain: DomainRow, counted: readonly Counted[]): Promise<void> {
    // What may have expired is left out: 48 hours of minutes, 35 days of hours.
    const since: Readonly<Record<TrafficStep, number>> = {
      minute: now - 47 * HOUR_MS,
      hour: now - 34 * DAY_MS,
      day: now - 80 * DAY_MS,
    };
    await store.read(async (tx) => {
      for (const step of ['minute', 'hour', 'day'] as const) {
        const length = STEP_MINUTES[step];
        const from = since[step] - (since[step] % (length * MINUTE_MS));
        const within = counted.filter(({ minute }) => minute * MINUTE_MS >= from);
        const found = await readTraffic(tx, domain.id, { step, from, to: now + DAY_MS });
        const plain = new Map([...found].map(([start, counts]) => [start, plainCounts(counts)]));
        expect(plain).toEqual(naive(within, length));
      }
      for (const hours of [0.3, 1.25, 30, 47.5]) {
        const to = now + MINUTE_MS;
        const from = Math.floor((now - hours * HOUR_MS) / MINUTE_MS) * MINUTE_MS;
        const within = counted.filter(({ minute }) => minute * MINUTE_MS >= from);
        const total = createTrafficCounts();
        for (const { sample } of within) addTrafficCounts(total, sampleCounts(sample));
        const sums = await readSums(tx, domain.id, { from, to });
        expect(sums).toEqual(Object.fromEntries(TRAFFIC_SUMS.map((name) => [name, total.sums[name]])));
        expect(plainCounts(await readTotal(tx, domain.id, { from, to }))).toEqual(plainCounts(total));
        const monitored = await readMonitoredMinutes(tx, [domain.id], { from, to });
        expect(monitored.reduce((sum, row) => sum + row.monitored, 0)).toBe(total.sums.monitored);
      }
      for (const days of [1, 7, 30]) {
        const from = now - (now % DAY_MS) - (days - 1) * DAY_MS;
        const total = createTrafficCounts();
        for (const { minute, sample } of counted)
          if (minute * MINUTE_MS >= from) addTrafficCounts(total, sampleCounts(sample));
        const use = await readGatewayUse(tx, { domainId: domain.id, from, to: now + DAY_MS });
        expect(new Map([...use].sort())).toEqual(new Map([...total.gateways.consumers].sort()));
      }
      for (const days of [1, 20]) {
        const from = now - days * DAY_MS - ((now - days * DAY_MS) % HOUR_MS);
        const lists: TopLists = createTopLists();
        for (const { minute, sample } of counted)
          if (minute * MINUTE_MS >= from) addTopLists(lists, sampleTops(sample));
        const found = createTopLists();
        for (const of of TOP_KINDS)
          mergeSpaceSaving(found[of], await readTop(tx, domain.id, { from, to: now + HOUR_MS, of }));
        expect(plainTops(found)).toEqual(plainTops(lists));
      }
    });
  }

  test('what is read equals the sum of what was reported', { timeout: 600_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        problems.length = 0;
        const { domains, nodes } = await setUp();
        const counted: Counted[] = [];
        const sent: { readonly node: NodeRow; readonly octets: Uint8Array }[] = [];
        for (const step of all) {
          if (step.kind === 'later') now += step.minutes * MINUTE_MS;
          else if (step.kind === 'roll') await rollUp.runNow();
          else if (step.kind === 'reopen') {
            await close();
            await open();
          } else if (step.kind === 'repeat') {
            if (sent.length === 0) continue;
            const { node, octets } = sent[step.which % sent.length]!;
            // What is too old by now is refused for its minutes.
            const again = await takeBatch({ store, thread }, node, { octets, isGzip: false, now }).catch(
              (error: Error) => error.message,
            );
            if (typeof again === 'string') expect(again).toContain('minute: from');
            else expect(again).toMatchObject({ isRepeated: true });
          } else {
            const batch = sent.length + 1;
            // Numbers need not rise.
            const number = batch % 2 === 0 ? batch : 1_000 - batch;
            const minuteNow = Math.floor(now / MINUTE_MS);
            const own = step.entries.map(({ domain, age, ...sample }) => ({
              domainId: domains[domain]!.id,
              domain: domains[domain]!.name,
              minute: minuteNow - age,
              sample,
            }));
            const octets = sealBatch({
              batch: number,
              entries: own.map(({ domain, minute, sample }) => ({
                ...{ domain, minute: minute * MINUTE_MS },
                ...sealedSample(sample),
              })),
            });
            const node = nodes[step.node]!;
            const taken = await takeBatch({ store, thread }, node, { octets, isGzip: false, now });
            expect(taken).toEqual({ batch: number, parts: own.length, isRepeated: false });
            sent.push({ node, octets });
            counted.push(...own);
          }
        }
        for (const domain of domains)
          await compare(
            domain,
            counted.filter(({ domainId }) => domainId === domain.id),
          );
        await rollUp.runNow();
        for (const domain of domains)
          await compare(
            domain,
            counted.filter(({ domainId }) => domainId === domain.id),
          );
        expect(problems).toEqual([]);
      }),
      { numRuns: sizeOf('EDGEPLAN_TRAFFIC_RUNS', { usual: 15, full: 50 }) },
    );
  });
});
