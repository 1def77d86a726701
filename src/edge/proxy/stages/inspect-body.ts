/**
 * Stage `inspect the body`. In: an identified request. Out: the request with the octets of its body that rules inspect,
 * and the body for the origin; 400 or 408 if the body does not arrive.
 */
import { BodyFault } from '../../../base/buffers/client-body.ts';
import type { EdgeAnswer } from '../../../base/http/response.ts';
import {
  type InspectedRequestBody,
  identifiedOf,
  type RequestContext,
  type StageResult,
} from '../request-context.ts';

/** Reads nothing, and returns at once, if no rule inspects the body of this request. */
export function inspectBody(context: RequestContext): StageResult {
  const { incoming, inspector } = context;
  const { hasBody, domain, request } = identifiedOf(context);
  if (!hasBody) return null;
  context.body = incoming.message;
  const wanted = domain.evaluator.bodyWanted(request);
  if (wanted === 0) return null;
  incoming.proceed();
  return inspector(incoming.message, wanted).then(
    (body) => storeBody(context, body),
    (error: unknown) => refuseBody(context, error),
  );
}

function storeBody(context: RequestContext, { inspected, error, outgoing }: InspectedRequestBody): null {
  const identified = identifiedOf(context);
  const request = { ...identified.request, body: inspected, bodyError: error };
  context.identified = { ...identified, request };
  context.body = outgoing;
  if ('ended' in outgoing) context.octetsRead = outgoing.read.length;
  return null;
}

function refuseBody(context: RequestContext, error: unknown): EdgeAnswer {
  // Node would parse the rest of the body as the next request.
  context.incoming.last();
  return context.page(error instanceof BodyFault && error.code === 'slow' ? 408 : 400);
}
