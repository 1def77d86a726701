/** Prints what nodes have cached of a domain: totals by node, and pages of URLs. */
import { octetsText, tableText } from './table.ts';

/** Sums of stored responses. */
interface PrintedSizes {
  readonly entries: number;
  readonly octets: number;
  readonly disk_files: number;
  readonly disk_octets: number;
}

/** The footprint as the API answers it. */
export interface PrintedFootprint extends PrintedSizes {
  readonly oldest_at: string | null;
  readonly nodes: readonly (PrintedSizes & { readonly name: string; readonly at: string })[];
}

/** A page of cached URLs as the API answers it. */
export interface PrintedEntries {
  readonly entries: readonly {
    readonly url: string;
    readonly status: number;
    readonly octets: number;
    readonly copies: number;
    readonly nodes: number;
    readonly stored_at: string;
    readonly fresh_until: string;
    readonly tags: readonly string[];
  }[];
  readonly next: string | null;
  readonly truncated: boolean;
  readonly oldest_at: string | null;
}

/** The footprint as text. */
export function footprintText({ nodes, ...all }: PrintedFootprint): string {
  if (all.oldest_at === null) return 'no node has reported stored responses\n';
  const rows = nodes.map(({ name, at, ...sizes }) => [name, ...cells(sizes), secondsText(at)]);
  const sums = nodes.length > 1 ? [['all', ...cells(all), secondsText(all.oldest_at)]] : [];
  return tableText(['node', 'responses', 'octets', 'files', 'on disk', 'reported'], [...rows, ...sums]);
}

function cells({ entries, octets, disk_files, disk_octets }: PrintedSizes): readonly string[] {
  return [String(entries), octetsText(octets), String(disk_files), octetsText(disk_octets)];
}

/** A page of URLs as text; the last line says what is missing. */
export function entriesText({ entries, next, truncated, oldest_at }: PrintedEntries): string {
  if (oldest_at === null) return 'no node has reported stored responses\n';
  const rows = entries.map((one) => [
    one.url,
    String(one.status),
    octetsText(one.octets),
    String(one.copies),
    String(one.nodes),
    secondsText(one.stored_at),
    secondsText(one.fresh_until),
    one.tags.join(' '),
  ]);
  const headings = ['url', 'status', 'octets', 'copies', 'nodes', 'stored', 'fresh until', 'tags'];
  const notes = [
    `reports since ${secondsText(oldest_at)}`,
    ...(truncated ? ['nodes have more than they list'] : []),
    ...(next === null ? [] : [`more: --cursor ${next}`]),
  ];
  return `${tableText(headings, rows)}${notes.join('; ')}\n`;
}

/** A time of the API without its milliseconds. */
function secondsText(time: string): string {
  return `${time.slice(0, 19)}Z`;
}
