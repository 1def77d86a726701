/**
 * The completion script for fish: one `complete` command per command and option, and a function that finds the
 * current command.
 */
import type { CompletionPlace, CompletionValue, OptionPlace } from './tree.ts';

/** Returns the script, to be sourced or saved as `completions/edgeplan.fish`. */
export function fishScript(program: string, places: readonly CompletionPlace[]): string {
  return `# fish completion for ${program}: ${program} completion fish | source
function __${program}_at
    set -l path ''
    set -l open 0
    set -l operands 0
    for word in (commandline -opc)[2..-1]
        if test $open = 1
            set open 0
        else if string match -qr -- '^-.' $word
            switch "$path:$word"
                case ${places.flatMap(takers).join(' ')}
                    set open 1
            end
        else if test $operands = 0; and contains -- (string trim "$path $word") ${places
          .flatMap(({ path }) => (path === '' ? [] : [quote(path)]))
          .join(' ')}
            set path (string trim "$path $word")
        else
            set operands 1
        end
    end
    test "$path" = "$argv[1]"
end
complete -c ${program} -f
${places.flatMap((place) => lines(program, place)).join('\n')}
`;
}

/** The options that take a value, as patterns of the function's `switch`. */
function takers({ path, options }: CompletionPlace): readonly string[] {
  const taking = options.filter(({ value }) => value !== null);
  return taking.flatMap(({ names }) => names.map((name) => quote(`${path}:${name}`)));
}

/** The `complete` commands of one command. */
function lines(program: string, { path, commands, options, operand }: CompletionPlace): readonly string[] {
  const here = `complete -c ${program} -n ${quote(`__${program}_at ${quote(path)}`)}`;
  return [
    ...commands.map(({ name, description }) => `${here} -a ${quote(name)} -d ${quote(description)}`),
    ...options.map((option) => `${here} ${optionParts(option)} -d ${quote(option.description)}`),
    ...(operand === null || operand.kind === 'any' ? [] : [`${here} ${operandParts(operand)}`]),
  ];
}

/** The names of an option and the kind of its value. */
function optionParts({ names, value }: OptionPlace): string {
  const flags = names.map((name) =>
    name.startsWith('--') ? `-l ${quote(name.slice(2))}` : `-s ${quote(name.slice(1))}`,
  );
  if (value === null) return flags.join(' ');
  return [...flags, value.kind === 'any' ? '-x' : `-r ${operandParts(value)}`].join(' ');
}

/** What completes an operand or a value. */
function operandParts(value: CompletionValue): string {
  if (value.kind === 'file') return '-F';
  if (value.kind === 'folder') return "-a '(__fish_complete_directories)'";
  return value.kind === 'words' ? `-a ${quote(value.words.join(' '))}` : '-f';
}

/** Quotes a text; fish has two escapes inside single quotes. */
function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
