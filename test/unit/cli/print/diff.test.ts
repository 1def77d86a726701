/** The difference of two plans as text. */
import { expect, test } from 'vitest';
import { diffText } from '../../../../src/cli/print/diff.ts';

const NAMES = { before: 'a.yaml', after: 'b.yaml' };

function printed(was: unknown, now: unknown): string {
  const rules = [{ change: 'changed', rule: 'gateway/1', fields: [{ field: 'entries', was, now }] }] as const;
  return diffText({ same: false, domain: [], hosts: [], rules }, NAMES);
}

// The source of an operation (`manual`) was printed in its place.
test('an operation is printed with what differs in it', () => {
  const operation = (rate: number): object => ({
    ...{ operation: 'GET /orders', source: 'manual', limits: { rate } },
  });
  const text = printed([operation(1)], [operation(2)]);
  expect(text).toContain('- {"operation":"GET /orders","source":"manual","limits":{"rate":1}}');
  expect(text).toContain('+ {"operation":"GET /orders","source":"manual","limits":{"rate":2}}');
});

test('a pattern is printed as its source', () => {
  const text = printed([{ kind: 'regex', source: '^/a' }], [{ kind: 'exact', source: '/b' }]);
  expect(text).toContain('- ^/a (regex)\n');
  expect(text).toContain('+ /b\n');
});
