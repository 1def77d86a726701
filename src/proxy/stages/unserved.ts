/**
 * Answers of 421, for hosts that are not served. In: the request context and the reason. Out: a page that names the host and,
 * for clients on this machine, a way to a served one.
 */
import {
  isLocalClient,
  localHelp,
  MAX_LISTED,
  strangerHelp,
  type UnservedHelp,
} from '../../answers/unserved.ts';
import type { HostFacts } from '../../base/host.ts';
import type { EdgeAnswer } from '../../http/response.ts';
import type { RequestContext } from '../request-context.ts';
import type { UnservedReason } from '../unserved.ts';

/** The answer to a request whose host is not served. */
export function answerUnserved(
  context: RequestContext,
  { host, port }: Pick<HostFacts, 'host' | 'port'>,
  reason: UnservedReason,
): EdgeAnswer {
  const { unserved } = context.services;
  unserved.report(reason, host);
  return context.page(421, [], helpFor(context, { host, port }));
}

function helpFor(
  { incoming, services }: RequestContext,
  asked: Pick<HostFacts, 'host' | 'port'>,
): UnservedHelp {
  const { visitor, message } = incoming;
  const request = { ...asked, scheme: visitor.scheme };
  // Behind a proxy the peer is not the client.
  const address = visitor.trusted ? null : visitor.peer;
  if (address === null || !isLocalClient(address, message.headers)) return strangerHelp(request);
  return localHelp(request, address, services.unserved.hosts(MAX_LISTED + 1));
}
