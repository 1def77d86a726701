/** The completion scripts for bash and zsh: a common part in the language of both, and a few lines for each. */
import type { CompletionPlace, CompletionValue } from './tree.ts';

/** Returns the script for bash 3.2 or newer, without further packages. */
export function bashScript(program: string, places: readonly CompletionPlace[]): string {
  return `# bash completion for ${program}: source <(${program} completion bash)
${common(program, places)}
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
${common(program, places)}
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
function common(program: string, places: readonly CompletionPlace[]): string {
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
${places.map((place) => placeCase(own, place)).join('\n')}
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
    const patterns = names.map((name) => quote(`${path}:${name}`)).join('|');
    return [`    ${patterns}) ${assign(own, value)} ;;`];
  });
}

/** The `case` branch for one command. */
function placeCase(own: string, { path, commands, options, operand }: CompletionPlace): string {
  const names = commands.map(({ name }) => name).join(' ');
  const flags = options.flatMap((option) => option.names).join(' ');
  const value = assign(own, operand ?? { kind: 'any' });
  return `    ${quote(path)}) ${own}_commands=${quote(names)} ${own}_options=${quote(flags)} ${value} ;;`;
}

/** Assigns the kind of a value, and its words. */
function assign(own: string, value: CompletionValue): string {
  const words = value.kind === 'words' ? ` ${own}_words=${quote(value.words.join(' '))}` : '';
  return `${own}_kind=${value.kind}${words}`;
}

/** Quotes a text for a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
