/**
 * Takes a batch of log entries of a node. In: JSON lines in gzip. Unpacks them in Node's thread pool, reads the first line, finds
 * the domains that it lists by one statement, and has a thread of the log store check and store the entries. Out: what became
 * of them.
 */
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { shareGroup } from '../../base/vocabulary/node-groups.ts';
import type { ReadTransaction } from '../store/store.ts';
import type { NodeRow } from '../store/tables/nodes.ts';
import {
  MAX_BATCH_OCTETS,
  MAX_RATED_NODES,
  MAX_SENT_OCTETS,
  NODE_BURST_OCTETS,
  NODE_OCTETS_PER_SEC,
} from './limits.ts';
import { type Appended, LogRefusal, type LogStore, type OwnDomain } from './log-store.ts';
import { readHead } from './read-batch.ts';

const unpack = promisify(gunzip);

/** Where entries of decision logs go, as nodes ship them. */
export interface LogIntake {
  readonly store: Pick<LogStore, 'append'>;
  readonly rates: NodeRates;
  /** Called with what became of each batch, for metrics. */
  readonly onAppended: (result: Appended) => void;
  /** Called when a batch could not be stored, for metrics and the log. */
  readonly onFault: (error: unknown) => void;
}

/** Unpacks a batch. @throws LogRefusal 413, and 400 for octets that are not gzip */
export async function unpackBatch(packed: Uint8Array): Promise<Uint8Array> {
  if (packed.length > MAX_SENT_OCTETS) throw tooLarge(`${MAX_SENT_OCTETS} octets in gzip`);
  try {
    return await unpack(packed, { maxOutputLength: MAX_BATCH_OCTETS });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(`${MAX_BATCH_OCTETS} octets`);
    throw new LogRefusal('the body must be gzip');
  }
}

function tooLarge(most: string): LogRefusal {
  return new LogRefusal(`a batch of log entries must be at most ${most}`, 413);
}

/** Stores the entries of an unpacked batch. @throws LogRefusal for what cannot be true, LogFault, StoreFault */
export async function takeLogBatch(
  {
    store,
    latest,
  }: { readonly store: LogIntake['store']; readonly latest: Pick<ReadTransaction, 'traffic'> },
  node: NodeRow,
  { bytes, now }: { readonly bytes: Uint8Array; readonly now: number },
): Promise<Appended> {
  const domains = await ownDomains(latest, node, readHead(bytes));
  return store.append({ nodeId: node.id, bytes, domains, now });
}

/** The listed domains that exist and that the node serves. @throws LogRefusal for one that was never in a group of the node */
async function ownDomains(
  { traffic }: Pick<ReadTransaction, 'traffic'>,
  node: NodeRow,
  names: readonly string[],
): Promise<readonly OwnDomain[]> {
  const found: OwnDomain[] = [];
  for (const { name, domain_id, created_at, node_groups, left_groups } of await traffic.domainsOf(names)) {
    if (shareGroup(node_groups, node.node_groups)) found.push({ name, id: domain_id, since: created_at });
    else if (!shareGroup(left_groups, node.node_groups))
      throw new LogRefusal(`line 1: \`${name}\` is in no group of this node`);
  }
  return found;
}

// How much each node may send: a token bucket of octets (as in RFC 2697) for each, in the memory of one API process. In: a node
// and the octets of a batch. Out: whether the batch is taken, or the seconds until it would be.

interface NodeRates {
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
