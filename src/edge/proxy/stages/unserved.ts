/**
 * Answers of 421, for hosts that are not served. In: the request context and the reason. Out: a page that names the host and,
 * for clients on this machine, a way to a served one.
 */

import type { HostFacts } from '../../../base/addresses/host.ts';
import type { EdgeAnswer } from '../../../base/http/response.ts';
import {
  isLocalClient,
  localHelp,
  MAX_LISTED,
  strangerHelp,
  type UnservedHelp,
} from '../../answers/unserved.ts';
import type { RequestContext } from '../request-context.ts';
import type { UnservedReason } from '../unserved.ts';
import { DEFAULT_PORTS } from '../visitor.ts';

/** The answer to a request whose host is not served. */
export function answerUnserved(
  context: RequestContext,
  { host }: Pick<HostFacts, 'host'>,
  reason: UnservedReason,
): EdgeAnswer {
  const { unserved } = context.services;
  unserved.report(reason, host);
  context.unserved = { host, serverName: context.incoming.visitor.serverName, reason };
  return context.page(421, [], helpFor(context, host));
}

function helpFor({ incoming, services }: RequestContext, host: string): UnservedHelp {
  const { visitor, message } = incoming;
  // The port of the Host header may be any; the command needs the one that the request arrived on.
  const { scheme, port } = visitor;
  const request = { scheme, host, port: port === DEFAULT_PORTS[scheme] ? -1 : port };
  // Behind a proxy the peer is not the client.
  const address = visitor.trusted ? null : visitor.peer;
  if (address === null || !isLocalClient(address, message.headers)) return strangerHelp(request);
  return localHelp(request, address, services.unserved.hosts(MAX_LISTED + 1));
}
