/** The entry that states how many entries of a domain and day are not stored since they exceed its bound. */
import { createHash } from 'node:crypto';
import { LOG_GAP_FORMAT } from './entry-schema.ts';
import type { LogRow } from './read-batch.ts';
import { dayOf } from './tables.ts';

/**
 * A gap at the time of a dropped entry, the newest one, so that a search of the last hour finds it. Its id is a name-based UUID
 * of domain and day (RFC 9562 §5.8): there is one for each, whose number grows.
 */
export function gapRow(row: LogRow, dropped: number): LogRow {
  const day = dayOf(row.at);
  const { at } = row;
  const hex = createHash('sha256').update(`${row.domainId} ${day}`).digest('hex');
  const id = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  const { domain } = JSON.parse(row.line) as { readonly domain: string };
  const gap = { format: LOG_GAP_FORMAT, time: new Date(at).toISOString(), id, domain, dropped };
  return {
    domainId: row.domainId,
    nodeId: row.nodeId,
    at,
    id,
    action: 'gap',
    would: null,
    fault: false,
    ip: null,
    path: '',
    rules: [],
    line: JSON.stringify(gap),
    entries: dropped,
  };
}
