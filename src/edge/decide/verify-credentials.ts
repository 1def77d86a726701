/**
 * Stage `verify credentials`. In: an identified request. Out: the request with the identity that its credentials prove, where a
 * gateway takes it. The identity is the edge's own finding: nothing in a message is read as one.
 */
import type { RequestIdentity } from '../../engine/evaluator/request.ts';
import { identifiedOf, type RequestContext, type StageResult } from './request-context.ts';

/** PERF: returns a promise only where the verifier does (`credentials/verify.ts`). */
export function verifyCredentials(context: RequestContext): StageResult {
  const { domain, request } = identifiedOf(context);
  const wanted = domain.evaluator.credentialsWanted(request);
  if (wanted === null) return null;
  const { services, startedAt } = context;
  const identity = services.credentials.verify(request, wanted, { now: startedAt });
  return identity instanceof Promise
    ? identity.then((verified) => storeIdentity(context, verified))
    : storeIdentity(context, identity);
}

function storeIdentity(context: RequestContext, identity: RequestIdentity): null {
  const identified = identifiedOf(context);
  context.identified = { ...identified, request: { ...identified.request, identity } };
  return null;
}
