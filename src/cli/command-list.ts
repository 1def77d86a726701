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

/**
 * The lines in a file that the build has written.
 *
 * @param names the commands of the program, without `completion`
 * @returns `null`: the build was not run or was broken off, or it is older than a command
 */
export function readCommandList(names: readonly string[], file = FILE): readonly ListedCommand[] | null {
  if (!existsSync(file)) return null;
  const list = parsed(readFileSync(file, 'utf8'));
  const listed = list.map(({ name }) => name).filter((name) => name !== 'completion');
  return [...listed].sort().join() === [...names].sort().join() ? list : null;
}

/** The list in the text; empty if a build was broken off while it wrote it. */
function parsed(text: string): readonly ListedCommand[] {
  try {
    return JSON.parse(text) as readonly ListedCommand[];
  } catch {
    return [];
  }
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
