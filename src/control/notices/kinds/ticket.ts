/** Letters about support tickets: opened (to operators), answered and closed (to the account). */
import { z } from 'zod';
import { kind, type Letter, WRITTEN } from '../kind.ts';
import { timeWords } from '../wording.ts';
import { readWritten } from '../written.ts';

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
