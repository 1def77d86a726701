/**
 * `edgeplan completion`: prints a completion script for a shell. The script contains every command and option, so
 * completing starts no process and executes nothing that was typed.
 */
import { Argument, Command } from 'commander';
import {
  bashScript,
  type CompletionPlace,
  fishScript,
  placesOf,
  powershellScript,
  zshScript,
} from '../completion-scripts.ts';
import { type Examples, withExamples } from '../examples.ts';
import { write } from '../output.ts';

/** The script of each shell. */
const SCRIPTS = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
  powershell: powershellScript,
} as const satisfies Readonly<
  Record<string, (program: string, places: readonly CompletionPlace[]) => string>
>;
type Shell = keyof typeof SCRIPTS;
const SHELLS = Object.keys(SCRIPTS) as readonly Shell[];

/** Examples of the help. */
const EXAMPLES: Examples = {
  completion: ['source <(edgeplan completion bash)', 'edgeplan completion fish | source'],
};

/** Creates the command; it reads the program's other commands when it runs. */
export function completionCommand(program: Command): Command {
  const command = new Command('completion')
    .description('Print a completion script for a shell.')
    .addArgument(new Argument('<shell>', 'whose script to print').choices(SHELLS))
    .addHelpText(
      'after',
      '\nFor this session: source <(edgeplan completion bash), source <(edgeplan completion zsh),\n' +
        'edgeplan completion fish | source, edgeplan completion powershell | Out-String | Invoke-Expression.\n' +
        'For every one, put that line into ~/.bashrc, ~/.zshrc (after compinit), ~/.config/fish/config.fish or $PROFILE.',
    )
    .action(async (shell: Shell) => write(SCRIPTS[shell](program.name(), placesOf(program))));
  return withExamples(command, EXAMPLES);
}
