/** Letters about what serves a domain: its certificates, its publications, and the nodes of the edge. */
import { z } from 'zod';
import { IMPORTANT, kind, QUIET, WRITTEN } from '../kind.ts';
import { countWords, durationWords, listWords, timeWords } from '../wording.ts';

const publicationFailed = kind({
  severity: 'warning',
  audience: 'domain',
  usual: IMPORTANT,
  meaning: 'changes of the domain cannot be published',
  data: z.object({
    since: z.iso.datetime().describe('when the oldest change that waits was made'),
    attempts: z.int().describe('failed attempts in a row'),
    code: z.string().describe('the code of the fault, as `edgeplan codes` lists it'),
  }),
  letter: (data, { domain }) => ({
    headline: `Changes of ${domain} are not published`,
    paragraphs: [
      `The last changes of ${domain} are stored, but could not be published. Visitors are served by the rules from before. The publication is attempted again by itself.`,
    ],
    facts: [
      { label: 'Since', value: timeWords(data.since) },
      { label: 'Attempts', value: String(data.attempts) },
      { label: 'Code', value: data.code },
    ],
    steps: ['If it lasts, undo the last change, or send the code to the operator.'],
  }),
});

const nodeLost = kind({
  severity: 'critical',
  audience: 'operators',
  usual: WRITTEN,
  meaning: 'a node has not asked for its feed for minutes (operators)',
  data: z.object({
    node: z.string().describe('the name of the node'),
    node_groups: z.array(z.string()).describe('the groups that it serves'),
    last_seen_at: z.iso.datetime().describe('its last request'),
  }),
  letter: (data, { at }) => ({
    headline: `The node ${data.node} is lost`,
    paragraphs: [
      `${data.node} has not asked for its feed for ${durationWords(at - Date.parse(data.last_seen_at))}. It may still serve visitors by its last plans, but gets no changes.`,
    ],
    facts: [
      { label: 'Last seen', value: timeWords(data.last_seen_at) },
      { label: 'Groups', value: data.node_groups.join(', ') },
    ],
    steps: [
      'Check that the machine runs and reaches the control plane.',
      'On the node, find out what is wrong with `edgeplan doctor --control <address> --token-file <file>`.',
      `If it is gone for good, revoke its token with \`edgeplan node-token revoke ${data.node}\`.`,
    ],
  }),
});

/** The kinds of this group by name. */
export const OPERATION_KINDS = { 'publication.failed': publicationFailed, 'node.lost': nodeLost } as const;

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
