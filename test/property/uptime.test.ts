/** The uptime machine opens and resolves the incidents of the naive reading of semantics §11, however it is fed. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  createUptimeState,
  type IncidentEvent,
  judgeMinutes,
  readState,
  type UptimeMinute,
  type UptimeSettings,
  writeState,
} from '../../src/control/traffic/uptime/state.ts';
import { type NaiveIncident, naiveIncidents } from '../oracle/uptime.ts';
import { sizeOf } from '../support/size.ts';

/** Series that are generated. */
const RUNS = sizeOf('EDGEPLAN_SERIES', { usual: 10_000, full: 50_000 });
const SEED = sizeOf('EDGEPLAN_SEED', { usual: 1, full: 1 });

const settings: fc.Arbitrary<UptimeSettings> = fc.record({
  uptime_threshold_pct: fc.integer({ min: 50, max: 100 }),
  uptime_window_min: fc.oneof(fc.integer({ min: 2, max: 6 }), fc.integer({ min: 2, max: 60 })),
  uptime_min_requests: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 12 })),
  uptime_min_active_min: fc.integer({ min: 1, max: 4 }),
  uptime_recover_min: fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 60 })),
});

interface Minute {
  readonly requests: number;
  readonly errors: number;
}

const up = fc.integer({ min: 1, max: 6 }).map((requests): Minute => ({ requests, errors: 0 }));
const failing = fc.integer({ min: 1, max: 6 }).map((requests): Minute => ({ requests, errors: requests }));
const mixed = fc
  .tuple(fc.integer({ min: 1, max: 6 }), fc.nat(6))
  .map(([requests, errors]): Minute => ({ requests, errors: Math.min(requests, errors) }));
/** Runs of like minutes; a few gaps last longer than a day. */
const stretch: fc.Arbitrary<readonly Minute[]> = fc.oneof(
  ...[up, failing, mixed].map((minute) => ({
    arbitrary: fc.array(minute, { minLength: 1, maxLength: 12 }),
    weight: 10,
  })),
  { arbitrary: fc.integer({ min: 1, max: 70 }).map(empty), weight: 10 },
  { arbitrary: fc.integer({ min: 1_430, max: 1_450 }).map(empty), weight: 1 },
);

function empty(minutes: number): readonly Minute[] {
  return Array.from({ length: minutes }, () => ({ requests: 0, errors: 0 }));
}

/** A series, and where it is cut into the pieces that the machine judges one after the other. */
const cases = fc.record({
  settings,
  stretches: fc.array(stretch, { minLength: 1, maxLength: 12 }),
  cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 }),
});

function incidentsOf(events: readonly IncidentEvent[]): readonly NaiveIncident[] {
  const incidents: NaiveIncident[] = [];
  for (const event of events) {
    if (event.kind === 'opened') {
      incidents.push({ ...event.incident, resolved: null, resolution: null });
      continue;
    }
    const { incident, minute, resolution } = event;
    incidents[incidents.length - 1] = { ...incident, resolved: minute, resolution };
  }
  return incidents;
}

test('the machine finds the incidents of the naive reading, with any cuts and restarts', () => {
  let opened = 0;
  const resolutions = new Set<string>();
  fc.assert(
    fc.property(cases, ({ settings: given, stretches, cuts }) => {
      const series = stretches.flat();
      const populated: readonly UptimeMinute[] = series.flatMap((one, minute) =>
        one.requests === 0 ? [] : [{ minute, ...one }],
      );
      const events: IncidentEvent[] = [];
      let state = createUptimeState(-1);
      const ends = [...cuts.map((part) => Math.floor(part * series.length) - 1), series.length - 1];
      for (const through of ends.sort((a, b) => a - b)) {
        const minutes = populated.filter(({ minute }) => minute > state.through);
        // Written and read, since a store has it between two runs.
        const judged = judgeMinutes(readState(writeState(state)), { minutes, through }, given);
        state = judged.state;
        events.push(...judged.events);
      }
      const naive = naiveIncidents(series, {
        threshold: given.uptime_threshold_pct,
        window: given.uptime_window_min,
        minRequests: given.uptime_min_requests,
        minActive: given.uptime_min_active_min,
        recover: given.uptime_recover_min,
      });
      const found = incidentsOf(events);
      const open = found.at(-1);
      // The counts of an incident that is still open are those of its opening in the events.
      if (open !== undefined && open.resolved === null) {
        Object.assign(open, { requests: naive.at(-1)?.requests, errors: naive.at(-1)?.errors });
      }
      expect(found).toEqual(naive);
      opened += naive.length;
      for (const { resolution } of naive) resolutions.add(String(resolution));
    }),
    { numRuns: RUNS, seed: SEED },
  );
  expect(opened).toBeGreaterThan(RUNS / 10);
  expect([...resolutions].sort()).toEqual(['no_traffic', 'null', 'recovered']);
});
