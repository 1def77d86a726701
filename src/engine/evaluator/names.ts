/** Finds the records of a host: the exact name, else the wildcard at the closest encloser (RFC 4592). */
import { GROUP, META, MONITORED, NAME, NONE, nameHash, RECORD } from '../plan/layout.ts';
import { type LoadedPlan, textOf } from './loaded.ts';

/** The number of the host's group, or NONE when no proxied record serves it. */
export function findGroup(loaded: LoadedPlan, host: string): number {
  const { plan } = loaded;
  const domain = textOf(loaded, plan.meta[META.domain]!);
  let row = nameRow(loaded, host, 0);
  if (row >= 0) return plan.names[row + NAME.group]!;
  let at = 0;
  while (host.length - at > domain.length) {
    at = host.indexOf('.', at) + 1;
    if (at === 0) return NONE;
    row = nameRow(loaded, host, at);
    if (row >= 0) return plan.names[row + NAME.wildcard]!;
  }
  return NONE;
}

/** Whether a normalised name has a record of any type, or lies above one. */
export function hasName(loaded: LoadedPlan, name: string): boolean {
  return nameRow(loaded, name, 0) >= 0;
}

/** Whether a record of a normalised host has `monitor: true`. */
export function isMonitored(loaded: LoadedPlan, host: string): boolean {
  const { meta, words } = loaded.plan;
  if ((meta[META.switches]! & MONITORED) === 0) return false;
  const group = findGroup(loaded, host);
  if (group === NONE) return false;
  const at = words[meta[META.groups]! + group]!;
  return words[at + GROUP.records + words[at + GROUP.count]! * RECORD.size] === 1;
}

/** Names of proxied records, at most so many, in no order; `*.` before a name: all hosts below it. */
export function servedHosts(loaded: LoadedPlan, most: number): readonly string[] {
  const { names, meta } = loaded.plan;
  const hosts: string[] = [];
  const end = meta[META.nameSlots]! * NAME.size;
  for (let row = 0; row < end && hosts.length < most; row += NAME.size) {
    const name = names[row + NAME.string]!;
    if (name !== 0 && names[row + NAME.group] !== NONE) hosts.push(textOf(loaded, name));
  }
  return hosts;
}

/** The row of the name that `host` is from `at` on, or -1. */
function nameRow(loaded: LoadedPlan, host: string, at: number): number {
  const { names, meta } = loaded.plan;
  const mask = meta[META.nameSlots]! - 1;
  for (let slot = nameHash(host, at) & mask; ; slot = (slot + 1) & mask) {
    const row = slot * NAME.size;
    const name = names[row + NAME.string]!;
    if (name === 0) return -1;
    const text = textOf(loaded, name);
    if (text.length === host.length - at && host.endsWith(text)) return row;
  }
}
