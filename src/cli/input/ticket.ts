/** Parses the arguments and options that the commands of tickets share. */
import { Option } from 'commander';
import { TICKET_STATUSES } from '../../control/store/billing-rows.ts';
import { idParser } from './id.ts';

/** Parses the id of a ticket. */
export const readTicketId = idParser('the list of tickets has it');

/** `--status`. */
export function statusOption(): Option {
  return new Option('--status <status>', 'only these').choices(TICKET_STATUSES);
}
