/** Reads commander's commands as plain data for the completion scripts. */
import type { Argument, Command, Option } from 'commander';

/** The kind of a value: one of some words, a path, or any text. */
export type CompletionValue =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'file' }
  | { readonly kind: 'folder' }
  | { readonly kind: 'any' };

/** An option. */
export interface OptionPlace {
  /** `--file` and, if there is one, `-f`. */
  readonly names: readonly string[];
  readonly description: string;
  /** The kind of its value; `null`: it takes none. */
  readonly value: CompletionValue | null;
}

/** A command with what may follow it. */
export interface CompletionPlace {
  /** The names of the command and those above it, separated by spaces; empty for the program. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly OptionPlace[];
  /** The kind of its first operand, used for all of them; `null` if it has none. */
  readonly operand: CompletionValue | null;
}

/** Lists every command of a program, the program itself first. */
export function placesOf(program: Command, path = ''): readonly CompletionPlace[] {
  const help = program.createHelp();
  // The `help` command that commander adds is left out: every command has --help.
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

/** Reads one option. */
function optionPlace(option: Option): OptionPlace {
  const named = /[<[]([^>\]]*)/.exec(option.flags)?.[1] ?? '';
  return {
    names: [option.long, option.short].filter((name) => name !== undefined && name !== null),
    description: firstSentence(option.description),
    value: option.required ? kindOf(option, named) : null,
  };
}

/** Derives the kind of a value from its placeholder, such as `<path>`. */
function kindOf({ argChoices }: Pick<Option | Argument, 'argChoices'>, placeholder: string): CompletionValue {
  if (argChoices !== undefined) return { kind: 'words', words: argChoices };
  if (/^(?:path|files?)$/.test(placeholder)) return { kind: 'file' };
  return placeholder === 'folder' ? { kind: 'folder' } : { kind: 'any' };
}

/** The first sentence of a description, without its full stop. */
function firstSentence(text: string): string {
  return text.split(/[.;\n]/, 1)[0]!.trim();
}
