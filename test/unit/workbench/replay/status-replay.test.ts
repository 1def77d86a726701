/** The groups of a comparison of statuses: their bounds, weights and examples. */
import { expect, it } from 'vitest';
import { compile, seal } from '../../../../src/engine/compiler/index.ts';
import { loadPlan } from '../../../../src/engine/evaluator/index.ts';
import { readEdgeFile } from '../../../../src/rules/files/edge-file.ts';
import type { AccessEntry } from '../../../../src/workbench/access-logs/entry.ts';
import { EXAMPLES, MAX_GROUPS } from '../../../../src/workbench/replay/difference.ts';
import { createStatusReplay, type StatusReport } from '../../../../src/workbench/replay/status-replay.ts';

const EDGE = `domain: example.com
records:
  - { name: '@', type: A, destination: 192.0.2.1, proxied: true }
rules:
  - { key: admin, type: drop, path_includes: [/admin*] }
  - { key: old, type: redirect, path_includes: [/old], target: 'https://example.com/new' }
`;

function entry(status: number, target: string, more: Partial<AccessEntry> = {}): AccessEntry {
  const request = { scheme: 'https', method: 'GET', host: 'example.com', target };
  return {
    kind: 'request',
    time: 0,
    weight: 1,
    status,
    source: 'unknown',
    location: '',
    request,
    file: 'a.log',
    line: 7,
    ...more,
  };
}

function reportOf(entries: Iterable<AccessEntry>): StatusReport {
  const read = readEdgeFile(EDGE, 'edge.yaml');
  if (!read.ok) throw new Error(JSON.stringify(read.diagnostics));
  const plan = seal(compile(read.ruleSet).plan);
  const replay = createStatusReplay({
    open: () => loadPlan(plan, { clock: () => 0 }),
    anyRefusal: false,
    redact: (url) => url.replace('secret', 'REDACTED'),
  });
  for (const one of entries) replay.add(one);
  return replay.report();
}

it('groups by status, source, outcome and reason, with the first examples of each', () => {
  const many = Array.from({ length: EXAMPLES + 2 }, (_, index) => entry(200, `/admin/${index}?secret`));
  const { groups, ...counts } = reportOf([
    ...many,
    entry(200, '/admin', { source: 'origin', weight: 10 }),
    entry(200, '/'),
  ]);
  expect(counts).toEqual({
    compared: EXAMPLES + 4,
    changed: EXAMPLES + 3,
    verdicts: { different: EXAMPLES + 3, open: 0, incomparable: 0, same: 1 },
    ungrouped: 0,
    otherHosts: 0,
  });
  expect(groups).toMatchObject([
    { reason: 'refused_here', was: '200', now: 'block 403 by drop/admin', lines: EXAMPLES + 2 },
    { reason: 'refused_here', was: '200 by the origin', lines: 1, requests: 10 },
    { verdict: 'same', reason: 'forwarded', was: '200', now: 'forward' },
  ]);
  expect(groups[0]!.examples.map(({ request }) => request)).toEqual(
    Array.from({ length: EXAMPLES }, (_, index) => `GET https://example.com/admin/${index}?REDACTED`),
  );
});

it('has both locations of a redirect that differs, without secrets', () => {
  const location = 'https://example.com/else?secret';
  const { groups } = reportOf([entry(302, '/old', { location })]);
  expect(groups[0]).toMatchObject({
    reason: 'other_location',
    examples: [{ change: 'location https://example.com/else?REDACTED → https://example.com/new' }],
  });
});

it('cuts long targets and locations', () => {
  const long = 'x'.repeat(100_000);
  const { groups } = reportOf([entry(302, '/old', { location: `/${long}` }), entry(404, `/${long}`)]);
  for (const { examples } of groups) expect(JSON.stringify(examples).length).toBeLessThan(10_000);
  expect(groups).toHaveLength(2);
});

it('skips requests to hosts of other domains, and compares those to hosts of its own without a record', () => {
  const to = (host: string) => ({ request: { scheme: 'https', method: 'GET', host, target: '/' } });
  const { groups, ...counts } = reportOf([
    entry(200, '/', to('other.test')),
    entry(200, '/', to('myexample.com')),
    entry(200, '/', to('WWW.example.com:443')),
    entry(421, '/', to('www.example.com')),
  ]);
  expect(counts).toMatchObject({ compared: 2, changed: 1, otherHosts: 2 });
  expect(groups).toMatchObject([
    { reason: 'refused_here', was: '200', now: 'refuse 421' },
    { reason: 'equal', was: '421', now: 'refuse 421' },
  ]);
});

it('has a bound for the groups of each reason, so that many of one displace none of another', () => {
  // Statuses that no server answers.
  const odd = Array.from({ length: MAX_GROUPS + 5 }, (_, index) => entry(1_000 + index, '/'));
  const report = reportOf([...odd, entry(200, '/admin')]);
  expect(report).toMatchObject({ compared: MAX_GROUPS + 6, changed: 1, ungrouped: 5 });
  expect(report.groups[0]).toMatchObject({ reason: 'refused_here' });
  expect(report.groups).toHaveLength(MAX_GROUPS + 1);
});
