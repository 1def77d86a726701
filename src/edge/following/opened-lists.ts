/**
 * The opened lists and registries of a process (semantics §13, §15): one copy of each in memory, which all open plans that refer to it
 * share. It is read again when the last of them is closed.
 */
import { openPlanPart, type PlanPart } from '../../engine/evaluator/index.ts';

/** Lists and registries by the SHA-256 of their sealed octets, 64 lower-case hex digits. */
export interface Lists {
  /** The opened form. @throws DamageFault, PlanFault, or the system's error */
  get(digest: string): PlanPart;
  /** Reads the file, also of one that is open. @throws DamageFault, or the system's error */
  verify(digest: string): void;
}

/** Those of a node that fetches them. */
export interface OpenedLists extends Lists {
  /** Opens and checks octets that were fetched. @throws PlanFault */
  add(digest: string, bytes: Uint8Array): PlanPart;
}

/** @param read the octets of a file, whose digest it checks @throws DamageFault, or the system's error */
export function createOpenedLists(read: (digest: string) => Uint8Array): OpenedLists {
  /** Weak: what one takes is free once no plan and no test of a plan has it. */
  const opened = new Map<string, WeakRef<PlanPart>>();

  function enter(digest: string, list: PlanPart): PlanPart {
    // So that what is stored are the lists that are open, not all that ever were.
    for (const [other, one] of opened) if (one.deref() === undefined) opened.delete(other);
    opened.set(digest, new WeakRef(list));
    return list;
  }

  return {
    // What is read was checked when it was fetched, and has the same digest now.
    get: (digest) =>
      opened.get(digest)?.deref() ?? enter(digest, openPlanPart(read(digest), { trusted: true })),
    verify: (digest) => void read(digest),
    add: (digest, bytes) => enter(digest, openPlanPart(bytes)),
  };
}
