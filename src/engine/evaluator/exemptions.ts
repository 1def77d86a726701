/** The requests that pass phases untouched (semantics §4), as bits, so that one `&` answers for a phase and a request. */
import { BOT_KINDS, SEARCH_CRAWLERS } from '../../base/vocabulary/vocabulary.ts';
import { botOf, type Facts } from './facts.ts';
import { isAcmeChallenge } from './special-paths.ts';

/**
 * `acme`: the request of an ACME server for a token. `pinned`: a bot_route rule has pinned the origin. `crawler`: a
 * verified search crawler.
 */
export const EXEMPT = { acme: 1, pinned: 2, crawler: 4 } as const;

/** The exemptions that the request's facts give; `pinned` is added by the phase bot_route. */
export function exemptionsOf(facts: Facts): number {
  const acme = isAcmeChallenge(facts) ? EXEMPT.acme : 0;
  return isVerifiedCrawler(facts) ? acme | EXEMPT.crawler : acme;
}

function isVerifiedCrawler(facts: Facts): boolean {
  const { bot } = facts.request;
  if (bot === undefined || bot === null) return false;
  const kind = BOT_KINDS[botOf(facts)];
  return facts.botVerified && (SEARCH_CRAWLERS as readonly (string | undefined)[]).includes(kind);
}
