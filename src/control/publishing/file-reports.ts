/**
 * Files a node's answers to revisions, as far as they can be true: names of its groups, revisions that were published. In: the
 * answers of one report. One that cannot be true files none of them.
 */
import { shareGroup } from '../../base/vocabulary/node-groups.ts';
import type { NodeRow, ReportRow } from '../store/rows.ts';
import type { ReadTransaction, WriteTransaction } from '../store/store.ts';

/** The message names the field and the limit. */
export class ReportRefusal extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ReportRefusal';
  }
}

/** A node's answer to one revision. */
export type SentReport = Omit<ReportRow, 'node_id' | 'at'>;

/**
 * Checks a node's answers, before they are filed.
 * @throws ReportRefusal for an answer about a domain in none of the node's groups (nor one that has left them), or to a
 *   revision that does not exist
 */
export async function checkReports(
  tx: ReadTransaction,
  node: Pick<NodeRow, 'node_groups'>,
  reports: readonly SentReport[],
): Promise<void> {
  for (const [place, report] of reports.entries()) await checkAnswer(tx, node, { report, place });
}

/** Files checked answers. */
export async function fileReports(
  tx: WriteTransaction,
  node: Pick<NodeRow, 'id'>,
  { reports, now }: { readonly reports: readonly SentReport[]; readonly now: number },
): Promise<void> {
  await tx.nodes.report(reports.map((report) => ({ ...report, node_id: node.id, at: now })));
}

async function checkAnswer(
  tx: ReadTransaction,
  { node_groups }: Pick<NodeRow, 'node_groups'>,
  { report, place }: { readonly report: SentReport; readonly place: number },
): Promise<void> {
  const { domain, revision } = report;
  const current = await tx.plans.current(domain);
  const groups = current === null ? '' : `${current.node_groups},${current.left_groups}`;
  if (current === null || !shareGroup(groups, node_groups)) {
    throw new ReportRefusal(`reports[${place}].domain: \`${domain}\` is in no group of this node`);
  }
  if (revision <= current.revision) return;
  const newest = `the newest revision of \`${domain}\` is ${current.revision}`;
  throw new ReportRefusal(`reports[${place}].revision: ${newest}, found ${revision}`);
}
