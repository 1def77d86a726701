/** Limits how many pieces of work run at once. */

/** Runs work when a place is free; waiting work is started in its order. Settles as the work does. */
export type Semaphore = <T>(work: () => Promise<T>) => Promise<T>;

/** @param places how many pieces of work run at once, at least 1 */
export function createSemaphore(places: number): Semaphore {
  let free = places;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    }
  };
}
