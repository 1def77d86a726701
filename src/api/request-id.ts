/** The id a request goes by in its answer and in the logs. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** The caller's own `X-Request-Id` where it is harmless to repeat, else a new one. */
export function requestId(request: Pick<IncomingMessage, 'headers'>): string {
  return requestIdOf(request.headers['x-request-id']);
}

/** The same for what the header holds. */
export function requestIdOf(given: string | readonly string[] | undefined): string {
  return typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : randomUUID();
}
