import { describe, expect, test } from 'vitest';
import type { ErrorPageRule } from '../../src/rules/model/types.ts';
import { request, rule, ruleSet } from '../support/sample-rules.ts';
import { createOracle } from './index.ts';

function answer(
  rules: readonly Partial<ErrorPageRule>[],
  status: number,
  madeBy: 'edge' | 'origin' = 'origin',
) {
  const stored = rules.map((fields, index) => rule('error_page', index + 1, fields));
  return createOracle(ruleSet({ rules: stored })).errorPage(request({ target: '/a' }), status, madeBy);
}

describe('error_page', () => {
  test('the first rule that matches the request and lists the status', () => {
    const rules = [{ path_includes: ['/b'] }, { codes: [404] }, { codes: [500, 502] }, { codes: [500] }];
    expect(answer(rules, 500)).toEqual({
      page: { kind: 'svc', html: null, rule: { type: 'error_page', id: 3 } },
      matches: [{ type: 'error_page', id: 3, mode: 'enforce', effect: 'error_page' }],
      shadow: null,
    });
    expect(answer(rules, 503)).toEqual({ page: null, matches: [], shadow: null });
  });

  test("custom content: the code's own entry, else 0, else the service's page", () => {
    const custom = { mode: 'custom' as const, codes: [404, 500] };
    const page = (content: Record<string, string>) => answer([{ ...custom, content }], 404).page;
    expect(page({ '404': 'own', '0': 'any' })).toMatchObject({ kind: 'custom', html: 'own' });
    expect(page({ '500': 'other', '0': 'any' })).toMatchObject({ kind: 'custom', html: 'any' });
    expect(page({ '500': 'other' })).toMatchObject({ kind: 'svc', html: null });
  });

  test('origin mode passes the origin, and is the service page on a status of the edge', () => {
    expect(answer([{ mode: 'origin' }], 500, 'origin').page).toMatchObject({ kind: 'origin', html: null });
    expect(answer([{ mode: 'origin' }], 500, 'edge').page).toMatchObject({ kind: 'svc', html: null });
  });

  test('a dry_run rule is recorded and acts in the shadow', () => {
    const rules = [{ action_mode: 'dry_run' as const, mode: 'origin' as const }, {}];
    expect(answer(rules, 500)).toMatchObject({
      page: { kind: 'svc', rule: { id: 2 } },
      matches: [{ id: 1, mode: 'dry_run' }, { id: 2 }],
      shadow: { page: { kind: 'origin', rule: { id: 1 } }, matches: [{ id: 1 }], shadow: null },
    });
  });

  test('nothing for a refused request or another status', () => {
    const oracle = createOracle(ruleSet({ rules: [rule('error_page', 1, { codes: [400, 421, 302] })] }));
    const none = { page: null, matches: [], shadow: null };
    expect(oracle.errorPage(request({ target: '/%' }), 400, 'edge')).toEqual(none);
    expect(oracle.errorPage(request({ host: 'other.com' }), 421, 'edge')).toEqual(none);
    expect(oracle.errorPage(request(), 302, 'origin')).toEqual(none);
    expect(oracle.errorPage(request(), 400, 'origin').page?.kind).toBe('svc');
  });
});
