/**
 * Counts TCP connections by address, so that strangers cannot take the places of secondaries: each secondary has places of
 * its own, all other addresses share a few.
 */
import { CONNECTIONS_PER_OTHER, CONNECTIONS_PER_SECONDARY, OTHER_CONNECTIONS } from './limits.ts';

/** The places of one listener. */
export interface ConnectionPlaces {
  /** Takes a place; `false`: no place is free for that address. */
  enter(address: string): boolean;
  /** Gives the place back; once for each `enter` that returned true. */
  leave(address: string): void;
}

/** @param secondaries canonical addresses */
export function createConnectionPlaces(secondaries: ReadonlySet<string>): ConnectionPlaces {
  const open = new Map<string, number>();
  let others = 0;
  return {
    enter(address) {
      const count = open.get(address) ?? 0;
      const known = secondaries.has(address);
      if (count >= (known ? CONNECTIONS_PER_SECONDARY : CONNECTIONS_PER_OTHER)) return false;
      if (!known && others >= OTHER_CONNECTIONS) return false;
      open.set(address, count + 1);
      if (!known) others++;
      return true;
    },
    leave(address) {
      const count = open.get(address)! - 1;
      if (count === 0) open.delete(address);
      else open.set(address, count);
      if (!secondaries.has(address)) others--;
    },
  };
}
