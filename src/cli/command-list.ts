/**
 * The lines of `edgeplan --help`, one for each command. The build writes them beside this module, so that the help of the
 * program loads no command; a run from the sources has no such file, and loads all.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { Command } from 'commander';

/** A command as the help of the program lists it. */
export interface ListedCommand {
  readonly name: string;
  /** The name with its options and operands: `diff [options] <before> <after>`. */
  readonly term: string;
  readonly summary: string;
  readonly heading: string;
}

const FILE = new URL('./command-list.json', import.meta.url);

/** A step of the build: writes the lines of a program that has all commands. */
export function writeCommandList(root: Command): void {
  writeFileSync(FILE, JSON.stringify(listedCommands(root)));
}

/** The lines of a program that has all commands, in the order of its help. */
export function listedCommands(root: Command): readonly ListedCommand[] {
  const help = root.createHelp();
  const visible = help.visibleCommands(root).map((command) => ({
    name: command.name(),
    term: help.subcommandTerm(command),
    summary: help.subcommandDescription(command),
    heading: command.helpGroup(),
  }));
  return visible.filter(({ name }) => name !== 'help');
}

/** The lines that the build has written; `null`: there are none. */
export function readCommandList(): readonly ListedCommand[] | null {
  return existsSync(FILE) ? (JSON.parse(readFileSync(FILE, 'utf8')) as readonly ListedCommand[]) : null;
}

/** Adds commands that have a name and a line in the help, and do nothing. */
export function addListed(root: Command, list: readonly ListedCommand[]): void {
  const terms = new Map(list.map(({ name, term }) => [name, term]));
  const { subcommandTerm } = root.createHelp();
  for (const { name, summary, heading } of list) {
    root.addCommand(new Command(name).summary(summary).helpGroup(heading));
  }
  root.configureHelp({
    ...root.configureHelp(),
    subcommandTerm(command) {
      return terms.get(command.name()) ?? subcommandTerm.call(this, command);
    },
  });
}
