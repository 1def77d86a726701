/**
 * `POST /nodes/logs`: entries of the decision log that a node ships. In: JSON lines in gzip, at most a page of memory each way.
 * This thread unpacks them in Node's thread pool, reads the first line and finds the domains it lists; a thread of the log store
 * checks and stores the entries.
 */
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { z } from 'zod';
import { shareGroup } from '../../base/node-groups.ts';
import { LogRefusal } from '../../logs/fault.ts';
import { MAX_BATCH_OCTETS, MAX_SENT_OCTETS } from '../../logs/limits.ts';
import type { OwnDomain } from '../../logs/log-store.ts';
import { readHead } from '../../logs/read-batch.ts';
import type { NodeRow } from '../../store/rows.ts';
import { nodeOperation } from '../node-route.ts';
import { badRequest, overBudget, Refusal } from '../refusal.ts';
import type { NodeRouteServices } from '../services.ts';

const unpack = promisify(gunzip);

/** The content type of a batch. */
export const LINES_TYPE = 'application/x-ndjson';

/** `POST /nodes/logs`: stores entries; one that is stored already is not stored again. 429 above the rate of a node. */
export const ship = nodeOperation({
  summary: 'Ship entries of the decision log: JSON lines in gzip, of which the first lists the domains',
  octets: 'JSON lines with `Content-Encoding: gzip`',
  consumes: LINES_TYPE,
  response: z.object({
    stored: z.int().describe('entries that are stored now'),
    repeated: z.int().describe('entries that were stored already'),
    dropped: z
      .int()
      .describe('entries that are too old, of no domain, or beyond the bound of their domain and day'),
  }),
  statuses: [429],
  async serve(services, { node, octets }) {
    const { logs, clock } = services;
    if (!octets!.isGzip)
      throw new Refusal(415, 'a batch of log entries must be sent in gzip', { 'accept-encoding': 'gzip' });
    const bytes = await unpacked(octets!.octets);
    if (logs === undefined) return { stored: 0, repeated: 0, dropped: 0 };
    const seconds = logs.rates.take(node.id, bytes.length);
    if (seconds > 0) throw overBudget(seconds);
    try {
      const domains = await ownDomains(services, node, readHead(bytes));
      const result = await logs.store.append({ nodeId: node.id, bytes, domains, now: clock() });
      logs.onAppended(result);
      return result;
    } catch (error) {
      if (error instanceof LogRefusal) {
        services.log.warn({ node: node.name, err: error.message }, 'a batch of log entries was refused');
        throw badRequest(error.message);
      }
      logs.onFault(error);
      throw error;
    }
  },
});

/** @throws Refusal 413, and 400 for octets that are not gzip */
async function unpacked(body: Uint8Array): Promise<Uint8Array> {
  if (body.length > MAX_SENT_OCTETS) throw tooLarge(`${MAX_SENT_OCTETS} octets in gzip`);
  try {
    return await unpack(body, { maxOutputLength: MAX_BATCH_OCTETS });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(`${MAX_BATCH_OCTETS} octets`);
    throw badRequest('the body must be gzip');
  }
}

function tooLarge(most: string): Refusal {
  return new Refusal(413, `a batch of log entries must be at most ${most}`);
}

/** The listed domains that exist and that the node serves. @throws LogRefusal for one that was never in a group of the node */
async function ownDomains(
  { store }: NodeRouteServices,
  node: NodeRow,
  names: readonly string[],
): Promise<readonly OwnDomain[]> {
  const found: OwnDomain[] = [];
  for (const domain of await store.latest.traffic.domainsOf(names)) {
    const { name, domain_id, created_at, node_groups, left_groups } = domain;
    if (shareGroup(node_groups, node.node_groups)) found.push({ name, id: domain_id, since: created_at });
    else if (!shareGroup(left_groups, node.node_groups))
      throw new LogRefusal(`line 1: \`${name}\` is in no group of this node`);
  }
  return found;
}
