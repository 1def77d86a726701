/** Letters about the registry of a domain: quotas of its consumers, keys of its token issuers (semantics §15). */
import { z } from 'zod';
import { QUOTA_PERIODS } from '../../../base/vocabulary/vocabulary.ts';
import { IMPORTANT, kind, type Letter } from '../kind.ts';
import { timeWords } from '../wording.ts';

const quotas = z.object({
  count: z
    .int()
    .min(1)
    .describe('quotas of consumers that have reached the level since the last notification'),
  quotas: z
    .array(
      z.object({
        consumer: z.string().describe('the username of the consumer'),
        usage_plan: z.string().describe('the name of the usage plan'),
        used: z.int().describe('admitted requests in this period'),
        limit: z.int().min(1).describe('the limit of the quota'),
        period: z.enum(QUOTA_PERIODS).describe('the period of the quota'),
      }),
    )
    .describe('the first ten of them'),
});

/** A fact for each quota that is named, and the number of the others. */
function quotaFacts({ count, quotas: named }: z.output<typeof quotas>): Letter['facts'] {
  const facts = named.map(({ consumer, usage_plan, used, limit, period }) => ({
    label: consumer,
    value: `${used.toLocaleString('en-GB')} of ${limit.toLocaleString('en-GB')} (${Math.floor((used / limit) * 100)}\u00a0%), usage plan ${usage_plan}, period ${period}`,
  }));
  const others = count - named.length;
  return others === 0 ? facts : [...facts, { label: 'Others', value: others.toLocaleString('en-GB') }];
}

/** The subject of a headline. */
function quotaWords({ count }: z.output<typeof quotas>, domain: string): string {
  return count === 1
    ? `A quota of a consumer of ${domain} is`
    : `${count.toLocaleString('en-GB')} quotas of consumers of ${domain} are`;
}

const near = kind({
  severity: 'warning',
  audience: 'domain',
  usual: IMPORTANT,
  meaning: 'consumers have used most of the quota of their usage plan',
  data: quotas,
  letter: (data, { domain }) => ({
    headline: `${quotaWords(data, domain)} nearly used up`,
    paragraphs: ['At least 80 % of what the usage plan allows in this period is used.'],
    facts: quotaFacts(data),
    steps: ['Choose a higher limit or another usage plan if these consumers are to send more requests.'],
  }),
});

const reached = kind({
  severity: 'warning',
  audience: 'domain',
  usual: IMPORTANT,
  meaning: 'consumers have used up the quota of their usage plan, and are refused',
  data: quotas,
  letter: (data, { domain }) => ({
    headline: `${quotaWords(data, domain)} used up`,
    paragraphs: ['Gateways answer requests of these consumers with 429 until the quota allows more.'],
    facts: quotaFacts(data),
    steps: ['Choose a higher limit or another usage plan, or wait for the next period.'],
  }),
});

const failed = kind({
  severity: 'warning',
  audience: 'domain',
  usual: IMPORTANT,
  meaning: 'the keys of a token issuer cannot be fetched for an hour or longer',
  data: z.object({
    token_issuer: z.string().describe('the name of the token issuer'),
    host: z.string().describe('the host of its `jwks_url`'),
    reason: z.string().describe('why the last fetch failed'),
    failures: z.int().describe('fetches in a row that failed'),
    fetched_at: z.iso.datetime().nullable().describe('the last good fetch; `null`: no fetch succeeded'),
    key_count: z.int().describe('keys that stay in force'),
  }),
  letter: (data, { domain }) => ({
    headline: `The keys of the token issuer ${data.token_issuer} of ${domain} cannot be fetched`,
    paragraphs: [
      data.key_count === 0
        ? 'There are no keys in force: gateways refuse the tokens of this issuer.'
        : 'The keys of the last good fetch stay in force. Tokens that newer keys have signed are refused.',
    ],
    facts: [
      { label: 'Host', value: data.host },
      { label: 'Reason', value: data.reason },
      { label: 'Failed fetches', value: data.failures.toLocaleString('en-GB') },
      {
        label: 'Last good fetch',
        value: data.fetched_at === null ? 'never' : timeWords(data.fetched_at),
      },
      { label: 'Keys in force', value: data.key_count.toLocaleString('en-GB') },
    ],
    steps: ['Check `jwks_url` of the issuer, and that its server answers requests of this service.'],
  }),
});

/** The kinds of this group by name. */
export const REGISTRY_NOTICES = {
  'consumer_quota.near': near,
  'consumer_quota.reached': reached,
  'token_issuer.failed': failed,
} as const;
