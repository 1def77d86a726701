/** Who listens for commits. */
import type { Change } from './store.ts';

export interface Listeners {
  add(listener: (change: Change) => void): () => void;
  emit(change: Change): void;
  readonly size: number;
}

/** `onFirst` runs when somebody listens for the first time; `onLast` when nobody does any more. */
export function createListeners(onFirst: () => void, onLast: () => void): Listeners {
  const listeners = new Set<(change: Change) => void>();
  return {
    get size() {
      return listeners.size;
    },
    add(listener) {
      // Wrapped, so that the same function listens as often as it was given.
      const own = (change: Change): void => listener(change);
      listeners.add(own);
      if (listeners.size === 1) onFirst();
      return () => {
        if (listeners.delete(own) && listeners.size === 0) onLast();
      };
    },
    emit(change) {
      for (const listener of [...listeners]) listener(change);
    },
  };
}
