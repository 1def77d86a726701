/** Lints the stored rules of a domain and returns a page of the findings. */

import { diagnosticFields } from '../../base/diagnostics/diagnostic.ts';
import { lintRuleSet } from '../../workbench/proofs/lint.ts';
import { readDomainRows, toRuleSet } from '../publishing/rule-set.ts';
import type { Snapshots } from '../store/database/snapshots.ts';
import type { AnalysisJob, ListPage } from './job.ts';
import { MAX_RESULT_PAGE_OCTETS } from './limits.ts';

/** The findings from index `from` on, at most `limit` and `MAX_RESULT_PAGE_OCTETS`. @throws StoreFault */
export async function analyse({ domain, from, limit }: AnalysisJob, snapshots: Snapshots): Promise<ListPage> {
  const rows = await snapshots.read((tx) => readDomainRows(tx, domain));
  const findings = lintRuleSet(toRuleSet(rows));
  const texts: string[] = [];
  let octets = 0;
  for (const finding of findings.slice(from, from + limit)) {
    const text = JSON.stringify(diagnosticFields(finding));
    octets += Buffer.byteLength(text) + 1;
    // A page has at least one finding, so that paging always ends.
    if (octets > MAX_RESULT_PAGE_OCTETS && texts.length > 0) break;
    texts.push(text);
  }
  return { text: `[${texts.join(',')}]`, of: findings.length, shown: texts.length };
}
