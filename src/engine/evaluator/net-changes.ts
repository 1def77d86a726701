/** The net effect of header changes by name, for doors and tests, which do not apply them in order. */
import type { HeaderChange } from './decision.ts';

/** The net effect of the changes of one name. */
export interface NetChange {
  /** Whether the fields of this name that were there before are removed. */
  readonly replaces: boolean;
  /** The values that are sent, besides those that stay. */
  readonly values: readonly string[];
}

/** The net effects of changes, by lower-case name. */
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
