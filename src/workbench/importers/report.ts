/** The report of an import: for each rule of the source, whether it was carried over, and what was not, and why. */

/** Characters of a source rule that the report repeats: a line of a terminal. */
const MAX_SHOWN_CHARACTERS = 100;

/**
 * `exact`: decides as the source does; `differs`: with the stated difference; `closed`: it refuses some visitors of a path, or
 * answers it itself, and cannot be carried over, so that the file refuses the path to everybody; `not_carried`: the file has no
 * rule for it; `not_needed`: it decides nothing about requests, or no request reaches it.
 */
export const IMPORT_OUTCOMES = ['exact', 'differs', 'closed', 'not_carried', 'not_needed'] as const;
export type ImportOutcome = (typeof IMPORT_OUTCOMES)[number];

/** One rule or directive of the source. */
export interface ImportEntry {
  /** `nginx.conf:12`, `rules[3]`, or a name that the source gives. */
  readonly place: string;
  /** The text of the rule, or its beginning. */
  readonly source: string;
  readonly outcome: ImportOutcome;
  /** The difference, or why it was not carried over; empty for `exact`. */
  readonly reasons: readonly string[];
  /** Types of the rules that the file has for it, in the order of the file. */
  readonly becomes: readonly string[];
  /** Whether it guards a path, a host or the whole domain, and the file lets everybody in. */
  readonly opened: boolean;
  /** The name of a setting that edgeplan lacks, of which a source has many; `null`: it is reported on its own. */
  readonly kind: string | null;
}

/** The result of an import. */
export interface ImportedEdge {
  readonly ok: true;
  /** The domain of the file. */
  readonly domain: string;
  /** The text of `edge.yaml`. */
  readonly text: string;
  readonly entries: readonly ImportEntry[];
  /** What is true of every rule, such as how paths are compared. */
  readonly notes: readonly string[];
}

/** A source that cannot be read. */
export interface ImportRefusal {
  readonly ok: false;
  readonly mistakes: readonly ImportMistake[];
}

/** A mistake in the source, such as a missing brace. */
export interface ImportMistake {
  /** `null`: the source as a whole. */
  readonly place: string | null;
  readonly message: string;
  readonly remedy?: string;
}

/** What every importer is given beside the files. */
export interface ImporterOptions {
  /** The domain of the file; `null`: found from the hosts of the source. */
  readonly domain: string | null;
  /** The origin of records for which the source names none: an address or a host name. */
  readonly origin: string;
}

/** A file of the source. */
export interface SourceFile {
  readonly name: string;
  readonly text: string;
}

/** A refusal with one mistake. */
export function refusedImport(place: string | null, message: string, remedy?: string): ImportRefusal {
  return { ok: false, mistakes: [{ place, message, ...(remedy === undefined ? {} : { remedy }) }] };
}

/** A source text on one line, cut to a readable length. */
export function shownSource(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > MAX_SHOWN_CHARACTERS ? `${line.slice(0, MAX_SHOWN_CHARACTERS)}…` : line;
}

/** How many entries refuse requests in the source that the file lets through. */
export function countOpened(entries: readonly ImportEntry[]): number {
  return entries.filter(({ opened }) => opened).length;
}

/** How many entries have each outcome. */
export function countOutcomes(entries: readonly ImportEntry[]): Readonly<Record<ImportOutcome, number>> {
  const counts = { exact: 0, differs: 0, closed: 0, not_carried: 0, not_needed: 0 };
  for (const { outcome } of entries) counts[outcome]++;
  return counts;
}
