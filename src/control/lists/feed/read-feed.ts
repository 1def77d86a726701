/**
 * Reads the entries of a list from a fetched body: text with an entry a line, CSV, or JSON. One mistake refuses all of it. It is work
 * for a thread: 100,000 entries take a second.
 */
import { describeDiagnostic, type FieldPath, quoteValue } from '../../../base/diagnostics/diagnostic.ts';
import { readJson, readUtf8 } from '../../../base/http/json-body.ts';
import { sha256Hex } from '../../../base/platform/cryptography.ts';
import { isObject } from '../../../base/text/json-object.ts';
import type { ListKind } from '../../../base/vocabulary/vocabulary.ts';
import {
  collectEntries,
  type ReadListEntries,
  readEntry,
  readListText,
  type WrittenEntry,
} from '../../../rules/model/lists.ts';
import { createReport, type Report } from '../../../rules/model/report.ts';
import { type PackedEntries, packEntries } from '../../store/repositories/list-entries.ts';
import { csvRows } from './csv.ts';
import type { FeedError, FeedSettings } from './settings.ts';

/** A fetched body, and what it is read with. */
export interface FeedBody extends Pick<FeedSettings, 'format' | 'path'> {
  readonly octets: Uint8Array;
  readonly of: ListKind;
}

/** The entries of a body as the store takes them, or why it is refused. */
export type ReadFeedBody =
  | { readonly packed: PackedEntries; readonly count: number; readonly digest: string }
  | { readonly code: Extract<FeedError, 'unparsable' | 'over_limits'>; readonly reason: string };

/** Mistakes that a reason names. */
const NAMED_MISTAKES = 3;

/** Reads a body. Never throws. */
export function readFeedBody({ octets, format, path, of }: FeedBody): ReadFeedBody {
  if (format === 'json') return readJsonFeed(octets, path ?? null, of);
  const text = readUtf8(octets);
  if (text === null) return unparsable('it is not valid UTF-8');
  if (format === 'text') return resultOf(of, readListText(of, text, { semicolons: true }), inLines);
  const report = createReport();
  return resultOf(of, collectEntries(of, rowsOf(text, { path, of }, report), report), inLines);
}

function unparsable(reason: string): ReadFeedBody {
  return { code: 'unparsable', reason };
}

/** A place in lines: `line 7`, and the field of an entry that has several. */
function inLines([line, field]: FieldPath): FieldPath {
  return field === undefined || field === 'value' ? [`line ${line}`] : [`line ${line}`, field];
}

/** A place in JSON. */
function inJson(path: FieldPath): FieldPath {
  return path;
}

function resultOf(
  kind: ListKind,
  read: ReadListEntries,
  placeOf: (path: FieldPath) => FieldPath,
): ReadFeedBody {
  if (read.ok) {
    const packed = packEntries(kind, read.entries);
    return { packed, count: read.entries.length, digest: sha256Hex(Buffer.from(packed.join('\n'))) };
  }
  const mistakes = read.diagnostics.filter(({ severity }) => severity === 'error');
  const named = mistakes.slice(0, NAMED_MISTAKES).map((one) => {
    const text = describeDiagnostic({ ...one, path: [] });
    return one.path.length === 0 ? text : `${placeOf(one.path).join('.')}: ${text}`;
  });
  const others = mistakes.length - named.length;
  const code = mistakes.some((one) => one.code === 'too_many') ? 'over_limits' : 'unparsable';
  return { code, reason: `${named.join('; ')}${others > 0 ? `; and at least ${others} more` : ''}` };
}

/** How the rows of CSV are read. */
interface CsvPath {
  readonly path: string | undefined;
  readonly of: ListKind;
}

/** Fields of a redirect, in the order of columns without a header. */
const REDIRECT_COLUMNS = ['from', 'to', 'status', 'comment'] as const;

/** The entries of CSV: of one column, or of a redirect those by the names of its fields. */
function* rowsOf(text: string, given: CsvPath, report: Report): Iterable<WrittenEntry> {
  let columns: readonly number[] | null = null;
  for (const row of csvRows(text)) {
    if ('problem' in row) {
      report.add('error', [row.line], { code: 'invalid_value', message: row.problem, found: null });
      return;
    }
    const { line, fields } = row;
    if (columns === null) {
      const head = readHead(fields, given);
      if (typeof head === 'string') {
        report.add('error', [line], { code: 'invalid_value', message: head, found: null });
        return;
      }
      columns = head.columns;
      if (head.isHeader) continue;
    }
    const written = writtenOf(fields, columns, given.of);
    if (typeof written === 'string' && written === '' && fields.every((field) => field.trim() === ''))
      continue;
    yield { path: [line], written };
  }
}

function writtenOf(fields: readonly string[], columns: readonly number[], of: ListKind): unknown {
  const cells = columns.map((column) => fields[column]?.trim() ?? '');
  if (of !== 'redirect') return cells[0];
  const named = REDIRECT_COLUMNS.map((name, at) => [name, cells[at] ?? ''] as const).filter(
    ([, cell]) => cell !== '',
  );
  return Object.fromEntries(
    named.map(([name, cell]) => [name, name === 'status' && /^[0-9]+$/.test(cell) ? Number(cell) : cell]),
  );
}

interface Head {
  /** Places of the columns that are read, from 0. */
  readonly columns: readonly number[];
  readonly isHeader: boolean;
}

/** A cell that is a name, as headers have them. */
const NAME = /^[A-Za-z][A-Za-z_ -]*$/;

/** What the first row says; or what is wrong with it. */
function readHead(fields: readonly string[], { path, of }: CsvPath): Head | string {
  const names = fields.map((field) => field.trim().toLowerCase());
  if (of === 'redirect') {
    if (path !== undefined)
      return 'a list of kind `redirect` is read without `path`, by columns `from` and `to`';
    const isHeader = names.includes('from') && names.includes('to');
    const columns = REDIRECT_COLUMNS.map((name, at) => (isHeader ? names.indexOf(name) : at));
    return { columns, isHeader };
  }
  const number = path === undefined ? 1 : /^[0-9]+$/.test(path) ? Number(path) : null;
  if (number === null) {
    const found = names.indexOf(path!.trim().toLowerCase());
    return found < 0 ? `has no column ${quoteValue(path)}` : { columns: [found], isHeader: true };
  }
  if (number > fields.length) return `has no column ${number}`;
  const cell = fields[number - 1]!.trim();
  const isEntry =
    cell.toLowerCase() !== of && readEntry(of, cell, { path: [], report: createReport() }) !== null;
  return { columns: [number - 1], isHeader: NAME.test(cell) && !isEntry };
}

/** The values that a path of names leads to. `*`: of all elements of a list, or all fields of an object. */
function readJsonFeed(octets: Uint8Array, path: string | null, of: ListKind): ReadFeedBody {
  const body = readJson(octets);
  if (!body.ok) return unparsable(body.reason);
  if (body.value === undefined) return unparsable('the body is empty');
  const names = path === null ? [] : path.split('.');
  const report = createReport();
  const read = collectEntries(of, valuesAt(body.value, names, report), report);
  return resultOf(of, read, inJson);
}

function* valuesAt(root: unknown, names: readonly string[], report: Report): Iterable<WrittenEntry> {
  let found = 0;
  for (const { value, at } of walk(root, names, [])) {
    const isList = Array.isArray(value);
    found += 1;
    if (!isList && names.length === 0) {
      const message = 'must be a list where the feed has no `path`';
      report.add('error', [], { code: 'invalid_type', message, found: quoteValue(value) });
      return;
    }
    if (isList) for (const [index, one] of value.entries()) yield { path: [...at, index], written: one };
    else yield { path: at, written: value };
  }
  if (found > 0) return;
  const message = `has nothing at ${quoteValue(names.join('.'))}`;
  report.add('error', [], { code: 'missing_field', message, found: null });
}

interface Found {
  readonly value: unknown;
  readonly at: readonly (string | number)[];
}

/** As deep as the path is long; what lacks a name is left out. */
function* walk(value: unknown, names: readonly string[], at: Found['at']): Iterable<Found> {
  const [name, ...rest] = names;
  if (name === undefined) {
    yield { value, at };
    return;
  }
  if (name === '*') {
    const children: readonly (readonly [string | number, unknown])[] = Array.isArray(value)
      ? [...value.entries()]
      : isObject(value)
        ? Object.entries(value)
        : [];
    for (const [key, child] of children) yield* walk(child, rest, [...at, key]);
    return;
  }
  if (Array.isArray(value) && /^[0-9]+$/.test(name) && Number(name) < value.length)
    yield* walk(value[Number(name)], rest, [...at, Number(name)]);
  else if (isObject(value) && Object.hasOwn(value, name)) yield* walk(value[name], rest, [...at, name]);
}
