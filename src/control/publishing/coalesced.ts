/** Runs a task one call at a time; calls during a run are coalesced into one more run after it. */

/**
 * Returns the function that starts a run. Its promise resolves after a run that began at or after the call, and rejects
 * with the error of the run; the additional run is then dropped.
 */
export function createCoalesced(task: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  let again = false;

  async function runAll(): Promise<void> {
    while (again) {
      again = false;
      await task();
    }
  }

  return () => {
    again = true;
    running ??= runAll().finally(() => {
      running = null;
    });
    return running;
  };
}
