/** The SOA record of a zone, and the arithmetic of its serial. */
import { MAX_HOST_OCTETS } from '../../base/vocabulary/limits.ts';
import { encodeName } from './wire/name.ts';
import { type ResourceRecord, TYPES } from './wire/records.ts';
import type { ZoneHead } from './zone-source.ts';

/** Timers of every SOA, in seconds (RFC 1035 §3.3.13; RFC 2308 §4 for the negative TTL), as a printed zone has them. */
export const SOA_TIMERS = { refresh: 3_600, retry: 600, expire: 1_209_600, negative: 300 } as const;

/** The SOA record of a version. */
export function soaRecord({ name, serial, primary }: ZoneHead): ResourceRecord {
  const mailbox = `hostmaster.${name}`;
  const servers = [encodeName(primary), encodeName(mailbox.length <= MAX_HOST_OCTETS ? mailbox : name)];
  const numbers = Buffer.alloc(20);
  const { refresh, retry, expire, negative } = SOA_TIMERS;
  for (const [at, value] of [serial, refresh, retry, expire, negative].entries())
    numbers.writeUInt32BE(value, at * 4);
  return { name, type: TYPES.SOA, ttl: negative, rdata: Buffer.concat([...servers, numbers]) };
}

/** Whether serial `left` is greater than `right` (RFC 1982 §3.2). */
export function isGreater(left: number, right: number): boolean {
  const ahead = (left - right) >>> 0;
  return ahead !== 0 && ahead < 0x8000_0000;
}

/**
 * The serial of the next version: the time in seconds, or one above the last serial where that is not greater. A zone that
 * is deleted and added again, or restored from a backup, so gets a serial above those that secondaries have seen.
 * `now` in milliseconds since the epoch; `last` is `null` for a new zone.
 */
export function nextSerial(last: number | null, now: number): number {
  const time = Math.floor(now / 1_000) >>> 0;
  return last === null || isGreater(time, last) ? time : (last + 1) >>> 0;
}
