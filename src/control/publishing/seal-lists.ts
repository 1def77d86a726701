/**
 * Seals lists whose content has changed, once for all domains that name them, and registries. In: those whose sealed form is of an earlier
 * version. Out: their digests, with the octets in the store. Publications of several domains at the same time share one seal; two
 * processes may both seal a list, and get the same digest.
 */
import { LRUCache } from 'lru-cache';
import { openList, openRegistry } from '../../engine/evaluator/index.ts';
import type { Store } from '../store/store.ts';
import type { ListRow } from '../store/tables/lists.ts';
import type { RegistryRow } from '../store/tables/registry.ts';
import { RECENT_SEALS } from './limits.ts';
import type { ListCache } from './plan-lists.ts';
import type { PlanMaker } from './plan-maker.ts';

/** The digests of lists by name. */
export type DigestsByName = ReadonlyMap<string, string>;

/** What a list sealer works with. */
export interface ListSealerOptions {
  readonly store: Pick<Store, 'write'>;
  readonly plans: Pick<PlanMaker, 'seal' | 'sealRegistry'>;
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
  /** The same of the registry of a domain; `null`: the domain is gone. @throws PublishFault, StoreFault */
  digestOfRegistry(registry: RegistryRow, domain: string): Promise<string | null>;
}

/** A row with a sealed form: a list, or a registry. */
interface Sealable {
  readonly version: number;
  readonly digest: string | null;
  readonly sealed_version: number | null;
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
    recent.set(keyOf('list', list.id, version), digest);
    return digest;
  }

  async function sealRegistry({ domain_id }: RegistryRow, domain: string): Promise<string | null> {
    const content = await plans.sealRegistry({ domain_id, domain });
    if (content === null) return null;
    const { version, digest, bytes } = content;
    cache.set(digest, openRegistry(bytes, { trusted: true }));
    await store.write((tx) => tx.registries.putSealed(domain_id, { version, digest, bytes, at: clock() }));
    recent.set(keyOf('registry', domain_id, version), digest);
    return digest;
  }

  /** `null`: the row is gone. */
  function digestOf(
    key: string,
    { version, digest, sealed_version }: Sealable,
    sealNow: () => Promise<string | null>,
  ): Promise<string | null> {
    if (digest !== null && sealed_version === version) return Promise.resolve(digest);
    const known = recent.get(key);
    if (known !== undefined) return Promise.resolve(known);
    const before = running.get(key);
    if (before !== undefined) return before;
    const sealing = sealNow().finally(() => running.delete(key));
    running.set(key, sealing);
    return sealing;
  }

  return {
    async digestsOf(lists) {
      const found = await Promise.all(
        lists.map(async (list) => {
          const digest = await digestOf(keyOf('list', list.id, list.version), list, () => seal(list));
          return [list.name, digest] as const;
        }),
      );
      return new Map(found.flatMap(([name, digest]) => (digest === null ? [] : [[name, digest] as const])));
    },
    digestOfRegistry: (registry, domain) =>
      digestOf(keyOf('registry', registry.domain_id, registry.version), registry, () =>
        sealRegistry(registry, domain),
      ),
  };
}

function keyOf(kind: 'list' | 'registry', id: number, version: number): string {
  return `${kind}:${id}:${version}`;
}
