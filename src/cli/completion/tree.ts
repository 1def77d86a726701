/** The command line as plain data, read off commander's commands: what may stand where. */
import type { Argument, Command, Option } from 'commander';

/** What a value can be: one of some words, a path, or anything at all. */
export type CompletionValue =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'file' }
  | { readonly kind: 'folder' }
  | { readonly kind: 'any' };

export interface OptionPlace {
  /** `--file` and, where there is one, `-f`. */
  readonly names: readonly string[];
  readonly description: string;
  /** `null`: it takes none. */
  readonly value: CompletionValue | null;
}

/** One command with what may follow it. */
export interface CompletionPlace {
  /** The commands that lead here, with spaces: empty for the program, `key create`. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly OptionPlace[];
  /** Its first operand, which stands for all of them; `null` where there is none. */
  readonly operand: CompletionValue | null;
}

/** Every command of a program, itself first. */
export function placesOf(program: Command, path = ''): readonly CompletionPlace[] {
  const help = program.createHelp();
  // Without the `help` command that commander adds: every command has --help.
  const commands = help.visibleCommands(program).filter((command) => program.commands.includes(command));
  const [operand] = program.registeredArguments;
  const own: CompletionPlace = {
    path,
    commands: commands.map((command) => ({
      name: command.name(),
      description: firstSentence(command.description()),
    })),
    options: help.visibleOptions(program).map(optionPlace),
    operand: operand === undefined ? null : kindOf(operand, operand.name()),
  };
  return [
    own,
    ...commands.flatMap((command) =>
      placesOf(command, path === '' ? command.name() : `${path} ${command.name()}`),
    ),
  ];
}

function optionPlace(option: Option): OptionPlace {
  const named = /[<[]([^>\]]*)/.exec(option.flags)?.[1] ?? '';
  return {
    names: [option.long, option.short].filter((name) => name !== undefined && name !== null),
    description: firstSentence(option.description),
    value: option.required ? kindOf(option, named) : null,
  };
}

/** The placeholder tells what kind of value it is. */
function kindOf({ argChoices }: Pick<Option | Argument, 'argChoices'>, placeholder: string): CompletionValue {
  if (argChoices !== undefined) return { kind: 'words', words: argChoices };
  if (/^(?:path|files?)$/.test(placeholder)) return { kind: 'file' };
  return placeholder === 'folder' ? { kind: 'folder' } : { kind: 'any' };
}

function firstSentence(text: string): string {
  return text.split(/[.;\n]/, 1)[0]!.trim();
}
