/** Stage `log`. In: the context of a finished request, and how its response ended. Out: one entry in the request log. */
import type { ClientOutcome } from '../client-response.ts';
import type { NodeContext } from '../request-context.ts';
import type { ProxyServices } from '../services.ts';

/** Called once a request, when its response or its switched connection has ended. */
export function logRequest(context: NodeContext, { status, octets, fault }: ClientOutcome): void {
  context.services.requestLog.done({
    exchange: context.exchange,
    unserved: context.unserved,
    id: context.id,
    status,
    octets,
    durationMs: performance.now() - context.began,
    cache: context.cacheResult,
    markdown: context.markdown,
    fault: context.fault ?? fault?.code ?? null,
  });
}

/** Logs the refusal of octets that are no request: no context exists for them. */
export function logUnreadable(
  { requestLog }: Pick<ProxyServices, 'requestLog'>,
  refusal: { readonly id: string; readonly status: number; readonly octets: number },
): void {
  requestLog.done({ exchange: null, ...refusal, durationMs: 0, cache: null, markdown: null, fault: null });
}
