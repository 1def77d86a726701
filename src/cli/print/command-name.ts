/** How this command is called where it was started from, for commands that are printed to be pasted. */
import { accessSync, constants, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { shellWord } from '../../simulator/shell-word.ts';

/** `edgeplan` where the shell finds it, `npx edgeplan` where npx did, else the file itself under Node. */
export function commandName(): string {
  const main = process.argv[1] ?? 'edgeplan';
  if (process.env['npm_command'] === 'exec') return 'npx edgeplan';
  const found = (process.env['PATH'] ?? '')
    .split(delimiter)
    .some((folder) => isHere(join(folder, 'edgeplan'), main));
  return found ? 'edgeplan' : `${shellWord(process.execPath)} ${shellWord(realpathSync(main))}`;
}

function isHere(file: string, main: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return realpathSync(file) === realpathSync(main);
  } catch {
    return false;
  }
}
