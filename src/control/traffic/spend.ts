/** Checks that a node can have had its traffic since its last accepted report, by the highest rates of a machine. */
import type { NodeRow } from '../store/rows.ts';
import type { WriteTransaction } from '../store/store.ts';
import type { TrafficPart } from '../store/traffic-repositories.ts';
import { TrafficRefusal } from './fault.ts';
import {
  MAX_NODE_OCTETS_PER_SEC,
  MAX_NODE_REQUESTS_PER_SEC,
  MINUTE_MS,
  TAKEN_MINUTES,
  TRAFFIC_SLACK_MS,
} from './limits.ts';

/** What a node reports, and when it came. */
export interface Reported {
  readonly parts: readonly Pick<TrafficPart, 'minute' | 'requests' | 'octets_in' | 'octets_out'>[];
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The field that the message names. */
  readonly field: string;
}

/**
 * Takes the time that the traffic needs at the highest rates from the time since the node's last accepted report.
 * @throws TrafficRefusal when it needs more than there is
 */
export async function spend(
  tx: WriteTransaction,
  { id, created_at }: Pick<NodeRow, 'id' | 'created_at'>,
  { parts, now, field }: Reported,
): Promise<void> {
  if (parts.length === 0) return;
  const requests = parts.reduce((sum, row) => sum + row.requests, 0);
  // Both directions of a network have its whole rate.
  const octets = Math.max(
    parts.reduce((sum, row) => sum + row.octets_out, 0),
    parts.reduce((sum, row) => sum + row.octets_in, 0),
  );
  const seconds = Math.max(requests / MAX_NODE_REQUESTS_PER_SEC, octets / MAX_NODE_OCTETS_PER_SEC);
  const earliest = now - TAKEN_MINUTES * MINUTE_MS;
  const until = now + TRAFFIC_SLACK_MS;
  const begun = parts.reduce((first, { minute }) => Math.min(first, minute * MINUTE_MS), now);
  const terms = { since: created_at, earliest, floor: begun, now, until };
  // Also a sum that no integer can be made of.
  const ms = Math.ceil(Math.min(seconds * 1_000, Number.MAX_SAFE_INTEGER / 4));
  if (await tx.nodes.spend(id, { ...terms, ms })) return;
  const spent = Math.max((await tx.nodes.spentUntil(id)) ?? created_at, earliest);
  const left = Math.max(0, until - spent) / 1_000;
  const most = Math.floor(left * MAX_NODE_REQUESTS_PER_SEC);
  const mostOctets = Math.floor(left * MAX_NODE_OCTETS_PER_SEC);
  throw new TrafficRefusal(
    `${field}: at most ${most} requests and ${mostOctets} octets since the last accepted report (${MAX_NODE_REQUESTS_PER_SEC} and ${MAX_NODE_OCTETS_PER_SEC} a second), found ${requests} and ${octets}`,
  );
}
