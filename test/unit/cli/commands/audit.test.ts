/** Lines of the audit log: entries of every shape print, with each field once. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AuditLogEntry, auditLines } from '../../../../src/cli/commands/audit.ts';
import { paint } from '../../../../src/workbench/simulation/paint.ts';

const ENTRY = {
  id: 1,
  at: '2026-11-20T09:00:00.000Z',
  user_id: null,
  user: null,
  key_id: null,
  action: 'domain.ban',
  subject: 'domain/7',
} as const;

/** The printed text of an entry. */
function printed(before: unknown, after: unknown): string {
  const entry: AuditLogEntry = { ...ENTRY, before, after };
  return paint(auditLines(entry), false);
}

describe('an entry of the audit log', () => {
  test('prints a field that only the state after an action has as added', () => {
    const text = printed({ status: 'active' }, { status: 'banned', reason: 'phishing' });
    expect(text.split('\n').slice(1)).toEqual(['    status: active → banned', '    reason: phishing', '']);
  });

  test('prints a field that only the state before an action has as removed', () => {
    expect(printed({ status: 'banned', reason: 'x' }, { status: 'active' })).toContain('    reason: x\n');
  });

  test('prints `null` as a value where an object had or has it', () => {
    expect(printed({ until: null }, { until: 'tomorrow' })).toContain('    until: null → tomorrow\n');
  });

  test('prints a field that has the name of a method of every object', () => {
    expect(printed({ valueOf: 1 }, {})).toContain('    valueOf: 1\n');
  });

  test('prints whatever JSON an action stores before and after', () => {
    const json = fc.oneof(
      fc.constant(null),
      fc.dictionary(fc.constantFrom('status', 'reason', 'ips', 'n'), fc.jsonValue({ maxDepth: 2 })),
      fc.array(fc.jsonValue({ maxDepth: 2 }), { maxLength: 3 }),
      fc.jsonValue({ maxDepth: 1 }),
    );
    fc.assert(
      fc.property(json, json, (before, after) => {
        expect(printed(before, after)).toContain('domain.ban');
      }),
      { numRuns: 300 },
    );
  });
});
