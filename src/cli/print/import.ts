/** Prints imports: the records of a zone file, and what became of the rules of another product. */
import type { countOutcomes, ImportEntry, ImportOutcome } from '../../workbench/importers/report.ts';
import { visible } from '../../workbench/simulation/render-text.ts';
import type { NginxCheck } from '../check-nginx/check.ts';
import type { CheckedOutcome } from '../check-nginx/run-nginx.ts';
import { tableText } from './table.ts';

/** Records that are listed without `--all`: a screen. */
export const MOST_LISTED = 20;

/** A record of a zone file as the API answers it. */
export interface ImportedRecord {
  readonly name: string;
  readonly type: string;
  readonly destination: string;
  readonly proxied: boolean;
}

/** A table of the records; of many the first ones, and how many there are of each type. */
export function recordsText(records: readonly ImportedRecord[], all: boolean): string {
  const shown = all || records.length <= MOST_LISTED ? records : records.slice(0, MOST_LISTED);
  const rows = shown.map(({ name, type, destination, proxied }) => [
    name,
    type,
    proxied ? 'proxied' : 'dns only',
    destination,
  ]);
  const table = tableText(['name', 'type', 'edge', 'data'], rows);
  if (shown.length === records.length) return table;
  const counts = new Map<string, number>();
  for (const { type } of records) counts.set(type, (counts.get(type) ?? 0) + 1);
  const types = [...counts]
    .sort(([, one], [, other]) => other - one)
    .map(([type, count]) => `${count} ${type}`);
  return `${table}… and ${records.length - shown.length} more (--all lists them); of all: ${types.join(', ')}\n`;
}

/** Differences that are printed at most: a screen. */
const MOST_DIFFERENCES = 40;

/** What a check found, one line for each difference. */
export function checkText({ compared, differences }: NginxCheck): string {
  const shown = (outcome: CheckedOutcome): string => {
    if (outcome.kind === 'redirect') return `${outcome.status} ${outcome.url}`;
    return outcome.kind === 'forward' ? `forward to ${outcome.origin}${outcome.target}` : `${outcome.status}`;
  };
  const lines = differences.slice(0, MOST_DIFFERENCES).map(({ kind, request, nginx, edge }) => {
    const { method, scheme, host, target, ip } = request;
    return `check: ${kind}: ${method} ${scheme}://${host}${target} from ${ip}: nginx ${shown(nginx)}, edge ${shown(edge)}`;
  });
  const count = (kind: string): number => differences.filter((one) => one.kind === kind).length;
  const sums = `${count('opened')} opened, ${count('lost_redirect')} lost redirects, ${count('closed')} closed, ${count('other')} other`;
  return [
    ...lines.map(visible),
    `check: ${compared} requests compared, ${differences.length} differ: ${sums}`,
  ].join('\n');
}

/** The outcomes in the words of the report. */
const WORDS: Readonly<Record<ImportOutcome, string>> = {
  exact: 'carried over',
  differs: 'carried over with a difference',
  closed: 'carried over stricter',
  not_carried: 'not carried over',
  not_needed: 'not needed',
};

/** Places of one kind that are printed at most: a line. */
const MOST_PLACES = 6;

/** The entries that the report names, in their order; settings of one kind are counted where the first of them is. */
export function reportedEntries(entries: readonly ImportEntry[]): readonly string[] {
  const kinds = new Map<string, ImportEntry[]>();
  const texts: (() => string)[] = [];
  for (const entry of entries) {
    if (entry.outcome === 'not_needed') continue;
    const key = entry.kind === null ? null : JSON.stringify([entry.kind, entry.outcome, entry.reasons]);
    const known = key === null ? undefined : kinds.get(key);
    if (known !== undefined) {
      known.push(entry);
      continue;
    }
    const own = [entry];
    if (key !== null) kinds.set(key, own);
    texts.push(() => (own.length === 1 ? entryText(entry) : kindText(own)));
  }
  return texts.map((text) => text());
}

/** Entries of one kind in one line, with the first of their places. */
function kindText(entries: readonly ImportEntry[]): string {
  const { kind, outcome, reasons } = entries[0]!;
  const places = [...new Set(entries.map(({ place }) => place))];
  const more = places.length > MOST_PLACES ? ` and ${places.length - MOST_PLACES} more` : '';
  const at = `${places.slice(0, MOST_PLACES).join(', ')}${more}`;
  const lines = [
    `${WORDS[outcome]}: ${entries.length} × ${kind}: ${at}`,
    ...reasons.map((reason) => `  ${reason}`),
  ];
  return lines.map(visible).join('\n');
}

function entryText({ place, source, outcome, reasons }: ImportEntry): string {
  const lines = [`${place}: ${WORDS[outcome]}: ${source}`, ...reasons.map((reason) => `  ${reason}`)];
  return lines.map(visible).join('\n');
}

/** How many entries have each outcome. */
export function countsText({
  exact,
  differs,
  closed,
  not_carried,
  not_needed,
}: ReturnType<typeof countOutcomes>): string {
  const refused = closed === 0 ? '' : ` ${closed} stricter,`;
  return `${exact} carried over, ${differs} with a difference,${refused} ${not_carried} not carried over, ${not_needed} not needed`;
}
