/** Completion scripts for shells. In: the commands of commander. Out: a script for bash, zsh, fish or PowerShell. */
import type { Argument, Command, Option } from 'commander';

/** The kind of a value: one of some words, a path, or any text. */
type CompletionValue =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'file' }
  | { readonly kind: 'folder' }
  | { readonly kind: 'any' };

/** An option. */
interface OptionPlace {
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

// The completion scripts for bash and zsh: a common part in the language of both, and a few lines for each.

/** Returns the script for bash 3.2 or newer, without further packages. */
export function bashScript(program: string, places: readonly CompletionPlace[]): string {
  return `# bash completion for ${program}: source <(${program} completion bash)
${posixCommon(program, places)}
__${program}_reply() {
  local line
  while IFS= read -r line; do COMPREPLY+=("$line"); done < <(IFS=' '; compgen "$@")
}
_${program}() {
  local words=() word skip=
  local cur="\${COMP_WORDS[COMP_CWORD]}"
  # bash breaks words at = and :, so --tier=pro comes in three and a URL in many.
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [ -n "$skip" ]; then skip=
    elif [ "$word" = : ]; then skip=1
    elif [ "$word" != = ]; then words+=("$word")
    fi
  done
  case "$cur" in =|:) cur= ;; esac
  __${program}_answer "$cur" \${words[@]+"\${words[@]}"}
  COMPREPLY=()
  # Paths are left to readline, which knows about ~ and quotes; bash 3.2 cannot be asked to.
  case "$__${program}_kind" in
    words) __${program}_reply -W "$__${program}_words" -- "$cur" ;;
    file) compopt -o default 2>/dev/null || __${program}_reply -f -- "$cur" ;;
    folder) compopt -o dirnames 2>/dev/null || __${program}_reply -d -- "$cur" ;;
  esac
}
complete -F _${program} ${program}
`;
}

/** Returns the script for zsh; it can also be saved as `_edgeplan` in a folder of `fpath`. */
export function zshScript(program: string, places: readonly CompletionPlace[]): string {
  return `#compdef ${program}
# zsh completion for ${program}: source <(${program} completion zsh), after compinit
${posixCommon(program, places)}
_${program}() {
  local cur="\${words[CURRENT]}"
  __${program}_answer "$cur" "\${(@)words[2,CURRENT-1]}"
  case "$cur" in --*=*) compset -P '*=' ;; esac
  case "$__${program}_kind" in
    words) compadd -- \${=__${program}_words} ;;
    file) _files ;;
    folder) _files -/ ;;
  esac
}
if [ "$funcstack[1]" = "_${program}" ]; then _${program} "$@"; else compdef _${program} ${program}; fi
`;
}

/**
 * Three functions in the common language, without arrays, that execute nothing of the typed text: `value` returns
 * what an option takes, `place` what may follow a command, and `answer` goes through the words and stores the kind
 * of the current one in a variable.
 */
function posixCommon(program: string, places: readonly CompletionPlace[]): string {
  const own = `__${program}`;
  return `${own}_value() {
  ${own}_words=
  case "$1:$2" in
${places.flatMap((place) => valueCases(own, place)).join('\n')}
    *) ${own}_kind=flag ;;
  esac
}
${own}_place() {
  ${own}_words=
  case "$1" in
${places.map((place) => posixCase(own, place)).join('\n')}
  esac
}
${own}_answer() {
  ${own}_cur="$1" ${own}_path= ${own}_open= ${own}_rest= ${own}_operands=0
  shift
  for ${own}_word in "$@"; do
    if [ -n "$${own}_open" ]; then ${own}_open=; continue; fi
    case "$${own}_rest$${own}_word" in
      --) ${own}_rest=/ ;;
      ''|--*=*) ;;
      -?*)
        ${own}_value "$${own}_path" "$${own}_word"
        if [ "$${own}_kind" != flag ]; then ${own}_open="$${own}_word"; fi ;;
      *)
        ${own}_place "$${own}_path"
        case "$${own}_operands  $${own}_commands " in
          "0 "*" $${own}_word "*) ${own}_path="$${own}_path\${${own}_path:+ }$${own}_word" ;;
          *) ${own}_operands=1 ;;
        esac ;;
    esac
  done
  if [ -n "$${own}_open" ]; then ${own}_value "$${own}_path" "$${own}_open"; return; fi
  case "$${own}_rest$${own}_cur" in
    --*=*) ${own}_value "$${own}_path" "\${${own}_cur%%=*}"; return ;;
  esac
  ${own}_place "$${own}_path"
  case "$${own}_rest$${own}_cur" in
    -*) ${own}_kind=words ${own}_words="$${own}_options"; return ;;
  esac
  if [ -n "$${own}_commands" ]; then ${own}_kind=words ${own}_words="$${own}_commands"; fi
}`;
}

/** `case` branches for the options that take a value. */
function valueCases(own: string, { path, options }: CompletionPlace): readonly string[] {
  return options.flatMap(({ names, value }) => {
    if (value === null) return [];
    // `<path>:<option>`, as the function's first two arguments are joined.
    const patterns = names.map((name) => posixQuoted(`${path}:${name}`)).join('|');
    return [`    ${patterns}) ${assign(own, value)} ;;`];
  });
}

/** The `case` branch for one command. */
function posixCase(own: string, { path, commands, options, operand }: CompletionPlace): string {
  const names = commands.map(({ name }) => name).join(' ');
  const flags = options.flatMap((option) => option.names).join(' ');
  const value = assign(own, operand ?? { kind: 'any' });
  return `    ${posixQuoted(path)}) ${own}_commands=${posixQuoted(names)} ${own}_options=${posixQuoted(flags)} ${value} ;;`;
}

/** Assigns the kind of a value, and its words. */
function assign(own: string, value: CompletionValue): string {
  const words = value.kind === 'words' ? ` ${own}_words=${posixQuoted(value.words.join(' '))}` : '';
  return `${own}_kind=${value.kind}${words}`;
}

/** Quotes a text for a POSIX shell. */
function posixQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

// The completion script for fish: one `complete` command per command and option, and a function that finds the
// current command.

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
                case ${places.flatMap(fishTakers).join(' ')}
                    set open 1
            end
        else if test $operands = 0; and contains -- (string trim "$path $word") ${places
          .flatMap(({ path }) => (path === '' ? [] : [fishQuoted(path)]))
          .join(' ')}
            set path (string trim "$path $word")
        else
            set operands 1
        end
    end
    test "$path" = "$argv[1]"
end
complete -c ${program} -f
${places.flatMap((place) => fishLines(program, place)).join('\n')}
`;
}

/** The options that take a value, as patterns of the function's `switch`. */
function fishTakers({ path, options }: CompletionPlace): readonly string[] {
  const taking = options.filter(({ value }) => value !== null);
  return taking.flatMap(({ names }) => names.map((name) => fishQuoted(`${path}:${name}`)));
}

/** The `complete` commands of one command. */
function fishLines(
  program: string,
  { path, commands, options, operand }: CompletionPlace,
): readonly string[] {
  const here = `complete -c ${program} -n ${fishQuoted(`__${program}_at ${fishQuoted(path)}`)}`;
  return [
    ...commands.map(
      ({ name, description }) => `${here} -a ${fishQuoted(name)} -d ${fishQuoted(description)}`,
    ),
    ...options.map((option) => `${here} ${optionParts(option)} -d ${fishQuoted(option.description)}`),
    ...(operand === null || operand.kind === 'any' ? [] : [`${here} ${operandParts(operand)}`]),
  ];
}

/** The names of an option and the kind of its value. */
function optionParts({ names, value }: OptionPlace): string {
  const flags = names.map((name) =>
    name.startsWith('--') ? `-l ${fishQuoted(name.slice(2))}` : `-s ${fishQuoted(name.slice(1))}`,
  );
  if (value === null) return flags.join(' ');
  return [...flags, value.kind === 'any' ? '-x' : `-r ${operandParts(value)}`].join(' ');
}

/** What completes an operand or a value. */
function operandParts(value: CompletionValue): string {
  if (value.kind === 'file') return '-F';
  if (value.kind === 'folder') return "-a '(__fish_complete_directories)'";
  return value.kind === 'words' ? `-a ${fishQuoted(value.words.join(' '))}` : '-f';
}

/** Quotes a text; fish has two escapes inside single quotes. */
function fishQuoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

// The completion script for PowerShell: a table of commands and a loop over the typed words, in one script block.
// If it returns nothing, PowerShell offers paths.

/** Returns the script, to be run by a profile. */
export function powershellScript(program: string, places: readonly CompletionPlace[]): string {
  return `# PowerShell completion for ${program}: ${program} completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName ${powershellQuoted(program)} -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $takes = {
    param($path, $word)
    switch -CaseSensitive ($path + ':' + $word) {
${places.flatMap(powershellTakers).join('\n')}
    }
  }
  $place = {
    param($path)
    switch -CaseSensitive ($path) {
${places.map(powershellCase).join('\n')}
    }
  }
  $path = ''
  $open = $null
  $operands = 0
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
    Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { $_.Extent.Text })
  foreach ($word in $words) {
    if ($null -ne $open) { $open = $null }
    elseif ($word -like '-?*') { $open = & $takes $path $word }
    elseif ($operands -eq 0 -and (& $place $path).Commands -ccontains $word) { $path = ($path + ' ' + $word).Trim() }
    else { $operands = 1 }
  }
  $here = & $place $path
  $words = if ($null -ne $open) { $open.Words }
    elseif ($wordToComplete -like '-*') { $here.Options }
    elseif ($here.Commands.Count -gt 0) { $here.Commands }
    else { $here.Operands }
  $words | Where-Object { $_ -clike "$wordToComplete*" } |
    ForEach-Object { [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_) }
}
`;
}

/** `switch` branches for the options that take a value. */
function powershellTakers({ path, options }: CompletionPlace): readonly string[] {
  return options.flatMap(({ names, value }) =>
    value === null
      ? []
      : names.map(
          (name) => `      ${powershellQuoted(`${path}:${name}`)} { @{ Words = ${wordsOf(value)} } }`,
        ),
  );
}

/** The `switch` branch for one command. */
function powershellCase({ path, commands, options, operand }: CompletionPlace): string {
  const names = powershellList(commands.map(({ name }) => name));
  const flags = powershellList(options.flatMap((option) => option.names));
  const operands = operand === null ? '@()' : wordsOf(operand);
  return `      ${powershellQuoted(path)} { @{ Commands = ${names}; Options = ${flags}; Operands = ${operands} } }`;
}

/** The words of a value; none for a path. */
function wordsOf(value: CompletionValue): string {
  return value.kind === 'words' ? powershellList(value.words) : '@()';
}

/** An array in PowerShell. */
function powershellList(words: readonly string[]): string {
  return `@(${words.map(powershellQuoted).join(', ')})`;
}

/** Quotes a text for PowerShell. */
function powershellQuoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
