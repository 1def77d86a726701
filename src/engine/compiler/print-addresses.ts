/** An address filter of a plan as its author wrote it. */
import { formatIp } from '../../base/addresses/ip.ts';
import { ADDRESSES, decodeString, LIST, LISTED, LISTED_FILTER, NONE, type Plan } from '../plan/layout.ts';

/** The entries of a filter that may be LISTED, in the order in which they were written; `plain`: those that name no list. */
export function printListed(
  plan: Plan,
  at: number,
  plain: (at: number) => readonly string[],
): readonly string[] {
  const { words, lists } = plan;
  if (words[at] !== LISTED) return plain(at);
  const rest = words[at + LISTED_FILTER.plain]!;
  const others = rest === NONE ? [] : [...plain(rest)];
  const from = at + LISTED_FILTER.entries;
  return [...words.subarray(from, from + words[at + LISTED_FILTER.count]!)].map((number) =>
    number === 0 ? others.shift()! : `@${decodeString(plan, lists[(number - 1) * LIST.size + LIST.name]!)}`,
  );
}

/** The entries of an address filter in the order in which they were listed. */
export function printAddresses(plan: Plan, at: number): readonly string[] {
  return printListed(plan, at, (plain) => printIntervals(plan, plain));
}

function printIntervals({ words }: Plan, at: number): readonly string[] {
  const listed: string[] = [];
  let from = at + ADDRESSES.entries;
  for (const [family, counted, size] of [
    [4, ADDRESSES.n4, 1],
    [6, ADDRESSES.n6, 4],
  ] as const) {
    const count = words[at + counted]!;
    const places = from + count * 2 * size;
    for (let entry = 0; entry < count; entry++) {
      const first = words.subarray(from + entry * 2 * size, from + (entry * 2 + 1) * size);
      const last = words.subarray(from + (entry * 2 + 1) * size, from + (entry + 1) * 2 * size);
      listed[words[places + entry]!] = printRange(family, first, last);
    }
    from = places + count;
  }
  return listed;
}

/** An address, a prefix, or `<first>-<last>`. */
function printRange(family: 4 | 6, first: Uint32Array, last: Uint32Array): string {
  const at = first.findIndex((word, index) => word !== last[index]);
  if (at < 0) return formatIp(family, first);
  const host = (first[at]! ^ last[at]!) >>> 0;
  const whole =
    (host & (host + 1)) === 0 &&
    (first[at]! & host) === 0 &&
    first.subarray(at + 1).every((word) => word === 0) &&
    last.subarray(at + 1).every((word) => word === NONE);
  return whole
    ? `${formatIp(family, first)}/${at * 32 + Math.clz32(host)}`
    : `${formatIp(family, first)}-${formatIp(family, last)}`;
}
