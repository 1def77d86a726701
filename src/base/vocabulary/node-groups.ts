/**
 * Groups of nodes and domains: a node sees the domains that it shares a group with. A set of groups is stored and compared
 * as a text, its names sorted and joined by commas.
 */
import { MAX_NODE_GROUPS } from './limits.ts';

/** The group of every node and domain that was put into no other. */
export const DEFAULT_GROUP = 'default';

const NAME_SHAPE = /^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/;

/** The set that names joined by commas are; `null` when one of them cannot be a group, or they are none or too many. */
export function readGroups(text: string): string | null {
  const names = [...new Set(text.split(',').map((name) => name.trim()))];
  if (names.length > MAX_NODE_GROUPS || names.some((name) => !NAME_SHAPE.test(name))) return null;
  return names.sort().join(',');
}

/** The names of a set. */
export function groupNames(groups: string): readonly string[] {
  return groups === '' ? [] : groups.split(',');
}

/** Whether two sets have a group in common. */
export function shareGroup(a: string, b: string): boolean {
  const names = new Set(groupNames(a));
  return groupNames(b).some((name) => names.has(name));
}

/** The groups that a domain was in and is in no more. */
export function leftGroups(before: { readonly groups: string; readonly left: string }, now: string): string {
  const left = new Set([...groupNames(before.left), ...groupNames(before.groups)]);
  for (const name of groupNames(now)) left.delete(name);
  return [...left].sort().join(',');
}
