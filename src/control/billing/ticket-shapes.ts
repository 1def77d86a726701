/** Support tickets as the API takes and answers them: forms, schemas, and rows in their form. */
import { z } from 'zod';
import { timeText } from '../../base/text/time.ts';
import { checked, filledText, text } from '../../rules/model/fields.ts';
import { form } from '../../rules/model/form.ts';
import { isOneLine } from '../accounts/keys.ts';
import {
  TICKET_AUTHORS,
  TICKET_STATUSES,
  type TicketMessageRow,
  type TicketRow,
} from '../store/billing-rows.ts';
import { MAX_SUBJECT, MAX_TICKET_MESSAGE } from './limits.ts';

/** Text that has more than blanks. */
function writtenText(most: number): z.ZodString {
  return checked(filledText(most), (value) =>
    value === '' || value.trim() !== '' ? null : { code: 'empty_value', message: 'must not be blank' },
  );
}

/** The text of a message: of any lines, in which control characters (log excerpts with colours) are escaped where it is shown. */
const messageText = writtenText(MAX_TICKET_MESSAGE)
  .describe('the text of the message')
  .meta({ examples: ['The certificate has expired, and no new one was issued.'] });

/** What is wrong with the text of a message; `null`: nothing. */
export function judgeMessage(body: string): string | null {
  return messageText.safeParse(body).error?.issues[0]?.message ?? null;
}

/** A new ticket. */
export interface OpenFields {
  readonly subject: string;
  readonly message: string;
  /** As it was written. */
  readonly domain: string | null;
}

/** The form of a new ticket. */
export const openForm = form({
  fields: {
    subject: checked(writtenText(MAX_SUBJECT), (value) =>
      isOneLine(value) ? null : { code: 'invalid_text', message: 'must be one line of printable text' },
    )
      .describe('what it is about, one line')
      .meta({ examples: ['Certificate of shop.example'] }),
    message: messageText,
    domain: text()
      .nullable()
      .default(null)
      .describe('a domain that the account sees; `null`: the ticket is about none')
      .meta({ examples: ['shop.example'] }),
  },
  ignored: [],
  finish: (values): OpenFields => values,
});

/** The form of a message. */
export const messageForm = form({
  fields: { message: messageText },
  ignored: [],
  finish: (values): { readonly message: string } => values,
});

/** The fields of a ticket. */
const TICKET_FIELDS = {
  id: z
    .int()
    .describe('the id of the ticket')
    .meta({ examples: [12] }),
  subject: z
    .string()
    .describe('what it is about')
    .meta({ examples: ['Certificate of shop.example'] }),
  domain: z.string().nullable().describe('the domain that it is about; `null`: none'),
  status: z
    .enum(TICKET_STATUSES)
    .describe(
      '`open` waits for support, `answered` for the account; a message opens a `closed` ticket again',
    ),
  created_at: z.iso.datetime().describe('when it was opened'),
  updated_at: z.iso.datetime().describe('when it was last written to or closed'),
  closed_at: z.iso.datetime().nullable().describe('when it was closed; `null`: it is not'),
} as const;

/** A ticket in a list. */
export const TICKET = z.object(TICKET_FIELDS).meta({ id: 'Ticket' });

/** A ticket with its messages. */
export const WHOLE_TICKET = z
  .object({
    ...TICKET_FIELDS,
    messages: z
      .array(
        z.object({
          id: z.int().describe('the id of the message'),
          author: z.enum(TICKET_AUTHORS).describe('who wrote it'),
          body: z
            .string()
            .describe('the text')
            .meta({ examples: ['The certificate has expired, and no new one was issued.'] }),
          created_at: z.iso.datetime().describe('when it was written'),
        }),
      )
      .describe('the messages, the oldest first'),
  })
  .meta({ id: 'TicketWithMessages' });

/** A ticket in the form of the API. */
export function showTicket(row: TicketRow): z.output<typeof TICKET> {
  return {
    id: row.id,
    subject: row.subject,
    domain: row.domain,
    status: row.status,
    created_at: timeText(row.created_at),
    updated_at: timeText(row.updated_at),
    closed_at: row.closed_at === null ? null : timeText(row.closed_at),
  };
}

/** A message in the form of the API. */
export function showMessage({
  id,
  author,
  body,
  created_at,
}: TicketMessageRow): z.output<typeof WHOLE_TICKET>['messages'][number] {
  return { id, author, body, created_at: timeText(created_at) };
}

/** A ticket with its messages in the form of the API. */
export function showWholeTicket(
  row: TicketRow,
  messages: readonly TicketMessageRow[],
): z.output<typeof WHOLE_TICKET> {
  return { ...showTicket(row), messages: messages.map(showMessage) };
}
