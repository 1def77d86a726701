import { expect, test } from 'vitest';
import { resolveEntitlements } from '../../../../src/control/accounts/entitlements.ts';
import { readOverride } from '../../../../src/control/accounts/subscriptions.ts';

test.each([
  ['max_records=500', 'max_records', 500],
  ['max_records=unlimited', 'max_records', null],
  ['max_records=', 'max_records', undefined],
  ['max_cache_cap_mb=0', 'max_cache_cap_mb', 0],
  ['ws_enabled=true', 'ws_enabled', true],
  ['ws_enabled=false', 'ws_enabled', false],
  ['disabled_rule_types=waf,captcha', 'disabled_rule_types', ['waf', 'captcha']],
  ['disabled_rule_types=none', 'disabled_rule_types', []],
])('%s', (text, name, value) => {
  expect(readOverride(text)).toEqual({ ok: true, value: { name, value } });
  if (value === undefined) return;
  const subscription = {
    id: 1,
    domain_id: 1,
    plan_slug: 'free',
    plan_term_id: null,
    active: true,
    started_at: 0,
    ends_at: null,
    overrides_json: JSON.stringify({ [name]: value }),
  };
  const resolved = resolveEntitlements({ domain: { created_at: 0 }, subscription, fallback: 'free', now: 1 });
  expect(resolved[name as 'max_records']).toEqual(value);
});

test.each([
  ['ws_enabled', 'must be written feature=value'],
  ['max_record=5', 'did you mean `max_records`?'],
  ['plan_id=5', 'there is no feature `plan_id`'],
  ['ws_enabled=yes', 'is true or false, found `yes`'],
  ['max_records=-1', 'a whole number up to 1000000000000, or unlimited, found `-1`'],
  ['max_records=9999999999999', 'a whole number'],
  ['max_cache_cap_mb=unlimited', 'a whole number up to 1000000000000, found `unlimited`'],
  ['disabled_rule_types=waf,wav', 'found `wav`'],
  ['__proto__=1', 'there is no feature'],
])('%s is refused', (text, reason) => {
  expect(readOverride(text)).toEqual({ ok: false, reason: expect.stringContaining(reason) });
});
