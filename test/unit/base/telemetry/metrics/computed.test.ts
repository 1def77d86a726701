/** Work is counted by account, and the number of series is bounded. */
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { addAccountTimes, MAX_ACCOUNT_SERIES } from '../../../../../src/base/telemetry/metrics/computed.ts';

const OPTIONS = {
  count: 'edgeplan_api_account_requests_total',
  seconds: 'edgeplan_api_account_seconds_total',
} as const;

test('requests and their seconds are added up by account', async () => {
  const registry = new Registry();
  const note = addAccountTimes(registry, OPTIONS);
  note(7, 0.25);
  note(7, 0.5);
  note(8, 1);
  const text = await registry.metrics();
  expect(text).toContain('edgeplan_api_account_requests_total{account="7"} 2\n');
  expect(text).toContain('edgeplan_api_account_seconds_total{account="7"} 0.75\n');
  expect(text).toContain('edgeplan_api_account_requests_total{account="8"} 1\n');
  expect(text).not.toContain('other"');
});

test('accounts beyond the bound are counted together, and those before them go on', async () => {
  const registry = new Registry();
  const note = addAccountTimes(registry, OPTIONS);
  for (let account = 1; account <= MAX_ACCOUNT_SERIES + 5; account++) note(account, 1);
  note(1, 1);
  note(MAX_ACCOUNT_SERIES + 1, 1);
  const text = await registry.metrics();
  expect(text).toContain('edgeplan_api_account_requests_total{account="1"} 2\n');
  expect(text).toContain('edgeplan_api_account_requests_total{account="other"} 6\n');
  expect(text.match(/^edgeplan_api_account_requests_total\{/gm)).toHaveLength(MAX_ACCOUNT_SERIES + 1);
});
