/** The id of a request, which its answer (`X-Request-Id`) and its log lines have. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** The client's `X-Request-Id` where it is 1 to 128 harmless characters, else a new UUID. */
export function requestId(request: Pick<IncomingMessage, 'headers'>): string {
  return requestIdOf(request.headers['x-request-id']);
}

/** As `requestId`, for the value of the header. */
export function requestIdOf(given: string | readonly string[] | undefined): string {
  return typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : randomUUID();
}
