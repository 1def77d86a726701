/**
 * Seals lists whose content has changed, once for all domains that name them. In: lists whose sealed form is of an earlier version.
 * Out: their digests, with the octets in the store. Publications of several domains at the same time share one seal; two
 * processes may both seal a list, and get the same digest.
 */
import { LRUCache } from 'lru-cache';
import { openList } from '../../engine/evaluator/index.ts';
import type { Store } from '../store/store.ts';
import type { ListRow } from '../store/tables/lists.ts';
import { RECENT_SEALS } from './limits.ts';
import type { ListCache } from './plan-lists.ts';
import type { PlanMaker } from './plan-maker.ts';

/** The digests of lists by name. */
export type DigestsByName = ReadonlyMap<string, string>;

/** What a list sealer works with. */
export interface ListSealerOptions {
  readonly store: Pick<Store, 'write'>;
  readonly plans: Pick<PlanMaker, 'seal'>;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Receives each list that was sealed, for the self-tests of plans that name it. */
  readonly cache: ListCache;
}

export interface ListSealer {
  /**
   * The digests of these lists, each at least as new as it was read; those that changed since their last seal are sealed.
   * @throws PublishFault, StoreFault
   */
  digestsOf(lists: readonly ListRow[]): Promise<DigestsByName>;
}

export function createListSealer({ store, plans, clock, cache }: ListSealerOptions): ListSealer {
  const running = new Map<string, Promise<string | null>>();
  const recent = new LRUCache<string, string>({ max: RECENT_SEALS });

  async function seal(list: ListRow): Promise<string | null> {
    const content = await plans.seal(list);
    if (content === null) return null;
    const { version, digest, bytes } = content;
    cache.set(digest, openList(bytes, { trusted: true }));
    await store.write((tx) => tx.lists.putSealed(list.id, { version, digest, bytes, at: clock() }));
    recent.set(keyOf({ id: list.id, version }), digest);
    return digest;
  }

  /** `null`: the list is gone. */
  function digestOf(list: ListRow): Promise<string | null> {
    if (list.digest !== null && list.sealed_version === list.version) return Promise.resolve(list.digest);
    const key = keyOf(list);
    const known = recent.get(key);
    if (known !== undefined) return Promise.resolve(known);
    const before = running.get(key);
    if (before !== undefined) return before;
    const sealing = seal(list).finally(() => running.delete(key));
    running.set(key, sealing);
    return sealing;
  }

  return {
    async digestsOf(lists) {
      const found = await Promise.all(lists.map(async (list) => [list.name, await digestOf(list)] as const));
      return new Map(found.flatMap(([name, digest]) => (digest === null ? [] : [[name, digest] as const])));
    },
  };
}

function keyOf({ id, version }: Pick<ListRow, 'id' | 'version'>): string {
  return `${id}:${version}`;
}
