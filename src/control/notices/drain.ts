/** Reads the body of a response that nobody needs: its status has decided. */
import type { Dispatcher } from 'undici';
import { withDeadline } from '../../base/platform/tasks.ts';
import { DRAIN_MS, MAX_RESPONSE_OCTETS } from './limits.ts';

/**
 * Reads a body for `DRAIN_MS` and up to `MAX_RESPONSE_OCTETS`, so that a receiver that answers at once can finish; never
 * rejects. A body that is longer, slower or breaks off changes nothing.
 */
export async function drain(body: Dispatcher.ResponseData['body']): Promise<void> {
  body.on('error', () => undefined);
  await withDeadline(DRAIN_MS, undefined, (signal) =>
    body.dump({ limit: MAX_RESPONSE_OCTETS, signal }).catch(() => undefined),
  );
}
