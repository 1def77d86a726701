/**
 * Address ranges that operators publish for their bots, in the form Google began and Bing, OpenAI, Perplexity,
 * DuckDuckGo, Apple and Common Crawl share: `{ "prefixes": [{ "ipv4Prefix": "192.0.2.0/24" }, { "ipv6Prefix": … }] }`.
 */
import { compareIp, type IpInterval, parseIp, parseIpEntry } from '../../base/addresses/ip.ts';
import { MAX_PREFIXES } from './limits.ts';

/** Address ranges, sorted for binary search. */
export interface Ranges {
  has(ip: string): boolean;
  readonly size: number;
}

/**
 * Reads a published list.
 * @throws Error with the mistake and its place
 */
export function readRanges(text: string): readonly IpInterval[] {
  const list = (JSON.parse(text) as { prefixes?: unknown } | null)?.prefixes;
  if (!Array.isArray(list)) throw new Error('there is no list `prefixes`');
  if (list.length > MAX_PREFIXES)
    throw new Error(`\`prefixes\` has ${list.length} entries; at most ${MAX_PREFIXES}`);
  return list.map((entry: Record<string, unknown> | null, index) => {
    const written = entry?.ipv4Prefix ?? entry?.ipv6Prefix;
    const read = parseIpEntry(typeof written === 'string' ? written : '');
    if (!read.ok) throw new Error(`\`prefixes[${index}]\`: ${read.reason}`);
    return read;
  });
}

/** Sorts intervals and joins those that overlap, so that one binary search decides. */
export function createRanges(intervals: readonly IpInterval[]): Ranges {
  const families = { 4: joined(intervals, 4), 6: joined(intervals, 6) };
  const words = new Uint32Array(4);
  return {
    size: intervals.length,
    has(ip) {
      const family = parseIp(ip, words);
      if (family === 0) return false;
      const address = family === 4 ? words.subarray(0, 1) : words;
      const sorted = families[family];
      let low = 0;
      let high = sorted.length;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if (compareIp(sorted[middle]!.first, address) <= 0) low = middle + 1;
        else high = middle;
      }
      return low > 0 && compareIp(address, sorted[low - 1]!.last) <= 0;
    },
  };
}

type Interval = Pick<IpInterval, 'first' | 'last'>;

function joined(intervals: readonly IpInterval[], family: 4 | 6): readonly Interval[] {
  const sorted = intervals.filter((one) => one.family === family).sort((a, b) => compareIp(a.first, b.first));
  const result: { first: Uint32Array; last: Uint32Array }[] = [];
  for (const { first, last } of sorted) {
    const before = result.at(-1);
    if (before === undefined || compareIp(first, before.last) > 0) result.push({ first, last });
    else if (compareIp(last, before.last) > 0) before.last = last;
  }
  return result;
}
