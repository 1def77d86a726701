/** Parses the arguments and options that the commands of tickets share. */
import { InvalidArgumentError, Option } from 'commander';
import { MAX_PAGE } from '../../operation/limits.ts';
import { TICKET_STATUSES } from '../../store/billing-rows.ts';
import { idParser } from './id.ts';

/** The default of `--limit`: a few screens. */
const USUAL_LIMIT = 100;

/** Parses the id of a ticket. */
export const readTicketId = idParser('the list of tickets has it');

/** Parses `--limit`. */
function readLimit(text: string): number {
  const limit = /^[1-9]\d{0,3}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= MAX_PAGE) return limit;
  throw new InvalidArgumentError(`write a whole number from 1 to ${MAX_PAGE}.`);
}

/** `--status`. */
export function statusOption(): Option {
  return new Option('--status <status>', 'only these').choices(TICKET_STATUSES);
}

/** `--limit`. */
export function limitOption(): Option {
  return new Option('--limit <count>', 'tickets, at most').argParser(readLimit).default(USUAL_LIMIT);
}
