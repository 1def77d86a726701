/** The HTTP-01 challenges that come with the control plane's feed, by domain. In: the challenges of a domain. Out: the answer to a token. */

import type { ChallengeSink } from '../following/install-challenges.ts';
import type { DomainTokens } from '../proxy/services.ts';

/** The challenges of the feed in one process. */
export interface FeedTokens extends DomainTokens, ChallengeSink {
  set(...change: Parameters<ChallengeSink['set']>): void;
}

export function createFeedTokens(): FeedTokens {
  const domains = new Map<string, ReadonlyMap<string, string>>();
  return {
    set(domain, challenges) {
      if (challenges.length === 0) domains.delete(domain);
      else domains.set(domain, new Map(challenges.map(({ token, answer }) => [token, answer])));
    },
    get: (domain, token) => domains.get(domain)?.get(token),
  };
}
