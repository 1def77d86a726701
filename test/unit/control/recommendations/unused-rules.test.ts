/** Rules without a match: claimed only if a month of counts says so. */
import { describe, expect, test } from 'vitest';
import { unusedRules } from '../../../../src/control/recommendations/unused-rules.ts';
import { addHits, addKey, type TrafficCounts } from '../../../../src/engine/counts/counts.ts';
import { DAY, type FactParts, factsOf, NOW, periodOf, wouldHave } from '../../../support/stored-facts.ts';

const RULE = { id: 7, type: 'drop', path_includes: ['/admin/*'], countries: ['KP'] };
const month = (yesterday?: (counts: TrafficCounts) => void) =>
  periodOf({ days: 30, requests: 500, ...(yesterday === undefined ? {} : { yesterday }) });
const found = (parts: FactParts) => unusedRules(factsOf({ rules: [RULE], month: month(), ...parts }));

describe('unused rules', () => {
  test('a rule that nothing matched in a month of traffic is named with the counts', () => {
    const [one, ...others] = found({});
    expect(others).toEqual([]);
    expect(one).toMatchObject({
      kind: 'unused_rule',
      subject: 'drop/7',
      severity: 'info',
      evidence: { rule: 'drop/7', hits: 0, requests: 31 * 500, traffic_days: 31 },
      change: { rules: [{ id: 7, enabled: false, path_includes: ['/admin/*'] }] },
    });
    expect(one!.message).toContain('`drop/7` (/admin/* · KP)');
  });

  test('one match is enough to be used, also under dry_run, and one that another rule outdid', () => {
    for (const mode of ['enforce', 'dry_run'] as const) {
      const hit = (counts: TrafficCounts) =>
        addHits(counts, { type: 'drop', id: 7, mode, effect: 'block', hits: 1, lastAt: NOW });
      expect(found({ month: month(hit) })).toEqual([]);
    }
  });

  test('hits of another rule are none of this one', () => {
    expect(
      found({ month: month((counts) => wouldHave(counts, 8, { effect: 'block', hits: 5 })) }),
    ).toHaveLength(1);
  });

  test.each<[string, FactParts]>([
    ['the rule was changed within the month', { updatedAt: NOW - 29 * DAY }],
    ['the rule is disabled', { rules: [{ ...RULE, enabled: false }] }],
    ['lint reports why it matches nothing', { rules: [{ ...RULE, path_excludes: ['/admin/*'] }] }],
    ['counts are not to be read', { month: null }],
    ['there are too few requests', { month: periodOf({ days: 30, requests: 30 }) }],
    ['traffic began within the month', { month: periodOf({ days: 30, requests: 500, quiet: 3 }) }],
    ['some matches were not counted', { month: month((counts) => void counts.sums.uncounted_hits++) }],
  ])('nothing is claimed if %s', (_, parts) => {
    expect(found(parts)).toEqual([]);
  });

  test('an error page is unused only if there were responses that it could have replaced', () => {
    const rules = [{ id: 9, type: 'error_page', codes: [502], mode: 'svc' }];
    const errors = (requests: number) =>
      month((counts) => addKey(counts, 'status', { key: '502', requests }));
    expect(found({ rules, month: errors(99) })).toEqual([]);
    expect(found({ rules, month: errors(100) })).toHaveLength(1);
  });
});
