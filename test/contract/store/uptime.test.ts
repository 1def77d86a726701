/** Incidents of generated series are those of the naive reading, with two processes at once and passes that break off. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../../src/control/store/store.ts';
import type { IncidentRow } from '../../../src/control/store/tables/uptime.ts';
import { SETTLING_MINUTES } from '../../../src/control/traffic/limits.ts';
import {
  type IncidentChange,
  judgeDue,
  type UptimeJudgeOptions,
} from '../../../src/control/traffic/uptime/judge-due.ts';
import type { UptimeMinute } from '../../../src/control/traffic/uptime/state.ts';
import { type NaiveIncident, naiveIncidents } from '../../oracle/uptime.ts';
import { activeDomain, newRecord, T } from '../../support/sample-rows.ts';
import { sizeOf } from '../../support/size.ts';
import { kinds, type Place } from './databases.ts';

const MINUTE = 60_000;
const FIRST = Math.floor(T / MINUTE);
const ROUNDS = sizeOf('EDGEPLAN_UPTIME_ROUNDS', { usual: 12, full: 60 });
const SETTINGS = {
  uptime_threshold_pct: 80,
  uptime_window_min: 4,
  uptime_min_requests: 3,
  uptime_min_active_min: 2,
  uptime_recover_min: 2,
} as const;

/** Requests and errors of each minute of each domain. */
const minute = fc.oneof(
  fc.constant({ requests: 0, errors: 0 }),
  fc.integer({ min: 1, max: 3 }).map((requests) => ({ requests, errors: requests })),
  fc.integer({ min: 1, max: 3 }).map((requests) => ({ requests, errors: requests })),
  fc.tuple(fc.integer({ min: 1, max: 3 }), fc.nat(1)).map(([requests, errors]) => ({ requests, errors })),
);
const series = fc.array(minute, { minLength: 20, maxLength: 60 });
const cases = fc.record({
  domains: fc.array(series, { minLength: 1, maxLength: 5 }),
  steps: fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 2, maxLength: 8 }),
  breaks: fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
});

describe.each(kinds)('$name', (kind) => {
  let place: Place;
  let stores: Store[];
  beforeEach(async () => {
    place = await kind.place();
    stores = [await place.open()];
    // A second process; SQLite has one alone.
    if (kind.name === 'postgres') stores.push(await place.open());
  });
  afterEach(async () => {
    for (const store of stores) await store.close();
    await place.dispose();
  });

  test('incidents are those of the naive reading, each announced once', async () => {
    let round = 0;
    let opened = 0;
    await fc.assert(
      fc.asyncProperty(cases, async ({ domains, steps, breaks }) => {
        round += 1;
        const start = FIRST + round * 10_000;
        const ids = await stores[0]!.write(async (tx) => {
          const account = await tx.accounts.insert({
            name: `ann${round}`,
            active: true,
            created_at: T,
            updated_at: T,
          });
          const rows = domains.map((_, at) => activeDomain(`d${at}-${round}.test`, account.id, SETTINGS));
          return Promise.all(
            rows.map(async (row) => {
              const { id } = await tx.domains.insert(row);
              await tx.records.insert([newRecord(id, { monitor: true })]);
              return id;
            }),
          );
        });
        const minutes: UptimeJudgeOptions['minutes'] = async (_, { after, through }) =>
          new Map(ids.map((id, at) => [id, populated(domains[at]!, { start, after, through })]));
        const changes: IncidentChange[] = [];
        await stores[0]!.write(async (tx) => {
          await tx.uptime.lock(start - 1);
          await tx.uptime.advance(start - 1);
        });
        let through = start - 1;
        for (const [at, step] of [...steps, 100].entries()) {
          through += step;
          const now = (through + 1 + SETTLING_MINUTES) * MINUTE;
          const passes = stores.map((store) => {
            let broken = breaks[at % breaks.length] === true;
            const committed: IncidentChange[] = [];
            return drain(
              {
                store: announcing(store, committed, changes),
                minutes,
                async changed(_, change) {
                  if (broken) {
                    broken = false;
                    throw new Error('broken off');
                  }
                  committed.push(change);
                },
              },
              now,
            );
          });
          await Promise.all(passes);
        }
        for (const [at, id] of ids.entries()) {
          const padded = [...domains[at]!];
          while (padded.length <= through - start) padded.push({ requests: 0, errors: 0 });
          const naive = naiveIncidents(padded, {
            threshold: SETTINGS.uptime_threshold_pct,
            window: SETTINGS.uptime_window_min,
            minRequests: SETTINGS.uptime_min_requests,
            minActive: SETTINGS.uptime_min_active_min,
            recover: SETTINGS.uptime_recover_min,
          });
          const rows = await stores[0]!.latest.uptime.incidents(id, { limit: 100 });
          expect([...rows].reverse().map((row) => shown(row, start))).toEqual(naive.map(bare));
          const announced = changes.filter(({ domain }) => domain.id === id).map(({ kind: what }) => what);
          expect(announced).toEqual(
            naive.flatMap(({ resolved }) => (resolved === null ? ['opened'] : ['opened', 'resolved'])),
          );
          opened += naive.length;
        }
      }),
      { numRuns: ROUNDS, seed: 1 },
    );
    expect(opened).toBeGreaterThan(0);
  });
});

type Minutes = readonly { readonly requests: number; readonly errors: number }[];

function populated(
  minutes: Minutes,
  { start, after, through }: { readonly start: number; readonly after: number; readonly through: number },
): readonly UptimeMinute[] {
  return minutes.flatMap((one, at) => {
    const number = start + at;
    return one.requests === 0 || number <= after || number > through ? [] : [{ minute: number, ...one }];
  });
}

/** Judges until nothing is left; a pass that breaks off is begun again. */
async function drain(options: UptimeJudgeOptions, now: number): Promise<void> {
  for (;;) {
    try {
      if (!(await judgeDue(options, now))) return;
    } catch (error) {
      if ((error as Error).message !== 'broken off') throw error;
    }
  }
}

/** The store; the changes of a transaction are announced once it has committed. */
function announcing(store: Store, committed: IncidentChange[], announced: IncidentChange[]): Store {
  return {
    ...store,
    latest: store.latest,
    async write(work, options) {
      const result = await store.write(async (tx) => {
        committed.length = 0;
        return work(tx);
      }, options);
      announced.push(...committed.splice(0));
      return result;
    },
  };
}

/** The times of an incident in minutes after the start. */
function shown(row: IncidentRow, start: number): object {
  const before = (at: number): number => at / MINUTE - 1 - start;
  return {
    from: row.began_at / MINUTE - start,
    opened: before(row.opened_at),
    resolved: row.resolved_at === null ? null : before(row.resolved_at),
    resolution: row.resolution,
  };
}

function bare({ from, opened, resolved, resolution }: NaiveIncident): object {
  return { from, opened, resolved, resolution };
}
