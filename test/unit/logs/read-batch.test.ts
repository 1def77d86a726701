/** What of a batch is stored: entries as nodes write them, and nothing that a database or a search cannot take. */
import { expect, test } from 'vitest';
import { LogRefusal } from '../../../src/logs/fault.ts';
import { type LogRow, readBatch, readHead } from '../../../src/logs/read-batch.ts';
import { decisionLine } from '../../../src/proxy/log/line.ts';
import type { RequestLogEntry } from '../../../src/proxy/log/request-log.ts';
import { DOMAIN, journalSubject, RECORDS } from '../../support/edge-journal.ts';
import { batchOf, type LineParts, lineOf } from '../../support/log-lines.ts';

const NOW = Date.UTC(2026, 0, 31, 13);
const subject = journalSubject({
  domain: DOMAIN,
  records: RECORDS,
  rules: [
    { id: 1, type: 'drop', path_includes: ['/blocked'] },
    { id: 2, type: 'captcha', path_includes: ['/tried'], action_mode: 'dry_run' },
  ],
});

function rowsOf(lines: readonly object[]): readonly LogRow[] {
  const bytes = batchOf(lines as Readonly<Record<string, unknown>>[]);
  const domains = [{ name: DOMAIN.name, id: 1, since: 0 }];
  return readBatch({ nodeId: 1, bytes, domains, now: NOW }, 7).rows;
}

function rowOf(parts: Partial<LineParts>): LogRow {
  return rowsOf([lineOf({ domain: DOMAIN.name, at: NOW, ...parts })])[0]!;
}

test('every field that a node writes is stored, and a field that it leaves out stays absent', () => {
  const pageMatches = [{ type: 'error_page', id: 9, mode: 'enforce', effect: 'page' }];
  const blocked = subject.entry({ target: '/blocked' }, { origin: 'answered', originMs: 2, monitored: true });
  const withPage = {
    ...blocked,
    exchange: { ...blocked.exchange, pageMatches },
  } as unknown as RequestLogEntry;
  const lines = [withPage, subject.entry({ target: '/tried' })].map((entry) => decisionLine(entry, null));
  const { octets_in: _, ttfb_ms: __, ...earlier } = decisionLine(subject.entry({}), 0.01);
  const sent = JSON.parse(JSON.stringify([...lines, earlier])) as object[];
  const rows = rowsOf(sent);
  expect(rows.map(({ line }) => JSON.parse(line))).toEqual(sent);
  expect(rows.map(({ rules }) => rules)).toEqual([['drop/1', 'error_page/9'], ['captcha/2'], []]);
});

test('a field that this release does not know is not stored', () => {
  const line = { ...lineOf({ domain: DOMAIN.name, at: NOW }), secrets: ['x'] };
  expect(rowsOf([line])[0]!.line).not.toContain('secrets');
});

test.each([
  ['/a/b?c=/d', '/a/b'],
  ['//a/./x/../b', '/a/b'],
  ['/%61dmin', '/admin'],
  ['http://example.com/a?b', '/a'],
  ['/%zz?b', '/%zz'],
])('the path of %s is searched as %s', (target, path) => {
  expect(rowOf({ target }).path).toBe(path);
});

test('a batch whose names or actions no database takes is refused with its line', () => {
  const line = lineOf({ domain: DOMAIN.name, at: NOW });
  const wrong = { ...line, decision: { action: 'blo\0ck', rule: null } };
  expect(() => rowsOf([line, wrong])).toThrow(/^line 3: `decision` must be an object with an `action`/);
  for (const name of ['a\0.test', '\ud800.test', '', 'x'.repeat(254)])
    expect(() => readHead(batchOf([], [name]))).toThrow(LogRefusal);
});
