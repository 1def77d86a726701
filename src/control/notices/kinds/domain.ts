/**
 * Letters about the state of a domain (activated, moved, disabled, banned, suspended, resumed, shared) and about outages
 * of its origins (semantics §11).
 */
import { z } from 'zod';
import { MEMBER_ROLES } from '../../store/tables/domains.ts';
import { IMPORTANT, kind, type Letter, URGENT, WRITTEN } from '../kind.ts';
import { dayWords, durationWords, timeWords } from '../wording.ts';

/** The cause of a change, as an operator wrote it; `null`: none was given. */
const reason = z.string().nullable().describe('why, as the author of the change wrote it; `null`: not given');

/** The fact that shows a reason. */
function reasonFact(text: string | null): Letter['facts'] {
  return text === null ? [] : [{ label: 'Reason', value: text }];
}

const activated = kind({
  severity: 'info',
  audience: 'domain',
  usual: WRITTEN,
  meaning: 'the domain is served by the edge',
  data: z.object({ previous_status: z.string().describe('the status before'), reason }),
  letter: (data, { domain, at }) => ({
    headline: `${domain} is active`,
    paragraphs: [`Your right to ${domain} is proved. The edge serves its visitors from now on.`],
    facts: [{ label: 'Since', value: timeWords(at) }, ...reasonFact(data.reason)],
    steps: [],
  }),
});

const moved = kind({
  severity: 'warning',
  audience: 'domain',
  usual: IMPORTANT,
  meaning: 'the delegation of the domain is gone; it is served for a grace period',
  data: z.object({
    dns_mode: z.enum(['managed', 'external']).describe('where the zone of the domain is hosted now'),
    disabled_at: z.iso.datetime().describe('when the domain is disabled unless it is proved again'),
  }),
  letter: (data, { domain, at }) => ({
    headline: `${domain} will be disabled on ${dayWords(data.disabled_at)}`,
    paragraphs: [
      data.dns_mode === 'managed'
        ? `The name servers of ${domain} are no longer ours. The edge still serves its visitors until the grace period ends.`
        : `The DNS of ${domain} is hosted elsewhere from now on, and its TXT record was not checked yet. The edge still serves its visitors, until the grace period ends.`,
    ],
    facts: [
      { label: 'Since', value: timeWords(at) },
      { label: 'Served until', value: timeWords(data.disabled_at) },
    ],
    steps:
      data.dns_mode === 'managed'
        ? [
            `Set the name servers of ${domain} back at its registrar. The next check finds them.`,
            'If another provider is to host the DNS, set the DNS mode of the domain to external, and publish its TXT record.',
          ]
        : ['Publish the TXT record that the domain shows under verification, then verify the domain.'],
  }),
});

const disabled = kind({
  severity: 'critical',
  audience: 'domain',
  usual: IMPORTANT,
  meaning: 'the edge refuses the visitors of the domain until it is enabled',
  data: z.object({
    cause: z.enum(['grace_period', 'request']).describe('the grace period ended, or it was requested'),
    reason,
  }),
  letter: (data, { domain, at }) => ({
    headline: `${domain} is disabled`,
    paragraphs: [
      data.cause === 'grace_period'
        ? `The name servers of ${domain} were not set back within the grace period. The edge refuses its visitors now.`
        : `${domain} was disabled on request. The edge refuses its visitors now. Records and rules are stored as they were.`,
    ],
    facts: [{ label: 'Since', value: timeWords(at) }, ...reasonFact(data.reason)],
    steps: [
      ...(data.cause === 'grace_period' ? [`Set the name servers of ${domain} at its registrar.`] : []),
      'Enable the domain. It is served as soon as its proof holds.',
    ],
  }),
});

const banned = kind({
  severity: 'critical',
  audience: 'domain',
  usual: IMPORTANT,
  meaning: 'the operator refuses to serve the domain',
  data: z.object({ reason }),
  letter: (data, { domain, at }) => ({
    headline: `${domain} is banned`,
    paragraphs: [
      `The operator has banned ${domain}. The edge refuses its visitors, and only the operator can undo this.`,
    ],
    facts: [{ label: 'Since', value: timeWords(at) }, ...reasonFact(data.reason)],
    steps: ['If you think that this is a mistake, write to the operator.'],
  }),
});

const suspended = kind({
  severity: 'critical',
  audience: 'domain',
  usual: IMPORTANT,
  meaning: 'the edge refuses the visitors of the domain until its account or quota is settled',
  data: z.object({ reason }),
  letter: (data, { domain, at }) => ({
    headline: `${domain} is suspended`,
    paragraphs: [
      `${domain} is paused. The edge refuses its visitors until the reason is gone. Records and rules are stored as they were.`,
    ],
    facts: [{ label: 'Since', value: timeWords(at) }, ...reasonFact(data.reason)],
    steps: ['Settle the account with the operator, or buy more traffic. The domain is then served again.'],
  }),
});

const resumed = kind({
  severity: 'info',
  audience: 'domain',
  usual: WRITTEN,
  meaning: 'the suspension of the domain has ended',
  data: z.object({ reason }),
  letter: (data, { domain, at }) => ({
    headline: `${domain} is no longer suspended`,
    paragraphs: [`The suspension of ${domain} has ended.`],
    facts: [{ label: 'Since', value: timeWords(at) }, ...reasonFact(data.reason)],
    steps: [],
  }),
});

const shared = kind({
  severity: 'info',
  audience: 'account',
  usual: WRITTEN,
  meaning: 'an invitation to a domain, or an account that accepted one',
  data: z.object({
    event: z.enum(['invited', 'joined']).describe('the account was invited, or another one accepted'),
    role: z.enum(MEMBER_ROLES).describe('the role on the domain'),
    account: z
      .string()
      .nullable()
      .describe('the name of the account that accepted; `null` for an invitation'),
    invitation_id: z.int().nullable().describe('the invitation to answer; `null` once it was accepted'),
    expires_at: z.iso
      .datetime()
      .nullable()
      .describe('when the invitation lapses; `null` once it was accepted'),
  }),
  letter: ({ event, role, account, invitation_id, expires_at }, { domain, at }) =>
    event === 'joined'
      ? {
          headline: `${account} is now ${role} of ${domain}`,
          paragraphs: [`The account ${account} has accepted its invitation to ${domain}.`],
          facts: [
            { label: 'Role', value: role },
            { label: 'Since', value: timeWords(at) },
          ],
          steps: [`If you do not expect this, remove the member from ${domain}.`],
        }
      : {
          headline: `You are invited to work on ${domain}`,
          paragraphs: [`You are invited to become ${role} of the domain ${domain}.`],
          facts: [
            { label: 'Role', value: role },
            ...(expires_at === null ? [] : [{ label: 'Valid until', value: timeWords(expires_at) }]),
          ],
          steps: [
            `Accept it with \`POST /invitations/${invitation_id}/accept\` of the API, or decline it with \`POST /invitations/${invitation_id}/decline\`.`,
            'If you do not know the domain, do nothing; the invitation lapses.',
          ],
        },
});

/** The kinds of this group by name. */
export const DOMAIN_KINDS = {
  'domain.activated': activated,
  'domain.moved': moved,
  'domain.disabled': disabled,
  'domain.banned': banned,
  'domain.suspended': suspended,
  'domain.resumed': resumed,
  'domain.shared': shared,
} as const;

// Letters about outages of the origins of a domain (semantics §11); by SMS too, where the plan of the domain has it.

const opened = kind({
  severity: 'critical',
  audience: 'owner',
  usual: URGENT,
  meaning: 'the origins of the domain have failed for its uptime window',
  data: z.object({
    incident_id: z.int().describe('the id of the incident'),
    since: z.iso.datetime().describe('the first minute that was down'),
    window_min: z.int().describe('the minutes that were considered'),
    requests: z.int().describe('requests to the origins in them'),
    errors: z.int().describe('those of them that failed'),
  }),
  letter: ({ since, window_min, requests, errors }, { domain }) => ({
    headline: `Outage: the origin of ${domain} fails`,
    paragraphs: [
      `In the last ${window_min} minutes ${errors.toLocaleString('en-GB')} of ${requests.toLocaleString('en-GB')} requests to the origin of ${domain} failed. Visitors get errors, or pages from the cache.`,
    ],
    facts: [{ label: 'Since', value: timeWords(since) }],
    steps: [
      'Check that the origin runs and answers requests from the edge.',
      'Read its log for the time above. You get another message once it answers again.',
    ],
  }),
});

const resolved = kind({
  severity: 'info',
  audience: 'owner',
  usual: URGENT,
  meaning: 'an outage of the origins has ended',
  data: z.object({
    incident_id: z.int().describe('the id of the incident'),
    since: z.iso.datetime().describe('when it began'),
    until: z.iso.datetime().describe('when it ended'),
    cause: z.enum(['recovered', 'no_traffic']).describe('the origins answer, or nobody asked for a day'),
  }),
  letter: ({ since, until, cause }, { domain }) => ({
    headline:
      cause === 'recovered' ? `${domain} answers again` : `The outage of ${domain} is closed: no traffic`,
    paragraphs: [
      cause === 'recovered'
        ? `The origin of ${domain} answers requests again.`
        : `No request came for ${domain} within 24 hours, so whether its origin answers is unknown.`,
    ],
    facts: [
      { label: 'From', value: timeWords(since) },
      { label: 'To', value: timeWords(until) },
      { label: 'Lasted', value: durationWords(Date.parse(until) - Date.parse(since)) },
    ],
    steps: cause === 'recovered' ? [] : ['Request a page of the domain yourself to see whether it answers.'],
  }),
});

/** The kinds of this group by name. */
export const OUTAGE_KINDS = { 'outage.opened': opened, 'outage.resolved': resolved } as const;
