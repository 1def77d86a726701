/** The findings of lint that become recommendations, and the changes that end them. */
import { describe, expect, test } from 'vitest';
import { findings } from '../../../../src/control/recommendations/findings.ts';
import type { Rule } from '../../../../src/rules/model/types.ts';
import { lintRuleSet } from '../../../../src/workbench/proofs/lint.ts';
import { factsOf } from '../../../support/stored-facts.ts';

const found = (rule: object) => findings(factsOf({ rules: [{ id: 7, ...rule }] }));

describe('findings', () => {
  test.each<[string, object]>([
    [
      'exclude_swallows_includes',
      { type: 'drop', countries: ['KP'], path_includes: ['/a'], path_excludes: ['/*'] },
    ],
    ['empty_scope', { type: 'drop', countries: ['KP'], host_includes: ['nothere.shop.example'] }],
  ])('%s: a rule that never acts is proposed to be disabled', (code, rule) => {
    const [one, ...others] = found(rule);
    expect(others).toEqual([]);
    expect(one).toMatchObject({
      kind: 'mistaken_rule',
      subject: `drop/7:${code}`,
      severity: 'warning',
      evidence: { rule: 'drop/7', code },
      change: { rules: [{ id: 7, enabled: false }] },
    });
  });

  test('a redirect without end is an error, and its target is proposed as an exclude', () => {
    const { domain, records } = factsOf({});
    const [one] = found({ type: 'redirect', target: '/new/', path_includes: ['/*'], preserve_path: true });
    expect(one).toMatchObject({
      severity: 'error',
      evidence: { code: 'redirect_loop', fields: ['target'] },
      change: { rules: [{ path_excludes: ['/new/*'] }] },
    });
    expect(lintRuleSet({ domain, records, rules: one!.change!.rules as readonly Rule[] })).toEqual([]);
  });

  test('a guard on one spelling is proposed to cover the paths below, all its entries in one recommendation', () => {
    const [one, ...others] = found({ type: 'captcha', path_includes: ['/login', '/admin'] });
    expect(others).toEqual([]);
    expect(one).toMatchObject({
      severity: 'warning',
      evidence: { code: 'exact_path_guard', fields: ['path_includes[0]', 'path_includes[1]'] },
      change: { rules: [{ path_includes: ['/login', '/admin', '/login/*', '/admin/*'] }] },
    });
  });

  test('an excluded suffix is named without a change: its folder is unknown', () => {
    expect(found({ type: 'captcha', path_excludes: ['*.css'] })).toMatchObject([
      { evidence: { code: 'suffix_exclude' }, change: null },
    ]);
  });

  test('other findings are left to the analysis', () => {
    const rule = { id: 7, type: 'drop', countries: ['KP'], path_includes: ['/a*', '/ab'] };
    const facts = factsOf({ rules: [rule] });
    expect(facts.findings.length).toBeGreaterThan(0);
    expect(findings(facts)).toEqual([]);
  });
});
