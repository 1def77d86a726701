/** Targets of ALIAS records as the store has them, for the flattener. Several processes divide them by claims. */
import type { Store } from '../store/store.ts';
import type { FlattenedTargetRow } from '../store/zone-repositories.ts';
import type { FlattenedTarget, FlattenedTargets } from './flatten.ts';
import { TARGET_CLAIM_MS } from './limits.ts';

/** Reads and writes targets. `clock` in milliseconds since the epoch. */
export function createStoreTargets(store: Store, clock: () => number): FlattenedTargets {
  return {
    async due(now, limit, lane) {
      const claim = { now, until: now + TARGET_CLAIM_MS, limit, failing: lane === 'failing' };
      return (await store.write((tx) => tx.zones.claimTargets(claim))).map(targetOf);
    },
    put: ({ addresses, ...target }, changed) =>
      store.write(async (tx) => {
        await tx.zones.putTarget({ ...target, addresses_json: JSON.stringify(addresses) });
        if (changed) await tx.zones.mark(await tx.zones.usersOf(target.target), clock());
      }),
  };
}

function targetOf({ addresses_json, ...row }: FlattenedTargetRow): FlattenedTarget {
  return { ...row, addresses: JSON.parse(addresses_json) };
}
