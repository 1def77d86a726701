/** Lets a number of pieces of work run at once; others wait for their turn, first come first served. */
export type Semaphore = <T>(work: () => Promise<T>) => Promise<T>;

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
