/**
 * A page of a trace document, never longer than `MAX_PAGE_OCTETS`. Rules that had their say come first, in evaluation
 * order, then the skipped ones; everything else is on every page. Long texts end in `…` and their length; long lists are
 * cut and named in `shortened` with their length.
 */
import { type FieldPath, formatPath } from '../../base/diagnostic.ts';
import type { RuleNote, TraceDocument } from '../../simulator/document.ts';
import { MAX_PAGE_OCTETS } from '../limits.ts';
import type { Page } from './job.ts';

/** Characters of a text of a rule's step, or inside a list: a sentence and a path of ordinary length. */
const STEP_CHARACTERS = 500;
/** Characters of a text of its own, such as the path: what a request line may hold. */
const TEXT_CHARACTERS = 16_384;
/** Characters of an error page: together with all else it leaves room for rules. */
const HTML_CHARACTERS = 131_072;
/** Entries of a list beside the rules. */
const LIST_ENTRIES = 50;

interface Shortened {
  readonly path: string;
  readonly of: number;
}

export interface TracePageOptions extends Page {
  readonly revision: number;
}

/** The page as JSON text. */
export function tracePage(document: TraceDocument, { limit, from, revision }: TracePageOptions): string {
  const shortened: Shortened[] = [];
  const { phases, error_page, ...rest } = document;
  const base = { ...(cut(rest, [], shortened) as typeof rest), error_page: cutPage(error_page) };
  const bare = phases.map((phase) => ({ ...(cut({ ...phase, rules: [] }, [], shortened) as object) }));
  const told = inOrder(document);
  const around = { ...base, phases: bare, page: {}, shortened };
  // The page's own numbers take less than these octets.
  let room = MAX_PAGE_OCTETS - Buffer.byteLength(JSON.stringify(around)) - 200;
  const shown = new Map<number, object[]>();
  let next = from;
  for (const { phase, rule } of told.slice(from, from + limit)) {
    const note = cut(rule, ['rules'], []) as object;
    const octets = Buffer.byteLength(JSON.stringify(note)) + 1;
    // A page has one rule at least, so that reading page after page comes to an end.
    if (octets > room && next > from) break;
    room -= octets;
    next += 1;
    shown.set(phase, [...(shown.get(phase) ?? []), note]);
  }
  const page = {
    limit,
    rules: next - from,
    of: told.length,
    next: next < told.length && next > from ? `${revision}-${next}` : null,
  };
  const full = bare.map((phase, index) => ({ ...phase, rules: shown.get(index) ?? [] }));
  return JSON.stringify({ ...base, phases: full, page, shortened });
}

interface Told {
  /** The phase's place in the document. */
  readonly phase: number;
  readonly rule: RuleNote;
}

/** Every rule of the trace, those that had their say before the others. */
function inOrder({ phases }: TraceDocument): readonly Told[] {
  const all = phases.flatMap(({ rules }, phase) => rules.map((rule): Told => ({ phase, rule })));
  const speaks = ({ rule }: Told): boolean => rule.outcome === 'matched' || rule.outcome === 'conditional';
  return [...all.filter(speaks), ...all.filter((one) => !speaks(one))];
}

function cutPage(page: TraceDocument['error_page']): TraceDocument['error_page'] {
  return page === null || page.html === null ? page : { ...page, html: short(page.html, HTML_CHARACTERS) };
}

/** A JSON value with long texts and lists cut. */
function cut(value: unknown, path: FieldPath, shortened: Shortened[]): unknown {
  if (typeof value === 'string') return short(value, isInList(path) ? STEP_CHARACTERS : TEXT_CHARACTERS);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    if (value.length > LIST_ENTRIES) shortened.push({ path: formatPath(path), of: value.length });
    return value.slice(0, LIST_ENTRIES).map((one, index) => cut(one, [...path, index], shortened));
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, cut(one, [...path, name], shortened)]),
  );
}

function isInList(path: FieldPath): boolean {
  return path[0] === 'rules' || path.some((step) => typeof step === 'number');
}

function short(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}… (${text.length} characters)`;
}
