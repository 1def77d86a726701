/** The operator `@ipMatch`: the value is an address in one of a list of addresses and prefixes (RFC 4632, RFC 4291). */

import { compareIp, type IpInterval, parseIp, parseIpEntry } from '../../../base/addresses/ip.ts';
import { assert } from '../../../base/diagnostics/assert.ts';

/** The argument of an `@ipMatch` as intervals of addresses. */
export type IpIntervals = readonly IpInterval[];

/** Parses addresses, prefixes and ranges; the compiler of the program has refused all other text. */
export function prepareIpMatch(prefixes: readonly string[]): IpIntervals {
  return prefixes.map((text) => {
    const entry = parseIpEntry(text);
    assert(entry.ok, `not an address or prefix: ${text}`);
    return entry;
  });
}

/** The address under test. PERF: one array for all values. */
const words = new Uint32Array(4);

/** Whether the value is an address in one of the intervals; `false` also for text that is not an address. */
export function ipMatch(value: string, intervals: IpIntervals): boolean {
  const family = parseIp(value, words);
  if (family === 0) return false;
  return intervals.some((interval) => interval.family === family && containsAddress(interval));
}

function containsAddress(interval: IpInterval): boolean {
  return compareIp(interval.first, words) <= 0 && compareIp(interval.last, words) >= 0;
}
