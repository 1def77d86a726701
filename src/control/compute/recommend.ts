/** Computes the recommendations of a domain and returns a page of them. */

import { printRecommendation } from '../recommendations/print-recommendation.ts';
import { readFactRows, toFacts } from '../recommendations/read-facts.ts';
import { recommend } from '../recommendations/recommend.ts';
import type { Snapshots } from '../store/database/snapshots.ts';
import type { ListPage, RecommendJob } from './job.ts';
import { MAX_RESULT_PAGE_OCTETS } from './limits.ts';

/** Those from index `from` on, at most `limit` and `MAX_RESULT_PAGE_OCTETS`. @throws StoreFault, CountsFault */
export async function recommendPage(job: RecommendJob, snapshots: Snapshots): Promise<ListPage> {
  const { limit, from } = job;
  const facts = toFacts(await snapshots.read((tx) => readFactRows(tx, job)), job);
  const drafts = recommend(facts);
  const of = { domain: facts.domain.name, records: facts.records };
  const texts: string[] = [];
  let octets = 0;
  for (const draft of drafts.slice(from, from + limit)) {
    const text = JSON.stringify(printRecommendation(draft, of));
    octets += Buffer.byteLength(text) + 1;
    // A page has at least one recommendation, so that paging always ends.
    if (octets > MAX_RESULT_PAGE_OCTETS && texts.length > 0) break;
    texts.push(text);
  }
  return { text: `[${texts.join(',')}]`, of: drafts.length, shown: texts.length };
}
