/** Letters about what an account has: quotas of its domains, its API keys, and the test of its contacts. */
import { z } from 'zod';
import { IMPORTANT, kind, type Letter, WRITTEN } from '../kind.ts';
import { timeWords } from '../wording.ts';

const quota = z.object({
  quota: z.string().describe('the name of the allowance, such as `gateway_requests`'),
  used: z.number().min(0).describe('used in this period'),
  limit: z.number().min(1).describe('the allowance'),
  period_end: z.iso.datetime().describe('when the next period begins'),
});

/** The facts of a quota. */
function quotaFacts({ quota: name, used, limit, period_end }: z.output<typeof quota>): Letter['facts'] {
  const share = Math.floor((used / limit) * 100);
  return [
    { label: 'Quota', value: name },
    {
      label: 'Used',
      value: `${used.toLocaleString('en-GB')} of ${limit.toLocaleString('en-GB')} (${share}\u00a0%)`,
    },
    { label: 'Renewed', value: timeWords(period_end) },
  ];
}

const near = kind({
  severity: 'warning',
  audience: 'domain',
  usual: IMPORTANT,
  meaning: 'most of a quota of the domain is used',
  data: quota,
  letter: (data, { domain }) => ({
    headline: `${domain} has used most of its ${data.quota}`,
    paragraphs: [`Most of what the plan of ${domain} includes for this period is used.`],
    facts: quotaFacts(data),
    steps: ['Choose a larger plan, or expect the limit before the period ends.'],
  }),
});

const reached = kind({
  severity: 'critical',
  audience: 'domain',
  usual: IMPORTANT,
  meaning: 'a quota of the domain is used up',
  data: quota,
  letter: (data, { domain }) => ({
    headline: `${domain} has used up its ${data.quota}`,
    paragraphs: [`All that the plan of ${domain} includes for this period is used.`],
    facts: quotaFacts(data),
    steps: ['Choose a larger plan, or wait for the next period.'],
  }),
});

const key = {
  key_id: z.int().describe('the id of the key'),
  name: z.string().describe('the name of the key'),
  read_only: z.boolean().describe('whether it may only read'),
} as const;

const created = kind({
  severity: 'info',
  audience: 'account',
  usual: WRITTEN,
  meaning: 'an API key of the account was made',
  data: z.object({
    ...key,
    expires_at: z.iso.datetime().nullable().describe('when it ends; `null`: never'),
  }),
  letter: ({ key_id, name, read_only, expires_at }, { at }) => ({
    headline: `A new API key: ${name}`,
    paragraphs: ['An API key of your account was made. The key itself was shown once, to its maker.'],
    facts: [
      { label: 'Key', value: `${key_id}, ${name}` },
      { label: 'Access', value: read_only ? 'read-only' : 'full' },
      { label: 'Made', value: timeWords(at) },
      { label: 'Valid until', value: expires_at === null ? 'without an end' : timeWords(expires_at) },
    ],
    steps: ['If you did not expect this, ask the operator to revoke the key at once.'],
  }),
});

const revoked = kind({
  severity: 'info',
  audience: 'account',
  usual: WRITTEN,
  meaning: 'an API key of the account was revoked',
  data: z.object(key),
  letter: ({ key_id, name }, { at }) => ({
    headline: `The API key ${name} is revoked`,
    paragraphs: ['Requests with this key are answered with 401 from now on.'],
    facts: [
      { label: 'Key', value: `${key_id}, ${name}` },
      { label: 'Revoked', value: timeWords(at) },
    ],
    steps: ['If programs used this key, give them another one.'],
  }),
});

const test = kind({
  severity: 'info',
  audience: 'account',
  usual: { email: 'on', sms: 'on', webhook: 'on' },
  meaning: 'a test of the contacts of the account, on request',
  data: z.object({}),
  letter: (_, { at }) => ({
    headline: 'Test: your notifications arrive',
    paragraphs: ['This is a test that your account has requested. Nothing happened.'],
    facts: [{ label: 'Requested', value: timeWords(at) }],
    steps: [],
  }),
});

/** The kinds of this group by name. */
export const ACCOUNT_KINDS = {
  'quota.near': near,
  'quota.reached': reached,
  'key.created': created,
  'key.revoked': revoked,
  'account.test': test,
} as const;
