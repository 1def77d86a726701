/**
 * Answers of the node itself to a certificate authority (RFC 8555 §8.3), before any plan is asked: the names it wants
 * certificates for need not be served yet. Tokens that are not the node's go on to whoever they are for.
 */
import type { ClientRequest } from '../http/client-messages.ts';
import type { EdgeAnswer } from '../http/response.ts';
import { MAX_TOKEN_CHARACTERS } from './limits.ts';

/** Answers by token. */
export type OwnTokens = Pick<ReadonlyMap<string, string>, 'get'>;

const PATH = '/.well-known/acme-challenge/';

/** The answer to a request for one of the node's own tokens; `null`: it is none. */
export function ownTokenAnswer(
  { method, url = '' }: Pick<ClientRequest, 'method' | 'url'>,
  tokens: OwnTokens,
): EdgeAnswer | null {
  if (!url.startsWith(PATH) || url.length > PATH.length + MAX_TOKEN_CHARACTERS) return null;
  const answer = tokens.get(url.slice(PATH.length));
  if (answer === undefined || (method !== 'GET' && method !== 'HEAD')) return null;
  return { status: 200, headers: ['Content-Type', 'application/octet-stream'], body: answer };
}
