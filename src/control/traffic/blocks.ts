/**
 * The octets of blocks: deflated counts of an hour or a day, of some minutes in one value, and deflated top lists. In: counts.
 * Out: octets for the store, and back. An empty value has no counts beside the sums of its row.
 *
 * Minutes: for each minute its offset from the start (one octet), the size of its sealed counts (four, little-endian) and
 * these, all of it deflated, since the minutes of one domain are much alike.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import {
  createTrafficCounts,
  type TopKind,
  type TopLists,
  type TrafficCounts,
} from '../../engine/counts/counts.ts';
import { openCounts, openTop, openTops, sealCounts, sealTops } from '../../engine/counts/layout.ts';
import { CountsFault } from '../../engine/counts/octets.ts';
import type { SpaceSaving } from '../../engine/counts/space-saving.ts';
import { type MinutesBlock, TRAFFIC_SUMS, type TrafficSums } from '../store/tables/traffic.ts';
import { BLOCK_MINUTES, MAX_BLOCK_OCTETS } from './limits.ts';

/** Octets before the sealed counts of a minute. */
const HEAD = 5;
/** Level 6 takes twice the time of level 3 for 3 % fewer octets. */
const DEFLATE = { level: 3 } as const;

/** The sums of counts that have a column. */
export function columnsOf({ sums }: TrafficCounts): TrafficSums {
  return Object.fromEntries(TRAFFIC_SUMS.map((name) => [name, sums[name]])) as TrafficSums;
}

/** Counts that have no more than the sums of a row. */
export function countsOfSums(row: TrafficSums): TrafficCounts {
  const counts = createTrafficCounts();
  for (const name of TRAFFIC_SUMS) counts.sums[name] = row[name];
  return counts;
}

/** The counts of a part, without the uses of keys, which were stored when it came. @throws CountsFault */
export function openPart(row: TrafficSums & { readonly counts: Uint8Array }): TrafficCounts {
  if (row.counts.length === 0) return countsOfSums(row);
  const counts = openCounts(row.counts);
  counts.gateways.keys.clear();
  return counts;
}

/** The octets of an hour or a day. */
export function sealBlock(counts: TrafficCounts): Uint8Array {
  return deflateRawSync(sealCounts(counts), DEFLATE);
}

/** The counts of an hour or a day. @throws CountsFault */
export function openBlock(row: TrafficSums & { readonly counts: Uint8Array }): TrafficCounts {
  return row.counts.length === 0 ? countsOfSums(row) : openCounts(inflate(row.counts));
}

/** The octets of top lists; those of a part are not deflated. */
export function sealTopBlock(lists: TopLists): Uint8Array {
  return deflateRawSync(sealTops(lists), DEFLATE);
}

/** @throws CountsFault */
export function openTopBlock(octets: Uint8Array): TopLists {
  return openTops(inflate(octets));
}

/** One list of a top block. @throws CountsFault */
export function openTopOfBlock(octets: Uint8Array, kind: TopKind): SpaceSaving {
  return openTop(inflate(octets), kind);
}

/** The octets of minutes, by their offset from the start. */
export function sealMinutes(minutes: ReadonlyMap<number, TrafficCounts>): Uint8Array {
  const pieces = [...minutes]
    .sort(([a], [b]) => a - b)
    .flatMap(([offset, counts]) => {
      const sealed = sealCounts(counts);
      const head = Buffer.alloc(HEAD);
      head.writeUInt8(offset, 0);
      head.writeUInt32LE(sealed.length, 1);
      return [head, sealed];
    });
  return deflateRawSync(Buffer.concat(pieces), DEFLATE);
}

/** Counts by offset from the start. @throws CountsFault */
export function openMinutes(octets: Uint8Array): Map<number, TrafficCounts> {
  const minutes = new Map<number, TrafficCounts>();
  if (octets.length === 0) return minutes;
  const inflated = inflate(octets);
  let at = 0;
  while (at < inflated.length) {
    if (at + HEAD > inflated.length) throw damaged();
    const offset = inflated.readUInt8(at);
    const length = inflated.readUInt32LE(at + 1);
    at += HEAD;
    if (at + length > inflated.length || offset >= BLOCK_MINUTES || minutes.has(offset)) throw damaged();
    minutes.set(offset, openCounts(inflated.subarray(at, at + length)));
    at += length;
  }
  return minutes;
}

/** The column of monitored requests by minute. */
export function monitoredText(minutes: ReadonlyMap<number, TrafficCounts>): string {
  const entries = [...minutes]
    .filter(([, { sums }]) => sums.monitored > 0)
    .sort(([a], [b]) => a - b)
    .flatMap(([offset, { sums }]) => [offset, sums.monitored, sums.monitored_errors]);
  return entries.length === 0 ? '' : JSON.stringify(entries);
}

/** The entries of that column, each as offset, requests, errors. */
export function readMonitored(
  row: Pick<MinutesBlock, 'monitored_minutes'>,
): readonly { readonly offset: number; readonly monitored: number; readonly errors: number }[] {
  const numbers = JSON.parse(row.monitored_minutes || '[]') as readonly number[];
  return Array.from({ length: numbers.length / 3 }, (_, entry) => {
    const [offset, monitored, errors] = numbers.slice(3 * entry) as [number, number, number];
    return { offset, monitored, errors };
  });
}

/** @throws CountsFault */
function inflate(octets: Uint8Array): Buffer {
  try {
    return inflateRawSync(octets, { maxOutputLength: MAX_BLOCK_OCTETS });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CountsFault('layout', `the octets of a block cannot be inflated: ${reason}`);
  }
}

function damaged(): CountsFault {
  return new CountsFault('layout', 'a block of minutes has an entry that cannot be');
}
