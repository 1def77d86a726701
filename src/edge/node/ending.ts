/** The end of a node: a drain, then everything is closed; once, and a second call cuts the drain short. */
import type { Logger } from 'pino';
import { pause } from '../../base/platform/tasks.ts';

/**
 * The function that ends a node; all calls resolve at the same end.
 * @param close closes everything; `drained` resolves when the time of the first call is over, or at the second call
 */
export function createEnding(
  log: Pick<Logger, 'info'>,
  close: (drained: () => Promise<void>) => Promise<void>,
): (drainMs: number) => Promise<void> {
  const hurry = new AbortController();
  let ended: Promise<void> | null = null;
  return (drainMs) => {
    if (ended !== null) {
      hurry.abort();
      return ended;
    }
    log.info({ seconds: drainMs / 1_000 }, 'the node drains');
    ended = close(() => pause(drainMs, hurry.signal));
    return ended;
  };
}
