/** The command line that starts this program, for commands that are printed to be pasted. */
import { accessSync, constants, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { shellWord } from '../../workbench/simulation/render-text.ts';

/** `edgeplan` if PATH contains it, `npx edgeplan` under npx, else the file itself with Node. */
export function commandName(): string {
  const main = process.argv[1] ?? 'edgeplan';
  if (process.env['npm_command'] === 'exec') return 'npx edgeplan';
  const found = (process.env['PATH'] ?? '')
    .split(delimiter)
    .some((folder) => isThisProgram(join(folder, 'edgeplan'), main));
  return found ? 'edgeplan' : `${shellWord(process.execPath)} ${shellWord(realpathSync(main))}`;
}

/** Whether an executable file is this program. */
function isThisProgram(file: string, main: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return realpathSync(file) === realpathSync(main);
  } catch {
    return false;
  }
}
