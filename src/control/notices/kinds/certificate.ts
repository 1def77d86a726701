/** Letters about the certificates of a domain: issued, about to expire, refused by the certificate authority. */
import { z } from 'zod';
import { IMPORTANT, kind, QUIET } from '../kind.ts';
import { countWords, listWords, timeWords } from '../wording.ts';

const names = z.array(z.string()).min(1).describe('the names of the certificate');

const issued = kind({
  severity: 'info',
  audience: 'domain',
  usual: QUIET,
  meaning: 'a certificate was issued or uploaded',
  data: z.object({
    names,
    issuer: z.string().describe('the certificate authority'),
    not_after: z.iso.datetime().describe('when it expires'),
  }),
  letter: (data, { domain, at }) => ({
    headline: `A new certificate for ${listWords(data.names)}`,
    paragraphs: [`Nodes serve ${domain} with a new certificate within seconds.`],
    facts: [
      { label: 'Names', value: listWords(data.names, 10) },
      { label: 'Issuer', value: data.issuer },
      { label: 'Issued', value: timeWords(at) },
      { label: 'Expires', value: timeWords(data.not_after) },
    ],
    steps: [],
  }),
});

const expiring = kind({
  severity: 'warning',
  audience: 'domain',
  usual: IMPORTANT,
  meaning: 'a certificate expires soon, and no other covers its names',
  data: z.object({
    names,
    source: z.enum(['acme', 'custom']).describe('issued for the domain by the service, or uploaded'),
    not_after: z.iso.datetime().describe('when it expires'),
    days: z.int().min(0).describe('whole days until then'),
  }),
  letter: (data, { domain }) => ({
    headline: `The certificate of ${listWords(data.names)} expires in ${countWords(data.days, 'day')}`,
    paragraphs: ['After that, browsers refuse to open the site. No other certificate covers these names.'],
    facts: [
      { label: 'Names', value: listWords(data.names, 10) },
      { label: 'Expires', value: timeWords(data.not_after) },
    ],
    steps:
      data.source === 'custom'
        ? [`Upload a new certificate for ${domain}.`]
        : [`Look at the certificates of ${domain}: the error of the last attempt is there.`],
  }),
});

const expired = kind({
  severity: 'critical',
  audience: 'domain',
  usual: IMPORTANT,
  meaning: 'a certificate has expired, and no other covers its names',
  data: z.object({
    names,
    source: z.enum(['acme', 'custom']).describe('issued for the domain by the service, or uploaded'),
    not_after: z.iso.datetime().describe('when it expired'),
  }),
  letter: (data, { domain }) => ({
    headline: `The certificate of ${listWords(data.names)} has expired`,
    paragraphs: ['Browsers refuse to open the site. No other certificate covers these names.'],
    facts: [
      { label: 'Names', value: listWords(data.names, 10) },
      { label: 'Expired', value: timeWords(data.not_after) },
    ],
    steps: [`Upload a new certificate for ${domain}.`],
  }),
});

const failed = kind({
  severity: 'warning',
  audience: 'domain',
  usual: IMPORTANT,
  meaning: 'the certificate authority refused a certificate',
  data: z.object({
    names,
    error: z.string().describe('the reason that the certificate authority gave'),
    next_try_at: z.iso.datetime().nullable().describe('the next attempt; `null`: none'),
  }),
  letter: (data, { domain, at }) => ({
    headline: `No certificate for ${listWords(data.names)}`,
    paragraphs: [`The certificate authority has refused a certificate for names of ${domain}.`],
    facts: [
      { label: 'Names', value: listWords(data.names, 10) },
      { label: 'Error', value: data.error },
      { label: 'Tried', value: timeWords(at) },
      ...(data.next_try_at === null ? [] : [{ label: 'Next attempt', value: timeWords(data.next_try_at) }]),
    ],
    steps: [
      'Check that the names lead to the edge in the DNS, and that no CAA record excludes the authority.',
    ],
  }),
});

/** The kinds of this group by name. */
export const CERTIFICATE_KINDS = {
  'certificate.issued': issued,
  'certificate.expiring': expiring,
  'certificate.expired': expired,
  'certificate.failed': failed,
} as const;
