/** Letters about the running of the edge: publications that fail, and nodes that are lost. */
import { z } from 'zod';
import { IMPORTANT, kind, WRITTEN } from '../kind.ts';
import { durationWords, timeWords } from '../wording.ts';

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
