/**
 * The examples at the end of the help of every command. Each command declares its own; a command line there is one that
 * works: `test/unit/cli/program.test.ts` parses each with the command's own options.
 */
import type { Command } from 'commander';

/** Examples by the path of a command, its own name first; groups of commands have those of their commands. */
export type Examples = Readonly<Record<string, readonly string[]>>;

/** Adds the examples of a command and of those below it to the end of their helps. */
export function withExamples(command: Command, examples: Examples): Command {
  for (const [path, lines] of Object.entries(examples)) {
    const text = `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`;
    commandAt(command, path).addHelpText('after', text);
  }
  return command;
}

/** The command of a path. @throws Error without such a command, which is a mistake of the examples */
function commandAt(root: Command, path: string): Command {
  const [own, ...below] = path.split(' ');
  let command = root.name() === own ? root : undefined;
  for (const name of below) command = command?.commands.find((child) => child.name() === name);
  if (command === undefined) throw new Error(`examples of a command that does not exist: \`${path}\``);
  return command;
}
