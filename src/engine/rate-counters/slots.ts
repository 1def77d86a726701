/**
 * Slots of requests in flight (semantics §15, `concurrency` of usage plans). In: a key, such as a consumer of a usage plan. Out: how many
 * requests have a slot under it, and the function that frees one. A key is removed with its last request, so the table has at most as
 * many keys as the process has requests in flight.
 */

/** Slots of one process. Synchronous; never throws. */
export interface RequestSlots {
  /** Requests in flight under a key. */
  inFlight(key: string): number;
  /** Takes a slot under a key. The result frees it; a second call of the result has no effect. */
  take(key: string): () => void;
  /** Keys with requests in flight. */
  size(): number;
}

/** The slot that a request needs. */
export interface NeededSlot {
  /** `null`: the process counts no requests in flight. */
  readonly slots: RequestSlots | null;
  readonly key: string;
  /** Requests that may be in flight under the key. */
  readonly most: number;
}

/** Whether as many requests are in flight as may be. */
export function isFull({ slots, key, most }: NeededSlot): boolean {
  return slots !== null && slots.inFlight(key) >= most;
}

/** An empty table. */
export function createRequestSlots(): RequestSlots {
  const counts = new Map<string, number>();
  return {
    inFlight: (key) => counts.get(key) ?? 0,
    take(key) {
      counts.set(key, (counts.get(key) ?? 0) + 1);
      let isTaken = true;
      return () => {
        if (!isTaken) return;
        isTaken = false;
        const left = counts.get(key)! - 1;
        if (left === 0) counts.delete(key);
        else counts.set(key, left);
      };
    },
    size: () => counts.size,
  };
}
