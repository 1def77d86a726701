/**
 * The completion script for PowerShell: a table of commands and a loop over the typed words, in one script block.
 * If it returns nothing, PowerShell offers paths.
 */
import type { CompletionPlace, CompletionValue } from './tree.ts';

/** Returns the script, to be run by a profile. */
export function powershellScript(program: string, places: readonly CompletionPlace[]): string {
  return `# PowerShell completion for ${program}: ${program} completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName ${quote(program)} -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $takes = {
    param($path, $word)
    switch -CaseSensitive ($path + ':' + $word) {
${places.flatMap(takers).join('\n')}
    }
  }
  $place = {
    param($path)
    switch -CaseSensitive ($path) {
${places.map(placeCase).join('\n')}
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
function takers({ path, options }: CompletionPlace): readonly string[] {
  return options.flatMap(({ names, value }) =>
    value === null
      ? []
      : names.map((name) => `      ${quote(`${path}:${name}`)} { @{ Words = ${wordsOf(value)} } }`),
  );
}

/** The `switch` branch for one command. */
function placeCase({ path, commands, options, operand }: CompletionPlace): string {
  const names = list(commands.map(({ name }) => name));
  const flags = list(options.flatMap((option) => option.names));
  const operands = operand === null ? '@()' : wordsOf(operand);
  return `      ${quote(path)} { @{ Commands = ${names}; Options = ${flags}; Operands = ${operands} } }`;
}

/** The words of a value; none for a path. */
function wordsOf(value: CompletionValue): string {
  return value.kind === 'words' ? list(value.words) : '@()';
}

/** An array in PowerShell. */
function list(words: readonly string[]): string {
  return `@(${words.map(quote).join(', ')})`;
}

/** Quotes a text for PowerShell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
