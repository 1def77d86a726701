import { assert } from '../../base/assert.ts';
import { compareIp, type IpInterval, parseIp, parseIpEntry } from '../../base/ip.ts';

/** The addresses of an `@ipMatch`. */
export type IpIntervals = readonly IpInterval[];

/** Prepares prefixes, addresses or ranges; the compiler of the program let no other text through. */
export function prepareIpMatch(prefixes: readonly string[]): IpIntervals {
  return prefixes.map((text) => {
    const entry = parseIpEntry(text);
    assert(entry.ok, `not an address or prefix: ${text}`);
    return entry;
  });
}

const words = new Uint32Array(4);

/** The value is an address in one of the intervals; text that is no address matches none. */
export function ipMatch(value: string, intervals: IpIntervals): boolean {
  const family = parseIp(value, words);
  if (family === 0) return false;
  return intervals.some((interval) => interval.family === family && holds(interval));
}

function holds(interval: IpInterval): boolean {
  return compareIp(interval.first, words) <= 0 && compareIp(interval.last, words) >= 0;
}
