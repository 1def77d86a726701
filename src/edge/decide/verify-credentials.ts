/**
 * Stage `verify credentials`. In: an identified request. Out: the request with the identity that its credentials prove, where a
 * gateway takes it. The identity is the edge's own finding: nothing in a message is read as one.
 */
import type { CredentialsWanted } from '../../engine/evaluator/gateways.ts';
import type { RequestIdentity } from '../../engine/evaluator/request.ts';
import { type Incoming, identifiedOf, type RequestContext, type StageResult } from './request-context.ts';

/** PERF: returns a promise only where the verifier does (`credentials/verify.ts`). */
export function verifyCredentials(context: RequestContext): StageResult {
  const { domain, request } = identifiedOf(context);
  const wanted = domain.evaluator.credentialsWanted(request);
  if (wanted === null) return null;
  const { services, startedAt, incoming } = context;
  const certificate = wanted.clients === null ? null : incoming.certificate;
  const facts = { now: startedAt, certificate };
  const identity = services.credentials.verify(request, wanted, facts);
  return identity instanceof Promise
    ? identity.then((verified) => settle(context, wanted, verified))
    : settle(context, wanted, identity);
}

/**
 * Stores the identity, or answers 421 where the gateway requires a client certificate and the connection did not ask for one: the
 * handshake came before the gateway did. A client repeats the request on another connection (RFC 9110 §15.5.20).
 */
function settle(context: RequestContext, wanted: CredentialsWanted, identity: RequestIdentity): StageResult {
  const { incoming } = context;
  const { renew } = incoming;
  if (renew === undefined || !wanted.needsCertificate || !lacksCertificate(incoming, identity))
    return storeIdentity(context, identity);
  renew();
  return context.page(421);
}

/** Whether the client certificate is all that a request lacks, and another connection of its client asks for one. */
function lacksCertificate(
  { certificate, visitor }: Incoming,
  { consumer, failure }: RequestIdentity,
): boolean {
  // A connection without a server name never asks, and a proxy has its own certificate at most.
  if (certificate !== null || visitor.serverName === null || visitor.trusted) return false;
  return consumer !== null || failure === 'missing';
}

function storeIdentity(context: RequestContext, identity: RequestIdentity): null {
  const identified = identifiedOf(context);
  context.identified = { ...identified, request: { ...identified.request, identity } };
  return null;
}
