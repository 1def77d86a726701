/**
 * Builds the blocks of a day that is over from its hours, for the thread of traffic. In: a snapshot of the store. Out: the
 * blocks of some domains, and where to go on. A day that is there already is left as it is.
 */
import type { Snapshots } from '../store/database/snapshots.ts';
import type { TrafficBlock } from '../store/traffic-repositories.ts';
import { CHUNK_DOMAINS, DAY, SLICES } from './limits.ts';
import { addBlock, createMerged, sealMerged } from './merge-parts.ts';

/** The day to build. */
export interface DayOrder {
  readonly slice: number;
  /** Its first minute. */
  readonly day: number;
  /** Domains with a higher id. */
  readonly after: number;
}

/** Some domains' blocks of a day. */
export interface BuiltDays {
  readonly days: readonly TrafficBlock[];
  /** As `MergedParts.damaged`. */
  readonly damaged: readonly string[];
  /** The last examined domain; `null`: no domain is left. */
  readonly last: number | null;
}

/** @throws StoreFault */
export async function buildDays({ slice, day, after }: DayOrder, snapshots: Snapshots): Promise<BuiltDays> {
  return snapshots.read(async (tx) => {
    const span = { from: day, to: day + DAY };
    const ids = await tx.traffic.domainsWithHours(span, {
      ...{ slice, slices: SLICES, limit: CHUNK_DOMAINS, after },
    });
    const built = await tx.traffic.blocks('days', ids, { from: day, to: day + 1 });
    const there = new Set(built.map(({ domain_id }) => domain_id));
    const damaged: string[] = [];
    const days: TrafficBlock[] = [];
    for (const domain_id of ids) {
      if (there.has(domain_id)) continue;
      const merged = createMerged();
      for (const hour of await tx.traffic.wholeBlocks('hours', [domain_id], span))
        addBlock(merged, hour, damaged);
      days.push(sealMerged(merged, { domain_id, start: day }));
    }
    return { days, damaged, last: ids.length < CHUNK_DOMAINS ? null : ids.at(-1)! };
  });
}
