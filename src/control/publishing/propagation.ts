/** How far one revision has come: which nodes run it, which refused it, how long that took. */
import { DEFAULT_GROUP, shareGroup } from '../../base/vocabulary/node-groups.ts';
import type { DomainRow, NodeRow, ReportRow, RevisionRow } from '../store/rows.ts';
import type { ReadTransaction } from '../store/store.ts';

export interface NodeAnswer {
  readonly node: string;
  readonly outcome: 'ack' | 'nack';
  /** Why a nack; empty for an ack. */
  readonly reason: string;
  /** Milliseconds from the commit of the revision to the arrival of the answer. */
  readonly ms: number;
}

export interface Propagation {
  /** Nodes that have acknowledged it. */
  readonly live: number;
  /** Nodes in the domain's groups whose token is not revoked. */
  readonly nodes: number;
  readonly refused: number;
  /** Milliseconds until the last acknowledgement; `null` before the first. */
  readonly ms: number | null;
  /** `live on 3 of 3 nodes, 41 ms`. */
  readonly summary: string;
  /** By node's name. */
  readonly answers: readonly NodeAnswer[];
}

/** The nodes that serve a name now: those of its groups that are not revoked. */
export async function nodesOf(tx: ReadTransaction, { id, name }: Holder): Promise<readonly NodeRow[]> {
  const current = await tx.plans.current(name);
  // If the current plan belongs to an earlier domain of the name, or is missing, the domain's own groups decide.
  const own = current?.domain_id === id ? current.node_groups : null;
  const groups = own ?? (await tx.groups.ofDomain(id)) ?? DEFAULT_GROUP;
  const nodes = await tx.nodes.list();
  return nodes.filter(
    ({ revoked_at, node_groups }) => revoked_at === null && shareGroup(node_groups, groups),
  );
}

type Holder = Pick<DomainRow, 'id' | 'name'>;

/** The answers of nodes to one revision. Revoked nodes, and those of other groups, are left out. */
export async function propagationOf(tx: ReadTransaction, revision: RevisionRow): Promise<Propagation> {
  const nodes = await nodesOf(tx, { id: revision.domain_id, name: revision.domain });
  const reports = await tx.nodes.reportsOn(revision.domain, revision.revision);
  return summarise(nodes, reports, revision.at);
}

function summarise(nodes: readonly NodeRow[], reports: readonly ReportRow[], at: number): Propagation {
  const names = new Map(nodes.map((node) => [node.id, node.name]));
  const answers = reports
    .flatMap(({ node_id, outcome, reason, at: answeredAt }): NodeAnswer[] => {
      const node = names.get(node_id);
      return node === undefined ? [] : [{ node, outcome, reason, ms: Math.max(0, answeredAt - at) }];
    })
    .sort((a, b) => (a.node < b.node ? -1 : 1));
  const live = answers.filter(({ outcome }) => outcome === 'ack');
  const refused = answers.length - live.length;
  const ms = live.length === 0 ? null : Math.max(...live.map((answer) => answer.ms));
  const on = `live on ${live.length} of ${nodes.length} ${nodes.length === 1 ? 'node' : 'nodes'}`;
  const time = ms === null ? '' : `, ${ms} ms`;
  const refusals = refused === 0 ? '' : `, refused by ${refused}`;
  return { live: live.length, nodes: nodes.length, refused, ms, summary: `${on}${time}${refusals}`, answers };
}
