/** Finds the domain of an imported source from its hosts (Public Suffix List, by `tldts`). */
import { getDomain } from 'tldts';

/** The registrable domain that most of the hosts belong to; the first of several. `null`: no host has one. */
export function domainOf(hosts: readonly string[]): string | null {
  const counts = new Map<string, number>();
  for (const host of hosts) {
    const domain = getDomain(host.replace(/^\*\./, ''), { allowPrivateDomains: true });
    if (domain !== null) counts.set(domain, (counts.get(domain) ?? 0) + 1);
  }
  let best: string | null = null;
  for (const [domain, count] of counts) {
    if (best === null || count > counts.get(best)!) best = domain;
  }
  return best;
}
