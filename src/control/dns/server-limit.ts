/** Limits the concurrent queries to each DNS server; further ones wait, first come first served. */
import { createSemaphore, type Semaphore } from '../../base/platform/semaphore.ts';
import { DnsFault } from './fault.ts';

/** A limit on concurrent queries, separate for each server. */
export interface ServerLimit {
  /** Runs `work` when the server has a place. @throws DnsFault `cancelled` when `signal` aborts the wait */
  take<T>(server: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

/** Limits for any number of servers, `places` queries at once for each; an idle server takes no memory. */
export function createServerLimit(places: number): ServerLimit {
  const semaphores = new Map<string, Semaphore>();
  return {
    async take(server, work, signal) {
      const semaphore = semaphores.get(server) ?? createSemaphore(places);
      semaphores.set(server, semaphore);
      try {
        return await semaphore.run(work, signal);
      } catch (error) {
        if (signal?.aborted !== true || error !== signal.reason) throw error;
        throw new DnsFault('cancelled', 'the question was cancelled', error);
      } finally {
        if (semaphore.isIdle()) semaphores.delete(server);
      }
    },
  };
}
