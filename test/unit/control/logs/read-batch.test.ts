/** What of a batch is stored: entries as nodes write them, and nothing that a database or a search cannot take. */
import { expect, test } from 'vitest';
import { logLine } from '../../../../src/cli/remote/domain-logs.ts';
import { decisionMistake } from '../../../../src/control/logs/entry-schema.ts';
import { LogRefusal } from '../../../../src/control/logs/log-store.ts';
import { type LogRow, readBatch, readHead } from '../../../../src/control/logs/read-batch.ts';
import { decisionLine } from '../../../../src/edge/proxy/log/line.ts';
import type { RequestLogEntry } from '../../../../src/edge/proxy/log/request-log.ts';
import { DOMAIN, journalSubject, RECORDS } from '../../../support/edge-journal.ts';
import { batchOf, type LineParts, lineOf } from '../../../support/log-lines.ts';

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
  const bytes = batchOf(lines as Readonly<Record<string, unknown>>[], [DOMAIN.name]);
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
  expect(() => rowsOf([line, wrong])).toThrow(/^line 3: `decision.action` must be a word in lower case/);
  for (const name of ['a\0.test', '\ud800.test', '', 'x'.repeat(254)])
    expect(() => readHead(batchOf([], [name]))).toThrow(LogRefusal);
});

/** Values that fit no field of an entry. */
const ODD: readonly unknown[] = [{}, { toString: 1 }, [[]], 1e300, 'a\0'.repeat(2_000)];

/** An entry in which each field has a value, so that a wrong one can be put in the place of each. */
function fullLine(): Readonly<Record<string, unknown>> {
  const verdict = { score: 5, ids: [1], targets: ['ARGS:id'], truncated: true, exhausted: true };
  const matches = [{ id: 1, name: 'SQL', category: 'sqli', score: 5, target: 'ARGS:id', part: '1 or 1' }];
  const waf = { ...verdict, matches, denied: true, body_error: 'json', uninspected: 'limit' };
  const line = lineOf({ domain: DOMAIN.name, at: NOW, shadow: 'block', fault: 'reset', rule: 'drop/1' });
  const decision = {
    action: 'block',
    status: 403,
    rule: 'drop/1',
    location: '/a',
    origin: 'http://192.0.2.1:80',
    host_header: 'a.test',
    path: '/a',
    cache: { mode: 'store', edge_ttl_sec: 1, browser_ttl_sec: 1 },
    tags: ['a'],
  };
  return {
    ...line,
    sampled: 0.5,
    request: {
      scheme: 'https',
      method: 'GET',
      host: DOMAIN.name,
      target: '/',
      protocol: 'HTTP/2',
      port: 443,
      headers: { accept: '*/*', 'x-forwarded-for': ['192.0.2.1', '192.0.2.2'] },
      ip: '192.0.2.1',
      country: 'DE',
      asn: 64_496,
      bot: { kind: 'gptbot', verified: true },
      ja4: 't13d',
      now: NOW,
      cleared: ['captcha/9'],
    },
    unserved: { host: 'a.test', server_name: 'b.test', reason: 'handshake' },
    withheld: ['body'],
    decision,
    shadow: decision,
    matches: [{ rule: 'waf/1', mode: 'dry_run', effect: 'block', waf }],
    page_matches: [{ rule: 'error_page/1', mode: 'enforce', effect: 'page' }],
    waf,
    octets_in: 1,
    ttfb_ms: 1,
    origin: 'answered',
    origin_ms: -1,
    monitored: true,
    cache: 'hit',
    markdown: 'rendered',
  };
}

/** Paths of all values in an entry. */
function pathsOf(value: unknown, path: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  const below = Object.entries(value).flatMap(([key, one]) =>
    pathsOf(one, [...path, Array.isArray(value) ? Number(key) : key]),
  );
  return path.length === 0 ? below : [path, ...below];
}

function withValue(line: object, path: readonly (string | number)[], value: unknown): object {
  const copy = structuredClone(line) as Record<string | number, never>;
  let parent: Record<string | number, never> = copy;
  for (const step of path.slice(0, -1)) parent = parent[step]!;
  parent[path.at(-1)!] = value as never;
  return copy;
}

test('an entry with every field is stored as it is', () => {
  const line = fullLine();
  expect(JSON.parse(rowsOf([line])[0]!.line)).toEqual(line);
});

test.each(pathsOf(fullLine()).map((path) => [path.join('.'), path] as const))(
  'a value that %s cannot have is refused with the line, or what is stored can be read',
  (_, path) => {
    const line = fullLine();
    for (const value of ODD) {
      const wrong = withValue(line, path, value);
      let stored: LogRow | null = null;
      try {
        [stored = null] = rowsOf([line, wrong]).slice(1);
      } catch (error) {
        expect(error).toBeInstanceOf(LogRefusal);
        expect((error as LogRefusal).message).toMatch(/^line 3: /);
      }
      if (stored === null) continue;
      expect(decisionMistake(JSON.parse(stored.line), 'store')).toBeNull();
      expect(() => logLine({ ...JSON.parse(stored.line), node: null })).not.toThrow();
    }
  },
);

test('the name of a field that is wrong is in the refusal', () => {
  const wrong = withValue(fullLine(), ['matches', 0, 'waf', 'ids'], { 0: 1 });
  expect(() => rowsOf([wrong])).toThrow('line 2: `matches[0].waf.ids` must be a list of numbers');
  const host = withValue(fullLine(), ['request', 'host'], {});
  expect(() => rowsOf([host])).toThrow('line 2: `request.host` must be a text, or a list of texts');
});
