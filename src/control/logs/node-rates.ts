/**
 * How much each node may send: a token bucket of octets (as in RFC 2697) for each, in the memory of one API process. In: a node
 * and the octets of a batch. Out: whether the batch is taken, or the seconds until it would be.
 */
import { MAX_RATED_NODES, NODE_BURST_OCTETS, NODE_OCTETS_PER_SEC } from './limits.ts';

export interface NodeRates {
  /** Takes octets from a node's bucket. @returns 0: they are taken; else the seconds until they would be */
  take(nodeId: number, octets: number): number;
}

interface Bucket {
  /** Octets left at `at`. */
  left: number;
  /** Milliseconds since the epoch. */
  at: number;
}

/** @param clock milliseconds since the epoch */
export function createNodeRates(clock: () => number): NodeRates {
  const buckets = new Map<number, Bucket>();
  return {
    take(nodeId, octets) {
      const now = clock();
      const { left, at } = buckets.get(nodeId) ?? { left: NODE_BURST_OCTETS, at: now };
      const gained = (Math.max(0, now - at) / 1_000) * NODE_OCTETS_PER_SEC;
      const filled = Math.min(NODE_BURST_OCTETS, left + gained);
      // At the end of the order, so that the first one is the longest idle.
      buckets.delete(nodeId);
      const isTaken = filled >= octets;
      buckets.set(nodeId, { left: isTaken ? filled - octets : filled, at: now });
      if (buckets.size > MAX_RATED_NODES) buckets.delete(buckets.keys().next().value!);
      return isTaken ? 0 : Math.ceil((octets - filled) / NODE_OCTETS_PER_SEC);
    },
  };
}
