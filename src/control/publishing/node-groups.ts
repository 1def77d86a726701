/** Puts nodes and domains into groups. What a node may see by them is in `pages.ts` and `control/api/routes/feed.ts`. */
import { MAX_LEFT_GROUPS } from '../../base/vocabulary/limits.ts';
import { groupNames, leftGroups } from '../../base/vocabulary/node-groups.ts';
import type { DomainRow } from '../store/rows.ts';
import { type ReadTransaction, SERVICE, type WriteTransaction } from '../store/store.ts';

export interface NodeGroup {
  readonly name: string;
  /** Nodes whose token is not revoked. */
  readonly nodes: number;
  readonly domains: number;
}

/** The groups that a node or a domain is in, by name. */
export async function listGroups(
  tx: Pick<ReadTransaction, 'nodes' | 'groups'>,
): Promise<readonly NodeGroup[]> {
  const groups = new Map<string, { nodes: number; domains: number }>();
  const add = (set: string, what: 'nodes' | 'domains', count: number): void => {
    for (const name of groupNames(set)) {
      const group = groups.get(name) ?? { nodes: 0, domains: 0 };
      group[what] += count;
      groups.set(name, group);
    }
  };
  const nodes = (await tx.nodes.list()).filter(({ revoked_at }) => revoked_at === null);
  for (const { node_groups } of nodes) add(node_groups, 'nodes', 1);
  for (const { node_groups, domains } of await tx.groups.countDomains()) add(node_groups, 'domains', domains);
  return [...groups]
    .map(([name, counts]) => ({ name, ...counts }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

export type DomainMove =
  | { readonly ok: true; readonly changed: boolean }
  /** It has been in too many other groups. */
  | { readonly ok: false; readonly left: number };

/**
 * Puts a domain into groups. Its next revision goes to their nodes, and takes it from those of the groups that it leaves.
 */
export async function moveDomain(
  tx: WriteTransaction,
  domain: Pick<DomainRow, 'id' | 'name'>,
  { groups, now }: { readonly groups: string; readonly now: number },
): Promise<DomainMove> {
  const before = (await tx.groups.ofDomain(domain.id))!;
  if (before === groups) return { ok: true, changed: false };
  const current = await tx.plans.current(domain.name);
  const left = groupNames(
    leftGroups({ groups: current?.node_groups ?? '', left: current?.left_groups ?? '' }, groups),
  ).length;
  if (left > MAX_LEFT_GROUPS) return { ok: false, left };
  await tx.groups.setDomain(domain.id, groups);
  const about = { ...SERVICE, domain_id: domain.id, domain: domain.name, at: now };
  await tx.audit.append({
    ...about,
    action: 'domain.group',
    subject: '',
    before_json: JSON.stringify({ node_groups: groupNames(before) }),
    after_json: JSON.stringify({ node_groups: groupNames(groups) }),
  });
  await tx.outbox.append({ ...about, reason: 'node groups changed' });
  return { ok: true, changed: true };
}
