/** The report of a replay of access logs as text. */
import { expect, it } from 'vitest';
import { requestsText } from '../../../../src/cli/replay/print-requests.ts';
import { createReadLogs } from '../../../../src/cli/replay/replay-logs.ts';
import type { LackedFact } from '../../../../src/workbench/replay/dependencies.ts';

it('a rule that depends on what a log lacks is named with its conditions', () => {
  const report = {
    ...{ compared: 1, changed: 0, groups: [], ungrouped: 0, outcomes: [], otherHosts: 0 },
    shadow: { changed: 0, groups: [], ungrouped: 0 },
  };
  const lacked: LackedFact = {
    ...{ fact: 'headers', requests: 7, assumed: 'only those of the log are read' },
    rules: ['waf/guard', 'drop/keys', 'drop/keys-2'],
    conditions: ['drop/keys conditions.headers[0] x-key', 'drop/keys conditions.cookies[1] sid'],
  };
  const names = { before: null, after: 'edge.yaml' };
  expect(requestsText({ report, read: createReadLogs(), lacks: [lacked], names })).toMatch(
    / {2}3: waf\/guard, drop\/keys \(conditions\.headers\[0\] x-key, conditions\.cookies\[1\] sid\), drop\/keys-2\n$/,
  );
});
