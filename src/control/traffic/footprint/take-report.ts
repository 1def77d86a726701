/** Takes a node's report of one of its caches. In: a report that fits its schema. Out: rows of the domains that the node serves. */
import { normalizeName } from '../../../base/addresses/host.ts';
import { urlHost } from '../../../base/paths/purge-values.ts';
import { MAX_DOMAIN_REPORT_OCTETS } from '../../../base/vocabulary/limits.ts';
import type { CacheReport } from '../../../engine/plan/cache-report.ts';
import type { NodeRow } from '../../store/rows.ts';
import type { Store } from '../../store/store.ts';
import { TrafficRefusal } from '../fault.ts';
import { ownDomains } from '../own-domains.ts';
import { MAX_STORED_OCTETS, REPORT_COUNTS_MS } from './limits.ts';

/**
 * Stores a report; resolves with the number of its domains that exist.
 * @throws TrafficRefusal for a domain of other groups, a name in another form, a domain twice, or more URLs than the bounds allow,
 * or a URL of another scheme or host
 */
export async function takeCacheReport(
  store: Pick<Store, 'latest' | 'write'>,
  node: NodeRow,
  { sent, now }: { readonly sent: Omit<CacheReport, 'format'>; readonly now: number },
): Promise<number> {
  const places = new Map(sent.domains.map(({ domain }, place) => [domain, `domains[${place}].domain`]));
  const wrong = sent.domains.findIndex(({ domain }) => normalizeName(domain) !== domain);
  if (wrong >= 0) throw new TrafficRefusal(`domains[${wrong}].domain: must be a name in lower case`);
  if (places.size < sent.domains.length) throw new TrafficRefusal('domains: a domain must be there once');
  const names = [...places.keys()];
  const fieldOf = (name: string): string => places.get(name) ?? 'domains';
  const ids = names.length === 0 ? null : await ownDomains(store.latest, node, { names, fieldOf });
  const rows = sent.domains.flatMap(({ domain, urls, ...totals }, place) => {
    const foreign = urls.findIndex(({ url }) => !isOf(domain, url));
    if (foreign >= 0) {
      const form = `must be an http or https URL of \`${domain}\` or a name below it`;
      throw new TrafficRefusal(`domains[${place}].urls[${foreign}].url: ${form}`);
    }
    const urls_json = JSON.stringify(urls);
    if (Buffer.byteLength(urls_json) > MAX_DOMAIN_REPORT_OCTETS) {
      const found = `at most ${MAX_DOMAIN_REPORT_OCTETS} octets of JSON, found ${Buffer.byteLength(urls_json)}`;
      throw new TrafficRefusal(`domains[${place}].urls: ${found}`);
    }
    const domain_id = ids?.get(domain);
    return domain_id === undefined ? [] : [{ domain_id, ...totals, urls_json }];
  });
  const octets = rows.reduce((sum, { urls_json }) => sum + Buffer.byteLength(urls_json), 0);
  if (octets > MAX_STORED_OCTETS) {
    throw new TrafficRefusal(`domains: at most ${MAX_STORED_OCTETS} octets of URLs, found ${octets}`, 413);
  }
  const { process, run } = sent;
  const report = { node_id: node.id, process, run, at: now, oldest: now - REPORT_COUNTS_MS, rows };
  await store.write((tx) => tx.caches.report(report));
  return rows.length;
}

/** Whether a URL is of a domain or a name below it: the panel shows the URLs of a domain to its members as links. */
function isOf(domain: string, url: string): boolean {
  const host = urlHost(url);
  return host !== null && (host === domain || host.endsWith(`.${domain}`));
}
