/** A small seeded source of randomness: the same seed gives the same case on every machine. */
export interface Random {
  /** A whole number from 0 up to, not including, `below`. */
  int(below: number): number;
  /** `true` once in `1 / share` times. */
  chance(share: number): boolean;
  /** One of a list; entries may be repeated to weigh them. */
  pick<T>(list: readonly T[]): T;
  /** Up to `most` different entries of a list, at least one, in the list's order. */
  some<T>(list: readonly T[], most: number): T[];
  /** `length` results of a function. */
  times<T>(length: number, make: (index: number) => T): T[];
  /** A list in another order. */
  shuffled<T>(list: readonly T[]): T[];
}

/** mulberry32 (Tommy Ettinger, public domain) over a 32-bit seed. */
export function seeded(seed: number): Random {
  let state = seed | 0;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const int = (below: number) => Math.floor(next() * below);
  const shuffled = <T>(list: readonly T[]) =>
    list
      .map((entry) => ({ entry, at: next() }))
      .sort((a, b) => a.at - b.at)
      .map(({ entry }) => entry);
  return {
    int,
    shuffled,
    chance: (share) => next() < share,
    pick: (list) => list[int(list.length)]!,
    some(list, most) {
      const taken = new Set(shuffled([...new Set(list)]).slice(0, 1 + int(most)));
      return [...new Set(list)].filter((entry) => taken.has(entry));
    },
    times: (length, make) => Array.from({ length }, (_, index) => make(index)),
  };
}
