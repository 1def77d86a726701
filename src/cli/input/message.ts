/** Reads the text of a ticket's message from the command line or stdin. */
import { Option } from 'commander';
import { MAX_TICKET_MESSAGE } from '../../billing/limits.ts';
import { inputFault, usageFault } from '../exit.ts';
import { readBytes } from './read-file.ts';

/** `--message`. */
export function messageOption(): Option {
  return new Option('-m, --message <text>', 'the text; - reads stdin').makeOptionMandatory();
}

/** The text of `--message`. @throws CommandFault when it is empty, too long or not UTF-8 */
export async function readMessage(given: string): Promise<string> {
  const text = given === '-' ? decode(await readBytes('-')) : given;
  const message = text.trim();
  if (message === '' || [...message].length > MAX_TICKET_MESSAGE)
    throw usageFault(`a message has 1 to ${MAX_TICKET_MESSAGE} characters`);
  if (message.includes('\0')) throw usageFault('a message must not hold a NUL character');
  return message;
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw inputFault('stdin is not UTF-8 text', { cause });
  }
}
