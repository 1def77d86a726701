/**
 * Stage `log`. In: the context of a finished request, and how its response ended. Out: one entry in the request log, and the
 * end of the request's span.
 */
import type { ClientOutcome } from '../client-response.ts';
import type { RequestLogEntry } from '../log/request-log.ts';
import type { NodeContext } from '../request-context.ts';
import { endRequestSpan } from '../request-span.ts';
import type { ProxyServices } from '../services.ts';

/** Called once a request, when its response or its switched connection has ended. */
export function logRequest(context: NodeContext, { status, octets, fault }: ClientOutcome): void {
  const entry: RequestLogEntry = {
    exchange: context.exchange,
    unserved: context.unserved,
    id: context.id,
    status,
    octets,
    durationMs: performance.now() - context.began,
    cache: context.cacheResult,
    markdown: context.markdown,
    fault: context.fault ?? fault?.code ?? null,
  };
  context.services.requestLog.done(entry);
  if (context.span !== null) endRequestSpan(context.span, context.incoming, entry);
}

/** Logs the refusal of octets that are no request: no context exists for them. */
export function logUnreadable(
  { requestLog }: Pick<ProxyServices, 'requestLog'>,
  refusal: { readonly id: string; readonly status: number; readonly octets: number },
): void {
  requestLog.done({ exchange: null, ...refusal, durationMs: 0, cache: null, markdown: null, fault: null });
}
