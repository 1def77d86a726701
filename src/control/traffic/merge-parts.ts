/**
 * Merges parts into blocks: the computing half of the roll-up, for the thread of traffic. In: a snapshot of the store. Out:
 * the parts that were merged and the blocks that replace the stored ones, which `roll-up.ts` writes in one transaction.
 *
 * Each part is in the minutes, the hour and the day of its domain exactly once. A day is built from its hours when it is over
 * (`deliver.ts`); parts that come later are added to the hour and to the day.
 */
import {
  addTopLists,
  addTrafficCounts,
  createTopLists,
  createTrafficCounts,
  type TopLists,
  type TrafficCounts,
} from '../../engine/counts/counts.ts';
import { openTops } from '../../engine/counts/layout.ts';
import { CountsFault } from '../../engine/counts/octets.ts';
import type { Snapshots } from '../store/database/open.ts';
import type { NewBlocks } from '../store/repositories/traffic-writes.ts';
import type { ReadTransaction } from '../store/store.ts';
import type {
  MinutesBlock,
  PartKey,
  TrafficBlock,
  TrafficPart,
  TrafficSums,
} from '../store/tables/traffic.ts';
import {
  columnsOf,
  countsOfSums,
  monitoredText,
  openBlock,
  openMinutes,
  openPart,
  openTopBlock,
  sealBlock,
  sealMinutes,
  sealTopBlock,
} from './blocks.ts';
import { BLOCK_MINUTES, CHUNK_OCTETS, CHUNK_PARTS, DAY, HOUR, READ_PARTS, SLICES } from './limits.ts';
import { startOf } from './read-traffic.ts';

/** What to merge. Times in minutes since the epoch. */
export interface MergeOrder {
  readonly slice: number;
  /** Parts of minutes before this one. */
  readonly before: number;
  /** Behind this part; `null`: from the first one on. */
  readonly after: PartKey | null;
  /** Blocks that end at this minute or before are not written: they would be removed at once. */
  readonly expired: Readonly<Record<'minutes' | 'hours' | 'days', number>>;
  /** The start of the last day whose blocks are all built. */
  readonly daysThrough: number;
}

/** What was merged. */
export interface MergedParts {
  readonly parts: readonly PartKey[];
  readonly blocks: NewBlocks;
  /** Rows whose counts could not be opened, so that their sums alone were merged: for the log. */
  readonly damaged: readonly string[];
  /** Behind this part there may be more; `null`: it was the last part. */
  readonly last: PartKey | null;
}

/** Counts and top lists of one hour or day. */
export interface Merged {
  readonly counts: TrafficCounts;
  /** `null`: none. */
  tops: TopLists | null;
}

/** Merges as many parts as one transaction takes. @throws StoreFault */
export async function mergeParts(order: MergeOrder, snapshots: Snapshots): Promise<MergedParts> {
  return snapshots.read(async (tx) => {
    const damaged: string[] = [];
    const { parts, isLast } = await readParts(tx, order);
    const minutes = await mergeMinutes(tx, parts, { order, damaged });
    const hours = await mergeHours(tx, parts, { order, damaged });
    const days = await mergeDays(tx, parts, { order, damaged });
    const keys = parts.map(keyOf);
    return { parts: keys, blocks: { minutes, hours, days }, damaged, last: isLast ? null : keys.at(-1)! };
  });
}

function keyOf({ domain_id, minute, node_id, batch }: PartKey): PartKey {
  return { domain_id, minute, node_id, batch };
}

/** Parts of one transaction, page by page, since their sizes are not known before. */
async function readParts(
  tx: ReadTransaction,
  { slice, before, after }: MergeOrder,
): Promise<{ readonly parts: readonly TrafficPart[]; readonly isLast: boolean }> {
  const parts: TrafficPart[] = [];
  let octets = 0;
  while (parts.length < CHUNK_PARTS && octets < CHUNK_OCTETS) {
    const last = parts.at(-1) ?? after;
    const page = await tx.traffic.due({ slice, slices: SLICES, before, after: last, limit: READ_PARTS });
    for (const part of page) {
      parts.push(part);
      octets += part.counts.length + (part.tops?.length ?? 0);
    }
    if (page.length < READ_PARTS) return { parts, isLast: true };
  }
  return { parts, isLast: false };
}

/** What the merging of one unit needs besides the parts. */
interface Merging {
  readonly order: MergeOrder;
  readonly damaged: string[];
}

/** Parts by domain and the start of the span that they are in. */
function grouped(
  parts: readonly TrafficPart[],
  length: number,
): ReadonlyMap<number, ReadonlyMap<number, readonly TrafficPart[]>> {
  const byStart = new Map<number, Map<number, TrafficPart[]>>();
  for (const part of parts) {
    const start = startOf(part.minute, length);
    const byDomain = byStart.get(start) ?? new Map<number, TrafficPart[]>();
    byStart.set(start, byDomain);
    const same = byDomain.get(part.domain_id);
    if (same === undefined) byDomain.set(part.domain_id, [part]);
    else same.push(part);
  }
  return byStart;
}

async function mergeMinutes(
  tx: ReadTransaction,
  parts: readonly TrafficPart[],
  { order, damaged }: Merging,
): Promise<readonly MinutesBlock[]> {
  const merged: MinutesBlock[] = [];
  for (const [start, byDomain] of grouped(parts, BLOCK_MINUTES)) {
    if (start + BLOCK_MINUTES <= order.expired.minutes) continue;
    const stored = await tx.traffic.minutes([...byDomain.keys()], { from: start, to: start + 1 });
    const before = new Map(stored.map((block) => [block.domain_id, block]));
    for (const [domain_id, own] of byDomain) {
      const block = before.get(domain_id);
      const minutes: Map<number, TrafficCounts> =
        block === undefined ? new Map() : openStoredMinutes(block, damaged);
      for (const part of own) {
        const offset = part.minute - start;
        const counts = minutes.get(offset) ?? createTrafficCounts();
        minutes.set(offset, counts);
        addTrafficCounts(counts, openOrSums(part, { open: openPart, damaged, kind: 'part' }));
      }
      merged.push({
        ...{ domain_id, start },
        ...sumOf(minutes),
        monitored_minutes: monitoredText(minutes),
        counts: sealMinutes(minutes),
      });
    }
  }
  return merged;
}

/** Minutes that cannot be opened become one that has their sums, the first. */
function openStoredMinutes(block: MinutesBlock, damaged: string[]): Map<number, TrafficCounts> {
  try {
    return openMinutes(block.counts);
  } catch (error) {
    if (!(error instanceof CountsFault)) throw error;
    damaged.push(describeDamage('minutes', block, error));
    return new Map([[0, countsOfSums(block)]]);
  }
}

function sumOf(minutes: ReadonlyMap<number, TrafficCounts>): TrafficSums {
  const total = createTrafficCounts();
  for (const { sums } of minutes.values()) {
    for (const name of Object.keys(sums) as (keyof typeof sums)[]) total.sums[name] += sums[name];
  }
  return columnsOf(total);
}

async function mergeHours(
  tx: ReadTransaction,
  parts: readonly TrafficPart[],
  merging: Merging,
): Promise<readonly TrafficBlock[]> {
  const merged: TrafficBlock[] = [];
  for (const [start, byDomain] of grouped(parts, HOUR)) {
    if (start + HOUR <= merging.order.expired.hours) continue;
    const stored = await tx.traffic.wholeBlocks('hours', [...byDomain.keys()], {
      from: start,
      to: start + 1,
    });
    merged.push(...addToBlocks(stored, { start, byDomain, damaged: merging.damaged }));
  }
  return merged;
}

/** Only days whose blocks exist, or that are never built from hours again. */
async function mergeDays(
  tx: ReadTransaction,
  parts: readonly TrafficPart[],
  { order, damaged }: Merging,
): Promise<readonly TrafficBlock[]> {
  const merged: TrafficBlock[] = [];
  for (const [start, byDomain] of grouped(parts, DAY)) {
    // The present day has no blocks yet.
    if (start + DAY <= order.expired.days || start + DAY > order.before) continue;
    const stored = await tx.traffic.wholeBlocks('days', [...byDomain.keys()], { from: start, to: start + 1 });
    const there = new Set(stored.map(({ domain_id }) => domain_id));
    const isBuilt = start <= order.daysThrough;
    const added = new Map([...byDomain].filter(([domain_id]) => isBuilt || there.has(domain_id)));
    merged.push(...addToBlocks(stored, { start, byDomain: added, damaged }));
  }
  return merged;
}

interface Addition {
  readonly start: number;
  readonly byDomain: ReadonlyMap<number, readonly TrafficPart[]>;
  readonly damaged: string[];
}

/** The blocks of one span with the parts of each domain added. */
function addToBlocks(
  stored: readonly TrafficBlock[],
  { start, byDomain, damaged }: Addition,
): readonly TrafficBlock[] {
  const before = new Map(stored.map((block) => [block.domain_id, block]));
  return [...byDomain].map(([domain_id, parts]) => {
    const merged = createMerged();
    const block = before.get(domain_id);
    if (block !== undefined) addBlock(merged, block, damaged);
    for (const part of parts) {
      addTrafficCounts(merged.counts, openOrSums(part, { open: openPart, damaged, kind: 'part' }));
      if (part.tops !== null) addTops(merged, part, { open: openTops, damaged });
    }
    return sealMerged(merged, { domain_id, start });
  });
}

/** Counts of nothing. */
export function createMerged(): Merged {
  return { counts: createTrafficCounts(), tops: null };
}

/** Adds a stored hour or day. */
export function addBlock(merged: Merged, block: TrafficBlock, damaged: string[]): void {
  addTrafficCounts(merged.counts, openOrSums(block, { open: openBlock, damaged, kind: 'block' }));
  if (block.tops !== null) addTops(merged, block, { open: openTopBlock, damaged });
}

/** The block of merged counts. */
export function sealMerged(
  { counts, tops }: Merged,
  place: Pick<TrafficBlock, 'domain_id' | 'start'>,
): TrafficBlock {
  return {
    ...place,
    ...columnsOf(counts),
    counts: sealBlock(counts),
    tops: tops === null ? null : sealTopBlock(tops),
  };
}

type Row = TrafficSums & { readonly domain_id: number; readonly counts: Uint8Array };

interface Opening<Octets, Value> {
  readonly open: (octets: Octets) => Value;
  readonly damaged: string[];
}

/** The counts of a row; its sums alone if they cannot be opened, which checks at their arrival and checksums make unlikely. */
function openOrSums(
  row: Row,
  { open, damaged, kind }: Opening<Row, TrafficCounts> & { readonly kind: string },
): TrafficCounts {
  try {
    return open(row);
  } catch (error) {
    if (!(error instanceof CountsFault)) throw error;
    damaged.push(describeDamage(kind, row, error));
    return countsOfSums(row);
  }
}

function addTops(
  merged: Merged,
  row: Row & { readonly tops: Uint8Array | null },
  { open, damaged }: Opening<Uint8Array, TopLists>,
): void {
  if (row.tops === null) return;
  try {
    const lists = open(row.tops);
    merged.tops ??= createTopLists();
    addTopLists(merged.tops, lists);
  } catch (error) {
    if (!(error instanceof CountsFault)) throw error;
    damaged.push(describeDamage('top lists', row, error));
  }
}

function describeDamage(kind: string, row: object, error: CountsFault): string {
  const { domain_id, minute, start } = row as { domain_id: number; minute?: number; start?: number };
  return `${kind} of domain ${domain_id} from minute ${minute ?? start}: ${error.message}`;
}
