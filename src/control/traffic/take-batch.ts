/**
 * Takes a batch of traffic of a node: the thread opens and checks it (`check-batch.ts`), then its parts are stored in one
 * transaction with its number, so that a batch counts once, in whatever order batches come and whenever a process ends.
 */
import type { NodeRow } from '../store/rows.ts';
import type { Store } from '../store/store.ts';
import type { ReceivedBatch } from './check-batch.ts';
import { ownDomains } from './own-domains.ts';
import { spend } from './spend.ts';
import type { TrafficThread } from './thread.ts';

/** What became of a batch. */
export interface TakenBatch {
  readonly batch: number;
  /** Entries that were counted: names without a domain are not. */
  readonly parts: number;
  /** The batch was accepted before; nothing was counted. */
  readonly isRepeated: boolean;
}

/** @throws TrafficRefusal for what cannot be true, TrafficFault, StoreFault; nothing is counted then */
export async function takeBatch(
  { store, thread }: { readonly store: Store; readonly thread: Pick<TrafficThread, 'check'> },
  node: NodeRow,
  sent: ReceivedBatch,
): Promise<TakenBatch> {
  const { now } = sent;
  const { batch, parts: named } = await thread.check(sent);
  const places = new Map(named.map(({ domain }, place) => [domain, place]));
  const ids = await ownDomains(store.latest, node, {
    names: [...places.keys()],
    fieldOf: (name) => `entries[${places.get(name) ?? 0}].domain`,
  });
  const parts = named.flatMap(({ domain, ...rest }) => {
    const domain_id = ids.get(domain);
    return domain_id === undefined ? [] : [{ ...rest, domain_id, node_id: node.id, batch, taken_at: now }];
  });
  return store.write(async (tx) => {
    if (!(await tx.nodes.takeBatch(node.id, { batch, at: now })))
      return { batch, parts: 0, isRepeated: true };
    await spend(tx, node, { parts, now, field: 'entries' });
    await tx.traffic.add(parts);
    return { batch, parts: parts.length, isRepeated: false };
  });
}
