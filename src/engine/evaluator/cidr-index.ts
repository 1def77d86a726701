/** Looks up an address among sorted boundaries by binary search (layout in `engine/compiler/cidr-index.ts`). */
import { NONE } from '../plan/layout.ts';

/** The posting of the piece that holds an IPv4 address, or NONE. */
export function lookUp4(section: Uint32Array, address: number): number {
  const count = section.length >>> 1;
  if (count === 0) return NONE;
  let low = 0;
  let high = count;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (section[middle]! <= address) low = middle;
    else high = middle;
  }
  return section[count + low]!;
}

/** As `lookUp4` for the four words of an IPv6 address. */
export function lookUp6(section: Uint32Array, address: Uint32Array): number {
  const count = section.length / 5;
  if (count === 0) return NONE;
  let low = 0;
  let high = count;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (compareAt(section, middle * 4, address) <= 0) low = middle;
    else high = middle;
  }
  return section[count * 4 + low]!;
}

/** Compares the IPv6 address at `offset` with `address`: below 0, 0 or above 0. */
export function compareAt(words: Uint32Array, offset: number, address: Uint32Array): number {
  for (let word = 0; word < 4; word++) {
    const difference = words[offset + word]! - address[word]!;
    if (difference !== 0) return difference;
  }
  return 0;
}
