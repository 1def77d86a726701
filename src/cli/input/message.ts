/** Reads the text of a ticket's message from the command line or stdin. */
import { Option } from 'commander';
import { judgeMessage } from '../../control/billing/ticket-shapes.ts';
import { inputFault, usageFault } from '../exit.ts';
import { readBytes } from './read-file.ts';

/** `--message`. */
export function messageOption(): Option {
  return new Option('-m, --message <text>', 'the text; - reads stdin').makeOptionMandatory();
}

/** The text of `--message`, without blank lines around it. @throws CommandFault when it is blank, too long or not UTF-8 */
export async function readMessage(given: string): Promise<string> {
  const text = given === '-' ? decode(await readBytes('-')) : given;
  const message = withoutBlankLines(text);
  const problem = judgeMessage(message);
  if (problem !== null) throw usageFault(`the message ${problem}`);
  return message;
}

/** The text from the first line with words, whose indent stays, to the last word. */
function withoutBlankLines(text: string): string {
  const start = text.length - text.trimStart().length;
  return text.slice(text.lastIndexOf('\n', start - 1) + 1).trimEnd();
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw inputFault('stdin is not UTF-8 text', { cause });
  }
}
