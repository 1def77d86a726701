/** Letters about support tickets: opened (to operators), answered and closed (to the account). */
import { z } from 'zod';
import { kind, type Letter, WRITTEN } from '../kind.ts';
import { timeWords } from '../wording.ts';

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

const opened = kind({
  severity: 'info',
  audience: 'operators',
  usual: WRITTEN,
  meaning: 'a customer has opened a ticket, or written to one',
  data: z.object({ ...ticket, account: z.string().describe('the name of the account') }),
  letter: (data, { at }) => ({
    headline: `Ticket ${data.ticket_id} waits for an answer`,
    paragraphs: [`${data.account} has written to support.`],
    facts: [...ticketFacts(data), { label: 'Written', value: timeWords(at) }],
    steps: [`Read and answer it with edgeplan ticket show ${data.ticket_id}.`],
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
    paragraphs: data.answer.split(/\n{2,}/).filter((paragraph) => paragraph.trim() !== ''),
    facts: [...ticketFacts(data), { label: 'Answered', value: timeWords(at) }],
    steps: [
      ...(data.complete ? [] : ['The answer is longer: read the rest in the ticket.']),
      'Write to the ticket if something is left; a reply to this e-mail is not read.',
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
    steps: [],
  }),
});

/** The kinds of this group by name. */
export const TICKET_KINDS = {
  'ticket.opened': opened,
  'ticket.answered': answered,
  'ticket.closed': closed,
} as const;
