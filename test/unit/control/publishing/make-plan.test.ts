import { describe, expect, test } from 'vitest';
import { PublishFault } from '../../../../src/control/publishing/fault.ts';
import { type DomainRows, toRuleSet } from '../../../../src/control/publishing/make-plan.ts';
import { compile } from '../../../../src/engine/compiler/index.ts';
import { loadPlan } from '../../../../src/engine/evaluator/index.ts';
import { seal } from '../../../../src/engine/plan/seal.ts';
import type { RuleSet } from '../../../../src/rules/model/types.ts';
import { SHOP } from '../../../support/golden-shop.ts';
import { toRows } from './rows.ts';

function faultOf(rows: DomainRows): PublishFault {
  try {
    toRuleSet(rows);
  } catch (error) {
    if (error instanceof PublishFault) return error;
    throw error;
  }
  throw new Error('the rows were read');
}

describe('toRuleSet', () => {
  test('toRuleSet returns what was stored, every rule type and error pages included', () => {
    expect(new Set(SHOP.rules.map((rule) => rule.type)).size).toBe(12);
    expect(toRuleSet(toRows(SHOP))).toEqual(SHOP);
  });

  test('toRuleSet preserves the end of developer mode to the millisecond', () => {
    const until = '2026-01-02T03:04:05.678Z';
    const shop: RuleSet = { ...SHOP, domain: { ...SHOP.domain, developer_mode_until: until } };
    expect(toRuleSet(toRows(shop)).domain.developer_mode_until).toBe(until);
  });

  test('rules that earlier versions accepted and this one refuses are read and compiled', () => {
    const all = {
      record_ids: [],
      enabled: true,
      priority: 7,
      host_pattern: '',
      action_mode: 'enforce',
    } as const;
    const hosts = { host_match_type: '', host_includes: [], host_excludes: [] } as const;
    const paths = { path_match_type: 'wildcard', path_includes: ['api/*'], path_excludes: ['^/x'] } as const;
    const old = { ...all, ...hosts, ...paths };
    const [record] = SHOP.records;
    const blank = { ...record!, proxied: false, mx_priority: 1 };
    const before: RuleSet = {
      ...SHOP,
      records: [
        { ...blank, id: 801, name: 'loop', type: 'CNAME', destination: `loop.${SHOP.domain.name}` },
        { ...blank, id: 802, name: '@', type: 'MX', destination: '192.0.2.1' },
      ],
      rules: [
        { ...old, id: 1, type: 'rewrite', path_target: '', query_mode: 'preserve', query_target: '' },
        { ...old, id: 2, type: 'error_page', mode: 'svc', codes: [], content: {} },
        { ...old, id: 3, type: 'captcha', ttl_sec: 1_800 },
      ],
    };
    expect(toRuleSet(toRows(before))).toEqual(before);
    const request = { scheme: 'https', method: 'GET', host: SHOP.domain.name, target: '/', ip: '192.0.2.7' };
    const evaluator = loadPlan(seal(compile(toRuleSet(toRows(before))).plan));
    expect(evaluator.evaluate(request).action).not.toBe('challenge');
  });

  test('the fault `stored_rows` names the row that cannot be read, and the reason', () => {
    const rows = toRows(SHOP);
    const [first, ...rest] = rows.rules;
    const broken = { ...first!, body: JSON.stringify({ ...JSON.parse(first!.body), ips: ['nowhere'] }) };
    const fault = faultOf({ ...rows, rules: [broken, ...rest] });
    expect(fault.code).toBe('stored_rows');
    expect(fault.message).toContain(`rule ${first!.type}/${first!.id}`);
    expect(fault.message).toContain('ips[0]');
    expect(faultOf({ ...rows, rules: [{ ...first!, body: '{' }, ...rest] }).code).toBe('stored_rows');
    const [record] = rows.records;
    expect(faultOf({ ...rows, records: [{ ...record!, destination: '' }] }).message).toContain(
      `record ${record!.id}`,
    );
    expect(faultOf({ ...rows, domain: { ...rows.domain, name: 'not a name' } }).code).toBe('stored_rows');
  });

  test('a rule whose records are all gone matches nothing, rather than everything', () => {
    const redirect = SHOP.rules.find((rule) => rule.type === 'drop')!;
    const rule = {
      ...redirect,
      id: 99,
      record_ids: [4_000_000],
      ip_match_type: 'include' as const,
      ips: ['0.0.0.0/0'],
    };
    const orphaned: RuleSet = { ...SHOP, rules: [{ ...rule, path_includes: ['/*'] }] as RuleSet['rules'] };
    const evaluator = loadPlan(seal(compile(toRuleSet(toRows(orphaned))).plan));
    const request = { scheme: 'https', method: 'GET', host: SHOP.domain.name, target: '/', ip: '192.0.2.7' };
    expect(evaluator.evaluate(request).action).toBe('forward');
    const scoped: RuleSet = { ...orphaned, rules: orphaned.rules.map((one) => ({ ...one, record_ids: [] })) };
    expect(loadPlan(seal(compile(toRuleSet(toRows(scoped))).plan)).evaluate(request).action).toBe('block');
  });
});
