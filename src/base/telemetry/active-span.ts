/**
 * The span of the work that runs now, across promises and timers. Used where work is far from the request that causes it. PERF:
 * costs nothing until the first `runInSpan`, which only a process with a collector calls.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { ActiveSpan } from './spans.ts';

const storage = new AsyncLocalStorage<ActiveSpan>();

/** Runs work, and everything that it starts, in a span. */
export function runInSpan(span: ActiveSpan, work: () => void): void {
  storage.run(span, work);
}

/** The span of the caller; `null`: none. */
export function activeSpan(): ActiveSpan | null {
  return storage.getStore() ?? null;
}
