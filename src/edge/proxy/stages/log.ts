/**
 * Stage `log`. In: the context of a finished request, and how its response ended. Out: one entry in the request log, and the
 * end of the request's span and of its slot.
 */
import { type HostFacts, parseHost } from '../../../base/addresses/host.ts';
import { endRequest } from '../../decide/request-context.ts';
import type { ClientOutcome } from '../client-response.ts';
import type { RequestLogEntry } from '../log/request-log.ts';
import type { OriginUse } from '../origin/request.ts';
import type { NodeContext } from '../request-context.ts';
import { endRequestSpan } from '../request-span.ts';
import type { ProxyServices } from '../services.ts';

/** Called once a request, when its response or its switched connection has ended. */
export function logRequest(context: NodeContext, { status, octets, headAt, fault }: ClientOutcome): void {
  endRequest(context);
  const use = originUse(context);
  const entry: RequestLogEntry = {
    exchange: context.exchange,
    unserved: context.unserved,
    id: context.id,
    status,
    octets,
    octetsIn: context.clientBody === null ? context.octetsRead : context.clientBody.received(),
    durationMs: performance.now() - context.began,
    firstOctetMs: headAt === null ? null : headAt - context.began,
    origin: use === null ? null : use.result,
    originMs: use === null ? null : use.ms,
    monitored: use !== null && isMonitored(context),
    cache: context.cacheResult,
    markdown: context.markdown,
    fault: context.fault ?? fault?.code ?? null,
  };
  context.services.requestLog.done(entry);
  if (context.span !== null) endRequestSpan(context.span, context.incoming, entry);
}

/** The request's way to the origin; `null`: it was answered without one, whatever the cache fetches after it. */
function originUse({ originUse: use, cacheResult }: NodeContext): OriginUse | null {
  if (use === null || !use.begun) return null;
  return cacheResult === 'stale' && use.result === 'abandoned' ? null : use;
}

/** PERF: one object for all requests; nothing reads it after `isMonitored`. */
const host: HostFacts = { host: '', port: -1, literal: false };

function isMonitored({ exchange }: NodeContext): boolean {
  if (exchange === null || !exchange.domain.settings.monitored) return false;
  return parseHost(String(exchange.request.host), host) && exchange.domain.evaluator.monitors(host.host);
}

/** Logs the refusal of octets that are no request: no context exists for them. */
export function logUnreadable(
  { requestLog }: Pick<ProxyServices, 'requestLog'>,
  refusal: { readonly id: string; readonly status: number; readonly octets: number },
): void {
  requestLog.done({
    exchange: null,
    ...refusal,
    octetsIn: 0,
    durationMs: 0,
    firstOctetMs: null,
    origin: null,
    originMs: null,
    monitored: false,
    cache: null,
    markdown: null,
    fault: null,
  });
}
