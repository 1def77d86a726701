/**
 * Stage `verify credentials`. In: an identified request. Out: the request with the identity that its credentials prove, where a
 * gateway takes it. The identity is the edge's own finding: nothing in a message is read as one.
 */
import type { CredentialsWanted } from '../../engine/evaluator/gateways.ts';
import type { RequestIdentity } from '../../engine/evaluator/request.ts';
import { identifiedOf, type RequestContext, type StageResult } from './request-context.ts';

/** PERF: returns a promise only where the verifier does (`credentials/verify.ts`). */
export function verifyCredentials(context: RequestContext): StageResult {
  const { domain, request } = identifiedOf(context);
  const wanted = domain.evaluator.credentialsWanted(request);
  if (wanted === null) return null;
  const { services, startedAt, incoming } = context;
  const facts = { now: startedAt, certificate: incoming.certificate };
  const identity = services.credentials.verify(request, wanted, facts);
  return identity instanceof Promise
    ? identity.then((verified) => settle(context, wanted, verified))
    : settle(context, wanted, identity);
}

/** Stores the identity; 421 if it can be another one on another connection. */
function settle(context: RequestContext, wanted: CredentialsWanted, identity: RequestIdentity): StageResult {
  if (!needsConnection(context, wanted, identity)) return storeIdentity(context, identity);
  context.incoming.renew!();
  return context.page(421);
}

/**
 * Whether a request lacks the client certificate that its connection did not ask for: its handshake came before the gateway did. A
 * client repeats the request on another connection (RFC 9110 §15.5.20).
 */
function needsConnection(
  { incoming: { certificate, renew, visitor } }: RequestContext,
  wanted: CredentialsWanted,
  { consumer, failure }: RequestIdentity,
): boolean {
  if (wanted.clients === null || renew === undefined || certificate !== null) return false;
  // Without a server name no connection asks, and a proxy has its own certificate at most.
  if (visitor.serverName === null || visitor.trusted) return false;
  return failure === 'missing' ? wanted.require !== 'none' : consumer !== null && wanted.require === 'all';
}

function storeIdentity(context: RequestContext, identity: RequestIdentity): null {
  const identified = identifiedOf(context);
  context.identified = { ...identified, request: { ...identified.request, identity } };
  return null;
}
