/**
 * Stage `answer certificate authorities`: answers to HTTP-01 challenges (RFC 8555 §8.3), for the node's own certificates and
 * for those that the control plane orders. It runs before any plan is opened: a certificate may be ordered for a name that
 * the node does not serve yet. A request for an unknown token continues: the token may be the origin's.
 */
import { type HostFacts, parseHost } from '../../../base/addresses/host.ts';
import type { EdgeAnswer } from '../../../base/http/response.ts';
import { MAX_TOKEN_CHARACTERS } from '../limits.ts';
import { readRequest } from '../read-request.ts';
import type { NodeContext } from '../request-context.ts';

const PATH = '/.well-known/acme-challenge/';

/** The answer to a request for a token; `null`: the request is for something else. */
export function answerOwnToken(context: NodeContext): EdgeAnswer | null {
  const { method, url = '' } = context.incoming.message;
  if (!url.startsWith(PATH) || url.length > PATH.length + MAX_TOKEN_CHARACTERS) return null;
  if (method !== 'GET' && method !== 'HEAD') return null;
  const token = url.slice(PATH.length);
  const answer = context.services.ownTokens?.get(token) ?? domainAnswer(context, token);
  if (answer === undefined) return null;
  return { status: 200, headers: ['Content-Type', 'application/octet-stream'], body: answer };
}

/**
 * The answer of the domain that owns the host. A name above the host has no say if a longer one owns the host: a token of one
 * customer proves nothing about the hosts of another. A domain without a plan on this node is asked as well.
 */
function domainAnswer({ services, incoming }: NodeContext, token: string): string | undefined {
  const { domainTokens, plans } = services;
  if (domainTokens === null) return undefined;
  const head = readRequest(incoming.message);
  const facts: HostFacts = { host: '', port: -1, literal: false };
  if (!head.ok || !parseHost(head.host, facts) || facts.literal) return undefined;
  const { host } = facts;
  const { serverName } = incoming.visitor;
  if (serverName !== null && serverName !== host) return undefined;
  const owner = plans.owner(host);
  for (let name = host; name !== ''; name = parentOf(name)) {
    const answer = domainTokens.get(name, token);
    if (answer !== undefined || name === owner) return answer;
  }
  return undefined;
}

/** The name without its first label; empty: there is no further one. */
function parentOf(name: string): string {
  const dot = name.indexOf('.');
  return dot < 0 ? '' : name.slice(dot + 1);
}
