/**
 * Stage `inspect the body`. In: an identified request. Out: the request with the octets of its body that rules inspect,
 * and the body for the origin; 400 or 408 if the body does not arrive.
 */
import type { EdgeAnswer } from '../../base/http/header-fields.ts';
import {
  type InspectedRequestBody,
  identifiedOf,
  type RequestContext,
  type StageResult,
} from './request-context.ts';

/** Reads nothing, and returns at once, if no rule inspects the body of this request. */
export function inspectBody(context: RequestContext): StageResult {
  const { incoming, reader } = context;
  const { message } = incoming;
  const { hasBody, domain, request } = identifiedOf(context);
  if (!hasBody) return null;
  context.body = reader.whole(message);
  const wanted = domain.evaluator.bodyWanted(request);
  if (wanted === 0) return null;
  incoming.proceed();
  return reader.inspect(message, wanted).then(
    (body) => storeBody(context, body),
    (error: unknown) => refuseBody(context, error),
  );
}

function storeBody(context: RequestContext, body: InspectedRequestBody | null): null {
  if (body === null) {
    // Not `unread`, which scores or blocks: behind a proxy that passes no bodies on, that would be every upload.
    const identified = identifiedOf(context);
    context.identified = {
      ...identified,
      request: { ...identified.request, body: null, bodyTruncated: true },
    };
    context.isPartial = true;
    return null;
  }
  const { inspected, error, outgoing, taken = 0, isPartial = false } = body;
  const identified = identifiedOf(context);
  const request = { ...identified.request, body: inspected, bodyError: error, bodyTruncated: isPartial };
  context.identified = { ...identified, request };
  context.body = outgoing;
  context.isPartial = isPartial;
  context.octetsRead = taken;
  return null;
}

function refuseBody(context: RequestContext, error: unknown): EdgeAnswer {
  // A server would parse the rest of the body as the next request.
  context.incoming.last();
  return context.page((error as { readonly code?: unknown }).code === 'slow' ? 408 : 400);
}
