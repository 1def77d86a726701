/**
 * Letters about what an account has: quotas of its domains, its API keys, the test of its contacts, and its support
 * tickets.
 */
import { z } from 'zod';
import { IMPORTANT, kind, type Letter, WRITTEN } from '../kind.ts';
import { readWritten, timeWords } from '../wording.ts';

const quota = z.object({
  quota: z
    .string()
    .describe(
      'the name of the allowance: `traffic (GB)`, or `gateway requests (30 days)` of the last 30 days',
    ),
  used: z.number().min(0).describe('used in this period'),
  limit: z.number().min(1).describe('the allowance'),
  period_end: z.iso
    .datetime()
    .nullable()
    .describe('when the next period begins; `null`: the period is the last 30 days'),
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
    period_end === null
      ? { label: 'Period', value: 'the last 30 days' }
      : { label: 'Renewed', value: timeWords(period_end) },
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
    steps:
      data.period_end === null
        ? ['Choose a larger plan. Until then no gateway or consumer can be added, and no gateway turned on.']
        : ['Choose a larger plan, or wait for the next period.'],
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

// Letters about support tickets: opened (to operators), answered and closed (to the account).

const ticket = {
  ticket_id: z.int().describe('the id of the ticket'),
  subject: z.string().describe('the subject of the ticket'),
  about: z.string().nullable().describe('the name of the domain that it is about; `null`: none'),
} as const;

/** The data that all kinds of this group have. */
const common = z.object(ticket);

/** The facts of a ticket. */
function ticketFacts({ ticket_id, subject, about }: z.output<typeof common>): Letter['facts'] {
  const domain = about === null ? [] : [{ label: 'Domain', value: about }];
  return [{ label: 'Ticket', value: `${ticket_id}, ${subject}` }, ...domain];
}

/** How the account writes to the ticket. */
function howToWrite({ ticket_id: id }: z.output<typeof common>): string {
  const ways = `\`edgeplan support reply ${id}\`, or \`POST /tickets/${id}/messages\` of the API`;
  return `If something is left, write with ${ways}; a reply to this e-mail is not read.`;
}

const opened = kind({
  severity: 'info',
  audience: 'operators',
  usual: WRITTEN,
  meaning: 'a customer has opened a ticket, or written to one (operators)',
  data: z.object({ ...ticket, account: z.string().describe('the name of the account') }),
  letter: (data, { at }) => ({
    headline: `Ticket ${data.ticket_id} waits for an answer`,
    paragraphs: [`The account ${data.account} has written to support.`],
    facts: [...ticketFacts(data), { label: 'Written', value: timeWords(at) }],
    steps: [
      `Read it with \`edgeplan ticket show ${data.ticket_id}\`.`,
      `Answer with \`edgeplan ticket answer ${data.ticket_id}\`; a reply to this e-mail is not read.`,
    ],
  }),
});

const answered = kind({
  severity: 'info',
  audience: 'account',
  usual: WRITTEN,
  meaning: 'support has answered a ticket of the account',
  data: z.object({
    ...ticket,
    answer: z.string().describe('the beginning of the answer'),
    complete: z.boolean().describe('whether `answer` is the whole answer'),
  }),
  letter: (data, { at }) => ({
    headline: `Support has answered: ${data.subject}`,
    paragraphs: [],
    written: readWritten(data.answer),
    facts: [...ticketFacts(data), { label: 'Answered', value: timeWords(at) }],
    steps: [
      ...(data.complete
        ? []
        : [`The answer is longer: read the rest with \`edgeplan support show ${data.ticket_id}\`.`]),
      howToWrite(data),
    ],
  }),
});

const closed = kind({
  severity: 'info',
  audience: 'account',
  usual: WRITTEN,
  meaning: 'support has closed a ticket of the account',
  data: common,
  letter: (data, { at }) => ({
    headline: `Support has closed: ${data.subject}`,
    paragraphs: ['The ticket is closed. A new message opens it again.'],
    facts: [...ticketFacts(data), { label: 'Closed', value: timeWords(at) }],
    steps: [howToWrite(data)],
  }),
});

/** The kinds of this group by name. */
export const TICKET_KINDS = {
  'ticket.opened': opened,
  'ticket.answered': answered,
  'ticket.closed': closed,
} as const;
