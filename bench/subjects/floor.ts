/**
 * The least any evaluator does: look the host up in a map, look the path up in a map, parse an IPv4 address and look
 * it up among 32-bit intervals. It decides nothing; it is the measure of what deciding adds.
 */
import { parseIpEntry, parseIpv4 } from '../../src/base/addresses/ip.ts';
import type { EdgeRequest } from '../../src/engine/evaluator/request.ts';
import type { Mixed } from '../data/mixed.ts';
import { HOSTS } from '../data/words.ts';
import { freshRequests } from '../harness/evaluate.ts';
import { type Side, sink } from '../harness/race.ts';

/** What the floor finds of one request. */
export interface Found {
  /** Id of the redirect that names the path exactly, or 0. */
  readonly redirect: number;
  /** An interval of a drop rule holds the address. */
  readonly listed: boolean;
}

interface Floor {
  readonly hosts: ReadonlyMap<string, number>;
  readonly paths: ReadonlyMap<string, number>;
  /** First and last address of each interval, ascending. */
  readonly intervals: Uint32Array;
}

function floorOf({ ruleSet, exactPaths }: Mixed): Floor {
  const ranges = ruleSet.rules
    .flatMap((rule) => (rule.type === 'drop' ? rule.ips : []))
    .flatMap((entry) => {
      const parsed = parseIpEntry(entry);
      return parsed.ok && parsed.family === 4 ? [[parsed.first[0]!, parsed.last[0]!] as const] : [];
    });
  const merged: (readonly [number, number])[] = [];
  for (const range of ranges.sort((a, b) => a[0] - b[0])) {
    const last = merged.at(-1);
    if (last === undefined || range[0] > last[1]) merged.push(range);
    else merged[merged.length - 1] = [last[0], Math.max(last[1], range[1])];
  }
  const hosts = new Map(HOSTS.map((host, index) => [host, index + 1]));
  return { hosts, paths: exactPaths, intervals: Uint32Array.from(merged.flat()) };
}

/** Places of the request in all three look-ups, as one number that no look-up may be left out of. */
function lookUp({ hosts, paths, intervals }: Floor, request: EdgeRequest): number {
  const { target } = request;
  const question = target.indexOf('?');
  const host = hosts.get(request.host as string) ?? 0;
  const path = paths.get(question < 0 ? target : target.slice(0, question)) ?? 0;
  const address = parseIpv4(request.ip!);
  let low = 0;
  let high = intervals.length >>> 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (intervals[middle * 2 + 1]! < address) low = middle + 1;
    else high = middle;
  }
  const listed = low * 2 < intervals.length && intervals[low * 2]! <= address ? 1 : 0;
  return (host * 16_384 + path) * 2 + listed;
}

export function floorFinder(mixed: Mixed): (request: EdgeRequest) => Found {
  const floor = floorOf(mixed);
  return (request) => {
    const places = lookUp(floor, request);
    return { redirect: (places >>> 1) & 16_383, listed: (places & 1) === 1 };
  };
}

export function floorSide(mixed: Mixed): Side {
  const floor = floorOf(mixed);
  const fresh = freshRequests(mixed.requests);
  return {
    name: 'floor',
    fresh,
    run(from, count) {
      const { requests, size } = fresh;
      let sum = 0;
      for (let left = count, at = from % size; left > 0; left--) {
        sum = (sum + lookUp(floor, requests[at]!)) | 0;
        if (++at === size) at = 0;
      }
      sink.value = sum;
    },
  };
}
