/** Questions to one server at once: so many, the others wait for their turn, first come first served. */
import { DnsFault } from './fault.ts';

export interface ServerLimit {
  /** Runs `work` when the server has a place. Throws `cancelled` when `signal` ends the waiting. */
  take<T>(server: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

interface Queue {
  busy: number;
  readonly waiting: Set<() => void>;
}

/** Turns of any number of servers; one that nobody asks takes no memory. */
export function createServerLimit(places: number): ServerLimit {
  const queues = new Map<string, Queue>();

  function leave(server: string, queue: Queue): void {
    const [next] = queue.waiting;
    if (next !== undefined) {
      queue.waiting.delete(next);
      next();
      return;
    }
    queue.busy--;
    if (queue.busy === 0) queues.delete(server);
  }

  return {
    async take(server, work, signal) {
      const queue = queues.get(server) ?? { busy: 0, waiting: new Set() };
      queues.set(server, queue);
      if (queue.busy < places) queue.busy++;
      else await turn(queue, signal);
      try {
        return await work();
      } finally {
        leave(server, queue);
      }
    },
  };
}

/** Waits until somebody who leaves hands the place over. */
function turn({ waiting }: Queue, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const go = (): void => {
      signal?.removeEventListener('abort', cancel);
      resolve();
    };
    const cancel = (): void => {
      waiting.delete(go);
      reject(new DnsFault('cancelled', 'the question was cancelled', signal?.reason));
    };
    if (signal?.aborted === true) return cancel();
    waiting.add(go);
    signal?.addEventListener('abort', cancel, { once: true });
  });
}
