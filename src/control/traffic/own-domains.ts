/** The domains that a node may report traffic of, by name: those of its groups. */
import { shareGroup } from '../../base/vocabulary/node-groups.ts';
import type { NodeRow } from '../store/rows.ts';
import type { ReadTransaction } from '../store/store.ts';
import { TrafficRefusal } from './fault.ts';

/**
 * Ids by name, of all names by one statement. Names without a domain, and those of domains that have left the node's groups,
 * have none and are not counted. `fieldOf` returns the field that names it in a message.
 * @throws TrafficRefusal for a name of other groups
 */
export async function ownDomains(
  tx: Pick<ReadTransaction, 'traffic'>,
  node: Pick<NodeRow, 'node_groups'>,
  { names, fieldOf }: { readonly names: readonly string[]; readonly fieldOf: (name: string) => string },
): Promise<ReadonlyMap<string, number>> {
  const ids = new Map<string, number>();
  for (const { name, domain_id, node_groups, left_groups } of await tx.traffic.domainsOf(names)) {
    if (shareGroup(node_groups, node.node_groups)) ids.set(name, domain_id);
    else if (!shareGroup(left_groups, node.node_groups))
      throw new TrafficRefusal(`${fieldOf(name)}: \`${name}\` is in no group of this node`);
  }
  return ids;
}
