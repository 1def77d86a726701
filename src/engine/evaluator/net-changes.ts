/** What changes of headers come to by name, for readers to whom their order has no meaning. */
import type { HeaderChange } from './decision.ts';

/** What the changes of one name come to. */
export interface NetChange {
  /** Whether the fields of this name that were there before are removed. */
  readonly replaces: boolean;
  /** The values that are sent, besides those that stay. */
  readonly values: readonly string[];
}

/** What changes come to, by lower-case name. */
export function netChanges(changes: readonly HeaderChange[]): ReadonlyMap<string, NetChange> {
  const net = new Map<string, NetChange>();
  for (const { op, name, value } of changes) {
    const lower = name.toLowerCase();
    const before = net.get(lower);
    const stays = op === 'add' ? (before?.values ?? []) : [];
    net.set(lower, {
      replaces: op !== 'add' || before?.replaces === true,
      values: value === null ? [] : [...stays, value],
    });
  }
  return net;
}
