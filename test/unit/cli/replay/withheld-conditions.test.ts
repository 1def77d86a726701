/** Decision logs do not have all values that conditions read: such decisions are taken as logged, and the condition is named. */
import { expect, it } from 'vitest';
import { createReplay, type ReplayLine, type ReplayReport } from '../../../../src/cli/replay/replay.ts';
import { compileEdge } from '../../../../src/edge/middleware/node/edge-input.ts';
import { loggedDecision } from '../../../../src/edge/proxy/log/line.ts';
import { loadPlan } from '../../../../src/engine/evaluator/evaluate.ts';
import { openPlan, seal } from '../../../../src/engine/plan/seal.ts';
import { withholdableReads } from '../../../../src/workbench/replay/dependencies.ts';

const RECORDS = [{ name: '@', type: 'A', destination: '192.0.2.1', proxied: true }];

function sealed(rules: readonly object[]): Uint8Array {
  const edge = JSON.stringify({ domain: 'example.com', records: RECORDS, rules });
  const compiled = compileEdge(new TextEncoder().encode(edge), 'edge.yaml');
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics));
  return seal(compiled.plan, { revision: 0 });
}

const REQUEST = { scheme: 'https', method: 'GET', host: 'example.com', target: '/a?q=1', headers: {} };

/** The report of a line that was blocked by `drop/k`, and that lacks `withheld`, under other rules. */
function reportOf(rules: readonly object[], withheld: readonly string[]): ReplayReport {
  const was = loadPlan(sealed([{ key: 'k', type: 'drop', path_includes: ['/a'] }])).evaluate(REQUEST);
  const bytes = sealed(rules);
  const replay = createReplay(() => loadPlan(bytes), { reads: withholdableReads(openPlan(bytes)) });
  const request = REQUEST as ReplayLine['request'];
  const line = { id: '1', time: '', domain: 'example.com', request, decision: loggedDecision(was), withheld };
  replay.add({ kind: 'decision', line: { ...line, sampled: 1 } });
  return replay.report();
}

const HEADERS = [{ name: 'x-key', op: 'equals', values: ['1'] }];

it.each([
  [{ headers: HEADERS }, 'x-key', 'drop/k conditions.headers[0] x-key'],
  [{ cookies: [{ name: 'sid', op: 'present' }] }, 'cookie', 'drop/k conditions.cookies[0] sid'],
  [
    { query: [{ name: 'token', op: 'suffix', values: ['a', 'b'] }] },
    'target',
    'drop/k conditions.query[0] token',
  ],
])('%s on a withheld value', (conditions, withheld, named) => {
  const rules = [{ key: 'k', type: 'drop', conditions }];
  expect(reportOf(rules, [withheld])).toMatchObject({ changed: 0, assumed: 1, assumedBy: { [named]: 1 } });
});

it('a decision that depends on no withheld value changes', () => {
  const rules = [{ key: 'k', type: 'drop', conditions: { headers: HEADERS } }];
  expect(reportOf(rules, [])).toMatchObject({ changed: 1, assumed: 0, assumedBy: {} });
  expect(reportOf(rules, ['x-other'])).toMatchObject({ changed: 1, assumed: 0 });
  const other = [{ key: 'k', type: 'drop', conditions: { methods: ['POST'], headers: HEADERS } }];
  expect(reportOf(other, ['x-key'])).toMatchObject({ changed: 1, assumed: 0 });
});
