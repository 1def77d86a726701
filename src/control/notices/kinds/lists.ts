/** Letters about named lists. */
import { z } from 'zod';
import { IMPORTANT, kind } from '../kind.ts';

const refused = kind({
  severity: 'warning',
  audience: 'domain',
  usual: IMPORTANT,
  meaning: 'new content of the feed of a list was refused, or the feed cannot be fetched',
  data: z.object({
    list: z.string().describe('the name of the list'),
    host: z.string().describe('the host of the URL of the feed'),
    code: z
      .enum(['unreachable', 'too_large', 'unparsable', 'over_limits', 'shrunk'])
      .describe('why: `shrunk`: fewer than half of the entries would be left'),
    reason: z.string().describe('the same as a sentence'),
    entry_count: z.int().describe('entries that stay in force'),
  }),
  letter: (data, { domain }) => ({
    headline: `The list ${data.list}${domain === '' ? '' : ` of ${domain}`} is not read from its feed`,
    paragraphs: [
      data.code === 'unreachable'
        ? 'The feed cannot be fetched. The last good content of the list stays in force.'
        : 'The new content of the feed was refused. The last good content of the list stays in force.',
    ],
    facts: [
      { label: 'Feed', value: data.host },
      { label: 'Reason', value: data.reason },
      { label: 'Entries in force', value: data.entry_count.toLocaleString('en-GB') },
    ],
    steps: [
      'Look at the content of the URL, or ask its publisher.',
      ...(data.code === 'shrunk'
        ? ['If the content is right, request it with `POST …/feed/refresh?accept_shrink=true`.']
        : []),
    ],
  }),
});

/** The kinds of this group by name. */
export const LIST_NOTICES = { 'list.refused': refused } as const;
