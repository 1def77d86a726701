/**
 * Named lists (semantics §13). In: a name, a kind and entries as a customer wrote them. Out: the entries in the form that is
 * stored and compiled, each once, or all mistakes by their place.
 */

import { parseAsn } from '../../base/addresses/asn.ts';
import { COUNTRIES, meantCountry } from '../../base/addresses/countries.ts';
import { hostPieces } from '../../base/addresses/host.ts';
import { parseIpEntry } from '../../base/addresses/ip.ts';
import { type Diagnostic, type FieldPath, quoteValue } from '../../base/diagnostics/diagnostic.ts';
import { lowerAscii } from '../../base/octets/octets.ts';
import { hasDotSegment, pathPieces } from '../../base/paths/path.ts';
import { isObject } from '../../base/text/json-object.ts';
import {
  MAX_ENTRY_CHARACTERS,
  MAX_ENTRY_COMMENT_CHARACTERS,
  MAX_LIST_OCTETS,
  MAX_LOCATION_CHARACTERS,
  MAX_NAMED_ENTRIES,
  MAX_SCANNED_ENTRIES,
} from '../../base/vocabulary/limits.ts';
import { LIST_KINDS, type ListKind, REDIRECT_STATUSES } from '../../base/vocabulary/vocabulary.ts';
import { judgeListName } from './list-name.ts';
import { nearest } from './nearest.ts';
import { createReport, type Problem, type Report, unknownField } from './report.ts';
import { judgeHostEntry, judgePathEntry, judgeRedirectTarget } from './text-checks.ts';

/** An entry of a list. */
export interface ListEntry {
  /**
   * Of kind `ip` canonical text, `asn` digits, `country` a code in upper case, `host`, `path` and `user_agent` a wildcard as it
   * was written, `redirect` a path as it was written.
   */
  readonly value: string;
  /** Absent: no comment. */
  readonly comment?: string;
  /** Of kind `redirect`: the target; absent for other kinds. */
  readonly to?: string;
  /** Of kind `redirect`: the status of the answer; absent: that of the rule. */
  readonly status?: number;
}

/** A list with its entries. */
export interface EntryList {
  readonly name: string;
  readonly kind: ListKind;
  /** At most `MAX_NAMED_ENTRIES`, in the order in which they were written; no two have one key (`entryKey`). */
  readonly entries: readonly ListEntry[];
}

/** What identifies an entry in its list: two entries of one key match the same. */
export function entryKey(kind: ListKind, value: string): string {
  if (kind === 'host') return hostPieces(value)?.join('*') ?? value;
  // A decoded piece may have a star of its own.
  if (kind === 'path' || kind === 'redirect') return pathPieces(value)?.join('\0') ?? value;
  return kind === 'user_agent' ? lowerAscii(value) : value;
}

/** The entries that were read, or the mistakes. */
export type ReadListEntries =
  | { readonly ok: true; readonly entries: readonly ListEntry[]; readonly diagnostics: readonly Diagnostic[] }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/**
 * Reads the entries of a list: texts, or objects `{ value, comment? }`, of kind `redirect` `{ from, to, status?, comment? }`.
 * Of entries with one key the last counts, at the place of the first.
 */
export function readEntries(kind: ListKind, given: unknown): ReadListEntries {
  const report = createReport();
  if (!Array.isArray(given)) {
    report.add('error', [], { code: 'invalid_type', message: 'must be a list', found: quoteValue(given) });
    return { ok: false, diagnostics: report.diagnostics() };
  }
  if (given.length > MAX_NAMED_ENTRIES) {
    const message = `must have at most ${MAX_NAMED_ENTRIES} entries`;
    report.add('error', [], { code: 'too_many', message, found: String(given.length) });
    return { ok: false, diagnostics: report.diagnostics() };
  }
  const entries = new Map<string, ListEntry>();
  for (const [index, written] of given.entries()) {
    if (report.full()) break;
    const entry = readEntry(kind, written, { path: [index], report });
    if (entry !== null) entries.set(entryKey(kind, entry.value), entry);
  }
  return readOf(kind, [...entries.values()], report);
}

function readOf(kind: ListKind, entries: readonly ListEntry[], report: Report): ReadListEntries {
  checkScanned(kind, entries, report);
  checkSize(entries, report);
  const diagnostics = report.diagnostics();
  return report.errors() > 0 ? { ok: false, diagnostics } : { ok: true, entries, diagnostics };
}

/** Reads a list: `{ name, kind, entries }`; `null`: it has a mistake, which is in the report. */
export function readNamedList(given: unknown, { path, report }: EntryPlace): EntryList | null {
  if (!isObject(given)) {
    const message = 'must be an object with `name`, `kind` and `entries`';
    report.add('error', path, { code: 'invalid_type', message, found: quoteValue(given) });
    return null;
  }
  for (const field of Object.keys(given)) {
    if (LIST_FIELDS.includes(field)) continue;
    const { problem } = unknownField({ name: field, value: given[field], known: LIST_FIELDS });
    report.add('error', [...path, field], problem);
    return null;
  }
  const name = textOf(given['name'], { most: MAX_ENTRY_CHARACTERS, path: [...path, 'name'], report });
  const problem = name === null ? null : judgeListName(name);
  if (problem !== null) report.add('error', [...path, 'name'], { found: quoteValue(name), ...problem });
  const kind = readKind(given['kind'], { path: [...path, 'kind'], report });
  if (kind === null || name === null || problem !== null) return null;
  const read = readEntries(kind, given['entries'] ?? []);
  for (const { severity, path: below, ...rest } of read.diagnostics)
    report.add(severity, [...path, 'entries', ...below], rest);
  return read.ok ? { name, kind, entries: read.entries } : null;
}

const LIST_FIELDS: readonly string[] = ['name', 'kind', 'entries'];

/** Reads the kind of a list; `null`: no such kind, and the report has the mistake. */
export function readKind(given: unknown, { path, report }: EntryPlace): ListKind | null {
  if ((LIST_KINDS as readonly unknown[]).includes(given)) return given as ListKind;
  const names = LIST_KINDS.map((kind) => `\`${kind}\``).join(', ');
  if (given === undefined) {
    const message = `is missing; it must be one of ${names}`;
    report.add('error', path, { code: 'missing_field', message, found: null });
    return null;
  }
  const near = typeof given === 'string' ? nearest(given, LIST_KINDS) : null;
  report.add('error', path, {
    code: 'invalid_value',
    message: `must be one of ${names}`,
    found: quoteValue(given),
    ...(near === null ? {} : { remedy: `did you mean \`${near}\`?` }),
  });
  return null;
}

/** Where an entry is, and what its mistakes are added to. */
interface EntryPlace {
  readonly path: FieldPath;
  readonly report: Report;
}

/** Reads one entry; `null`: it has a mistake, which is in the report. */
export function readEntry(kind: ListKind, written: unknown, { path, report }: EntryPlace): ListEntry | null {
  const isRedirect = kind === 'redirect';
  const name = isRedirect ? 'from' : 'value';
  const fields = typeof written === 'string' || typeof written === 'number' ? { [name]: written } : written;
  if (!isObject(fields)) {
    const message = isRedirect
      ? 'must be an object with `from` and `to`'
      : 'must be a text, or an object with `value`';
    report.add('error', path, { code: 'invalid_type', message, found: quoteValue(written) });
    return null;
  }
  const known = isRedirect ? REDIRECT_FIELDS : ENTRY_FIELDS;
  for (const field of Object.keys(fields)) {
    if (known.includes(field)) continue;
    report.add('error', [...path, field], unknownField({ name: field, value: fields[field], known }).problem);
    return null;
  }
  const value = textOf(fields[name], { most: MAX_ENTRY_CHARACTERS, path: [...path, name], report });
  const { comment = '' } = fields;
  const remark = textOf(comment, {
    most: MAX_ENTRY_COMMENT_CHARACTERS,
    path: [...path, 'comment'],
    report,
    empty: true,
  });
  if (value === null || remark === null) return null;
  const judged = JUDGES[kind](value);
  if ('problem' in judged) {
    report.add('error', fields === written ? [...path, name] : path, {
      found: quoteValue(value),
      ...judged.problem,
    });
    return null;
  }
  const target = isRedirect ? readTarget(fields, judged.value, { path, report }) : {};
  if (target === null) return null;
  return { value: judged.value, ...target, ...(remark === '' ? {} : { comment: remark }) };
}

const ENTRY_FIELDS: readonly string[] = ['value', 'comment'];
const REDIRECT_FIELDS: readonly string[] = ['from', 'to', 'status', 'comment'];

interface TextPlace extends EntryPlace {
  readonly most: number;
  /** Whether the text may be empty. */
  readonly empty?: boolean;
}

/** A text, or the digits of a number; `null`: neither, or too long, which is in the report. */
function textOf(given: unknown, { most, path, report, empty = false }: TextPlace): string | null {
  const refuse = (problem: Problem): null => {
    report.add('error', path, { found: quoteValue(given), ...problem });
    return null;
  };
  if (given === undefined) return refuse({ code: 'missing_field', message: 'is missing', found: null });
  const text = Number.isSafeInteger(given) ? String(given) : given;
  if (typeof text !== 'string') return refuse({ code: 'invalid_type', message: 'must be text' });
  if (text === '' && !empty)
    return refuse({ code: 'empty_value', message: 'must not be empty', found: null });
  if (text.length > most) {
    const found = `${text.length} characters`;
    return refuse({ code: 'too_long', message: `must be at most ${most} characters`, found });
  }
  if (/[\0\r\n]/.test(text) || !text.isWellFormed()) {
    return refuse({ code: 'invalid_text', message: 'must be one line of valid Unicode text' });
  }
  return text;
}

function readTarget(
  fields: Readonly<Record<string, unknown>>,
  from: string,
  { path, report }: EntryPlace,
): { readonly to: string; readonly status?: number } | null {
  const to = textOf(fields['to'], { most: MAX_LOCATION_CHARACTERS, path: [...path, 'to'], report });
  if (to === null) return null;
  const problem: Problem | null =
    judgeRedirectTarget(to) ??
    (to === from ? { code: 'invalid_target', message: 'must not be the path that it is for' } : null);
  if (problem !== null) {
    report.add('error', [...path, 'to'], { found: quoteValue(to), ...problem });
    return null;
  }
  const { status } = fields;
  if (status === undefined) return { to };
  if ((REDIRECT_STATUSES as readonly unknown[]).includes(status)) return { to, status: status as number };
  const message = `must be one of ${REDIRECT_STATUSES.join(', ')}`;
  report.add('error', [...path, 'status'], { code: 'invalid_value', message, found: quoteValue(status) });
  return null;
}

/** The value as it is stored, or what is wrong with it. */
type Judged = { readonly value: string } | { readonly problem: Problem };

const JUDGES: { readonly [K in ListKind]: (value: string) => Judged } = {
  ip(value) {
    const entry = parseIpEntry(value);
    return entry.ok ? { value: entry.canonical } : { problem: { code: 'invalid_ip', message: entry.reason } };
  },
  asn(value) {
    const number = parseAsn(value);
    if (number !== null) return { value: String(number) };
    return {
      problem: {
        code: 'invalid_value',
        message: 'must be the number of an autonomous system, such as `64496` or `AS64496`',
      },
    };
  },
  country(value) {
    const code = value.toUpperCase();
    if (COUNTRIES.has(code)) return { value: code };
    const meant = meantCountry(code);
    const remedy = meant === null ? {} : { remedy: `write \`${meant}\`` };
    const message = 'must be an assigned ISO 3166-1 alpha-2 country code';
    return { problem: { code: 'unknown_country', message, ...remedy } };
  },
  host: (value) => judgedBy(value, judgeHostEntry(value, 'wildcard')),
  path: (value) => judgedBy(value, judgePathEntry(value)),
  user_agent: (value) => ({ value }),
  redirect(value) {
    const problem = judgePathEntry(value) ?? judgeExactPath(value);
    return judgedBy(value, problem);
  },
};

function judgedBy(value: string, problem: Problem | null): Judged {
  return problem === null ? { value } : { problem };
}

/** The problem of a path that is no single path. */
function judgeExactPath(value: string): Problem | null {
  if (value.includes('*')) {
    const remedy = 'write each path, or use a rule with `path_includes`';
    return { code: 'invalid_path', message: 'must be one path, without `*`', remedy };
  }
  if (value.includes('?') || value.includes('#') || value.includes(';') || hasDotSegment(value)) {
    const message =
      'must be a path alone: the query, the fragment and parameters after `;` are no part of it';
    return { code: 'invalid_path', message };
  }
  return null;
}

/** Whether a wildcard has a star elsewhere than at one end. */
function isScanned(value: string): boolean {
  const star = value.indexOf('*');
  if (star < 0) return false;
  return value.indexOf('*', star + 1) >= 0 || (star > 0 && star < value.length - 1);
}

function checkScanned(kind: ListKind, entries: readonly ListEntry[], report: Report): void {
  if (kind !== 'host' && kind !== 'path' && kind !== 'user_agent') return;
  const scanned = entries.reduce((count, { value }) => count + (isScanned(value) ? 1 : 0), 0);
  if (scanned <= MAX_SCANNED_ENTRIES) return;
  report.add('error', [], {
    code: 'too_many',
    message: `must have at most ${MAX_SCANNED_ENTRIES} entries with a star elsewhere than at one end`,
    found: String(scanned),
    remedy: 'write whole values, starts (`/old/*`) or ends (`*.php`)',
  });
}

/** Octets that an entry takes beside its characters: its row, and up to four places in a table. */
const ENTRY_OCTETS = 40;
/** Octets of a character of an ordinary entry, and of one in the automaton. */
const CHARACTER_OCTETS = 2;
const SCANNED_OCTETS = 22;

/** Octets that an entry takes at most once the list is compiled. */
export function entryOctets({ value, to = '' }: ListEntry): number {
  const each = isScanned(value) ? SCANNED_OCTETS : CHARACTER_OCTETS;
  return ENTRY_OCTETS + value.length * each + to.length * CHARACTER_OCTETS;
}

function checkSize(entries: readonly ListEntry[], report: Report): void {
  const octets = entries.reduce((sum, entry) => sum + entryOctets(entry), 0);
  if (octets <= MAX_LIST_OCTETS) return;
  const message = `must take at most ${MAX_LIST_OCTETS} octets once they are compiled`;
  const remedy = 'divide the list, or write shorter entries';
  report.add('error', [], { code: 'list_too_large', message, found: String(octets), remedy });
}

/** An entry in the form of files and the API. */
export function showEntry(
  kind: ListKind,
  { value, to, status, comment }: ListEntry,
): Readonly<Record<string, unknown>> {
  const remark = comment === undefined ? {} : { comment };
  if (kind !== 'redirect') return { value, ...remark };
  return { from: value, to, ...(status === undefined ? {} : { status }), ...remark };
}

// Lists as text: an entry a line, and what follows a `#` that starts a word is its comment. The lines of kind `redirect` are
// path, target and, unless it is that of the rule, status.

/** What texts have that others wrote. */
export interface ListTextOptions {
  /** A `;` that starts a word begins a comment, too. */
  readonly semicolons?: boolean;
}

/** Reads a list from text. Paths of diagnostics begin with the number of the line, from 1. */
export function readListText(kind: ListKind, text: string, options: ListTextOptions = {}): ReadListEntries {
  const report = createReport();
  return collectEntries(kind, linesOf(kind, text, options), report);
}

/** An entry as it was written, and where. */
export interface WrittenEntry {
  readonly path: FieldPath;
  readonly written: unknown;
}

/** Reads entries one by one, until there are too many mistakes or entries. Mistakes that `found` adds to the report count. */
export function collectEntries(
  kind: ListKind,
  found: Iterable<WrittenEntry>,
  report: Report,
): ReadListEntries {
  const entries = new Map<string, ListEntry>();
  for (const { path, written } of found) {
    if (report.full()) break;
    const entry = readEntry(kind, written, { path, report });
    if (entry === null) continue;
    entries.set(entryKey(kind, entry.value), entry);
    if (entries.size <= MAX_NAMED_ENTRIES) continue;
    const message = `must have at most ${MAX_NAMED_ENTRIES} entries`;
    report.add('error', path, { code: 'too_many', message, found: null });
    break;
  }
  return readOf(kind, [...entries.values()], report);
}

function* linesOf(kind: ListKind, text: string, options: ListTextOptions): Iterable<WrittenEntry> {
  let at = 0;
  for (let number = 1; at <= text.length; number++) {
    const end = text.indexOf('\n', at);
    const line = text.slice(at, end < 0 ? text.length : end).trim();
    at = end < 0 ? text.length + 1 : end + 1;
    if (line === '' || line.startsWith('#') || (options.semicolons === true && line.startsWith(';')))
      continue;
    yield { path: [number], written: fieldsOfLine(kind, line, options) };
  }
}

/** Where the comment of a line begins, by what counts as its mark. */
const HASHES = { afterOne: /\s#/, afterTwo: /\s\s#/ } as const;
const HASHES_AND_SEMICOLONS = { afterOne: /\s[#;]/, afterTwo: /\s\s[#;]/ } as const;

/** The fields of a line. User-Agents have blanks of their own, so that a comment follows two blanks at least. */
function fieldsOfLine(
  kind: ListKind,
  line: string,
  { semicolons = false }: ListTextOptions,
): Readonly<Record<string, unknown>> {
  const { afterOne, afterTwo } = semicolons ? HASHES_AND_SEMICOLONS : HASHES;
  const mark = line.search(kind === 'user_agent' ? afterTwo : afterOne);
  const comment = mark < 0 ? '' : line.slice(mark).trim().slice(1).trim();
  const bare = (mark < 0 ? line : line.slice(0, mark)).trim();
  const remark = comment === '' ? {} : { comment };
  if (kind !== 'redirect') return { value: bare, ...remark };
  const [from, to, status, ...rest] = bare.split(/\s+/);
  if (rest.length > 0) return { from: bare, ...remark };
  const code = status === undefined ? {} : { status: /^[0-9]+$/.test(status) ? Number(status) : status };
  return { from, ...(to === undefined ? {} : { to }), ...code, ...remark };
}

/** A list as text, as `readListText` reads it. */
export function printListText(kind: ListKind, entries: readonly ListEntry[]): string {
  const lines = entries.map(({ value, to, status, comment }) => {
    const words = [value, ...(to === undefined ? [] : [to]), ...(status === undefined ? [] : [status])];
    const remark = comment === undefined ? '' : `${kind === 'user_agent' ? '  ' : ' '}# ${comment}`;
    return `${words.join(' ')}${remark}\n`;
  });
  return lines.join('');
}
