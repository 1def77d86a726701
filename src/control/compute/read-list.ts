/**
 * Reads a named list, or entries of one, from the body of a request: JSON, checks, and the form that the store takes. In a thread,
 * since 100,000 entries take a second; a few are read on the thread of the API.
 */
import { type Diagnostic, quoteValue } from '../../base/diagnostics/diagnostic.ts';
import { readJson } from '../../base/http/json-body.ts';
import { isObject } from '../../base/text/json-object.ts';
import { MAX_NAMED_ENTRIES } from '../../base/vocabulary/limits.ts';
import type { ListKind } from '../../base/vocabulary/vocabulary.ts';
import { readEntries, readEntry, readNamedList } from '../../rules/model/lists.ts';
import { createReport, describeMistakes, type Report, unknownField } from '../../rules/model/report.ts';
import { readFeed } from '../lists/feed/settings.ts';
import { packEntries, packKeys } from '../store/repositories/list-entries.ts';
import type { ListJob, ReadListBody } from './job.ts';

/** Fields of a list that only answers have: a body may repeat them. */
export const ANSWERED_FIELDS: readonly string[] = [
  'id',
  'domain_id',
  'entry_count',
  'octets',
  'version',
  'used_by',
  'feed_state',
  'created_at',
  'updated_at',
];

/** Reads the body. Never throws. */
export function readListBody({ octets, read, of }: ListJob): ReadListBody {
  const body = readJson(octets);
  if (!body.ok) return { problem: body.reason };
  if (body.value === undefined) return { problem: 'the body is missing' };
  if (of === null) return readWhole(body.value);
  const report = createReport();
  const entries = entriesIn(body.value, report);
  if (entries === null) return refused(report.diagnostics());
  return read === 'keys' ? readKeys(of, entries, report) : readAll(of, entries);
}

function refused(diagnostics: readonly Diagnostic[]): ReadListBody {
  return { problem: describeMistakes(diagnostics) };
}

function readWhole(value: unknown): ReadListBody {
  const report = createReport();
  const given = isObject(value)
    ? Object.fromEntries(
        Object.entries(value).filter(([name]) => name !== 'feed' && !ANSWERED_FIELDS.includes(name)),
      )
    : value;
  const list = readNamedList(given, { path: [], report });
  const feed =
    isObject(value) && value['feed'] !== undefined ? readFeed(value['feed'], report, ['feed']) : null;
  if (list === null || report.errors() > 0) return refused(report.diagnostics());
  const { name, kind, entries } = list;
  const packed = packEntries(kind, entries);
  return { list: { name, kind }, packed, count: entries.length, ...(feed === null ? {} : { feed }) };
}

/** The `entries` of a body; `null`: it has none, or more than them, which is in the report. */
function entriesIn(value: unknown, report: Report): unknown {
  const found = quoteValue(value);
  if (!isObject(value)) {
    report.add('error', [], { code: 'invalid_type', message: 'must be an object with `entries`', found });
    return null;
  }
  const other = Object.keys(value).find((name) => name !== 'entries');
  if (other !== undefined) {
    const { problem } = unknownField({ name: other, value: value[other], known: ['entries'] });
    report.add('error', [other], problem);
    return null;
  }
  if (value['entries'] !== undefined) return value['entries'];
  report.add('error', ['entries'], { code: 'missing_field', message: 'is missing', found: null });
  return null;
}

function readAll(kind: ListKind, given: unknown): ReadListBody {
  const read = readEntries(kind, given);
  if (!read.ok) return refused(read.diagnostics.map((one) => ({ ...one, path: ['entries', ...one.path] })));
  return { list: null, packed: packEntries(kind, read.entries), count: read.entries.length };
}

function readKeys(kind: ListKind, given: unknown, report: Report): ReadListBody {
  if (!Array.isArray(given) || given.length > MAX_NAMED_ENTRIES) {
    const message = `must be a list of at most ${MAX_NAMED_ENTRIES} entries`;
    report.add('error', ['entries'], { code: 'invalid_type', message, found: quoteValue(given) });
    return refused(report.diagnostics());
  }
  const values: string[] = [];
  for (const [index, written] of given.entries()) {
    if (report.full()) break;
    const value = removedValue(kind, written, { path: ['entries', index], report });
    if (value !== null) values.push(value);
  }
  if (report.errors() > 0) return refused(report.diagnostics());
  return { list: null, packed: packKeys(kind, values), count: values.length };
}

/** The value of an entry to remove: of a redirect the path suffices. */
function removedValue(
  kind: ListKind,
  written: unknown,
  place: Parameters<typeof readEntry>[2],
): string | null {
  if (kind !== 'redirect') return readEntry(kind, written, place)?.value ?? null;
  const isPath = !isObject(written) || (Object.keys(written).length === 1 && 'from' in written);
  if (!isPath) return readEntry(kind, written, place)?.value ?? null;
  return readEntry('path', isObject(written) ? written['from'] : written, place)?.value ?? null;
}
