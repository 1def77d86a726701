/** A stored object has the fields of its form and no others; the types follow from the forms. */
import { describe, expect, expectTypeOf, it } from 'vitest';
import { RULE_TYPES } from '../../../../src/base/vocabulary/vocabulary.ts';
import { domainForm } from '../../../../src/rules/model/domain.ts';
import { parseRuleSet } from '../../../../src/rules/model/parse.ts';
import { recordForm } from '../../../../src/rules/model/record.ts';
import { RULE_FORMS } from '../../../../src/rules/model/rule.ts';
import type { RateLimitRule, Rule } from '../../../../src/rules/model/types.ts';
import { LEAST } from './read.ts';

const INPUT = {
  domain: { name: 'example.com' },
  records: [{ id: 1, name: '@', type: 'A', destination: '192.0.2.1' }],
  rules: RULE_TYPES.map((type, index) => ({ ...LEAST[type], id: index + 1, type })),
};

/** Fields that a rule is stored without if it has none. */
const UNSTORED = [
  'conditions',
  'key_parts',
  'count_statuses',
  'headers',
  'target_mode',
  'targets',
  'request',
  ...['default_plan', 'cors', 'validation', 'upstream_headers'],
];

describe('what the forms produce', () => {
  it('is readonly and typed as the form of its type reads it', () => {
    expectTypeOf<Extract<Rule, { type: 'rate_limit' }>>().toEqualTypeOf<RateLimitRule>();
    expectTypeOf<RateLimitRule['key_by']>().toEqualTypeOf<'ip' | 'ip_path'>();
    expectTypeOf<RateLimitRule['path_includes']>().toEqualTypeOf<readonly string[]>();
    expectTypeOf<keyof RateLimitRule>().toEqualTypeOf<
      | 'id'
      | 'type'
      | 'record_ids'
      | 'enabled'
      | 'priority'
      | 'host_pattern'
      | 'host_match_type'
      | 'host_includes'
      | 'host_excludes'
      | 'action_mode'
      | 'conditions'
      | 'path_match_type'
      | 'path_includes'
      | 'path_excludes'
      | 'limit'
      | 'window_sec'
      | 'key_by'
      | 'key_parts'
      | 'count_statuses'
      | 'headers'
      | 'on_breach'
      | 'burst'
    >();
  });

  it('has every field of its form and no other one', () => {
    const parsed = parseRuleSet(INPUT);
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.diagnostics));
    const { domain, records, rules } = parsed.ruleSet;
    expect(Object.keys(domain).sort()).toEqual(Object.keys(domainForm.fields).sort());
    expect(Object.keys(records[0]!).sort()).toEqual(Object.keys(recordForm.fields).sort());
    expect(rules.map(({ type }) => type)).toEqual([...RULE_TYPES]);
    for (const rule of rules) {
      const { record_id: _deprecated, ...fields } = RULE_FORMS[rule.type].fields;
      const unstored = rule.type === 'drop' ? [...UNSTORED, 'status'] : UNSTORED;
      const stored = Object.keys(fields).filter((name) => !unstored.includes(name));
      expect(Object.keys(rule).sort()).toEqual(['id', 'type', ...stored].sort());
    }
  });
});
