/**
 * Stage `answer certificate authorities`: answers to HTTP-01 challenges for the node's own certificates (RFC 8555 §8.3).
 * It runs before any plan is looked up: the node may request certificates for names that it does not serve yet. A request
 * for an unknown token continues: the token may be the origin's.
 */
import type { EdgeAnswer } from '../../http/response.ts';
import { MAX_TOKEN_CHARACTERS } from '../limits.ts';
import type { NodeContext } from '../request-context.ts';

const PATH = '/.well-known/acme-challenge/';

/** The answer to a request for one of the node's own tokens; `null`: the request is for something else. */
export function answerOwnToken({ incoming, services }: NodeContext): EdgeAnswer | null {
  const { ownTokens } = services;
  const { method, url = '' } = incoming.message;
  if (ownTokens === null || !url.startsWith(PATH)) return null;
  if (url.length > PATH.length + MAX_TOKEN_CHARACTERS) return null;
  const answer = ownTokens.get(url.slice(PATH.length));
  if (answer === undefined || (method !== 'GET' && method !== 'HEAD')) return null;
  return { status: 200, headers: ['Content-Type', 'application/octet-stream'], body: answer };
}
