/** Letters about outages of the origins of a domain (semantics §11); by SMS too, where the plan of the domain has it. */
import { z } from 'zod';
import { kind, URGENT } from '../kind.ts';
import { durationWords, timeWords } from '../wording.ts';

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
