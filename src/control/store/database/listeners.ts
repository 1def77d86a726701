/** The listeners of commits. */
import type { StoreChange } from '../store.ts';

/** Adds listeners and calls all of them. */
export interface CommitListeners {
  add(listener: (change: StoreChange) => void): () => void;
  emit(change: StoreChange): void;
  readonly size: number;
}

/** `onFirst` runs when the first listener is added, `onLast` when the last one is removed. */
export function createListeners(onFirst: () => void, onLast: () => void): CommitListeners {
  const listeners = new Set<(change: StoreChange) => void>();
  return {
    get size() {
      return listeners.size;
    },
    add(listener) {
      // Wrapped, so that the same function listens as often as it was given.
      const own = (change: StoreChange): void => listener(change);
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
