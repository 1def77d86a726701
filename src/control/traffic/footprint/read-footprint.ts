/** How much nodes have cached of a domain, by their last reports. */
import type { z } from 'zod';
import { timeText } from '../../../base/text/time.ts';
import type { CacheTotals } from '../../store/cache-repositories.ts';
import type { ReadTransaction } from '../../store/store.ts';
import { REPORT_COUNTS_MS } from './limits.ts';
import type { FOOTPRINT } from './shapes.ts';

/** Sums over processes. */
interface Sums {
  readonly entries: number;
  readonly octets: number;
  readonly disk_files: number;
  readonly disk_octets: number;
}

/** The footprint of a domain, in all and by node. */
export async function readFootprint(
  { caches }: Pick<ReadTransaction, 'caches'>,
  domainId: number,
  now: number,
): Promise<z.output<typeof FOOTPRINT>> {
  const rows = await caches.totals(domainId, now - REPORT_COUNTS_MS);
  const nodes = new Map<string, CacheTotals[]>();
  for (const row of rows) nodes.set(row.node, [...(nodes.get(row.node) ?? []), row]);
  const times = rows.map(({ at }) => at);
  return {
    ...sumsOf(rows),
    oldest_at: times.length === 0 ? null : timeText(Math.min(...times)),
    newest_at: times.length === 0 ? null : timeText(Math.max(...times)),
    nodes: [...nodes].map(([name, processes]) => ({
      name,
      at: timeText(Math.min(...processes.map(({ at }) => at))),
      ...sumsOf(processes),
    })),
  };
}

function sumsOf(rows: readonly CacheTotals[]): Sums {
  const sum = (of: keyof Sums): number => rows.reduce((total, row) => total + row[of], 0);
  return {
    entries: sum('entries'),
    octets: sum('octets'),
    disk_files: sum('disk_files'),
    disk_octets: sum('disk_octets'),
  };
}
