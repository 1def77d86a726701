/** Which domains a node may report about: those of its groups, and those that have left them. */
import { shareGroup } from '../base/node-groups.ts';
import type { DomainRow, NodeRow } from '../store/rows.ts';
import type { ReadTransaction } from '../store/store.ts';

/**
 * The domain of a name. `null`: there is none, or it has left the node's groups, and what the node counted before is of no
 * domain. `foreign`: it was never in a group of the node.
 */
export async function findOwnDomain(
  tx: ReadTransaction,
  { node_groups }: Pick<NodeRow, 'node_groups'>,
  name: string,
): Promise<DomainRow | 'foreign' | null> {
  const domain = await tx.domains.byName(name);
  if (domain === null) return null;
  const current = await tx.plans.current(name);
  const own = current?.domain_id === domain.id ? current : null;
  const groups = own?.node_groups ?? (await tx.groups.ofDomain(domain.id)) ?? '';
  if (shareGroup(groups, node_groups)) return domain;
  return shareGroup(own?.left_groups ?? '', node_groups) ? null : 'foreign';
}
