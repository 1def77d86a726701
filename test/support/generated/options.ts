/** Tables of a command's options for its README, from the options themselves: what `--help` prints, as Markdown. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Command, Option } from 'commander';

/** The heading of options that are in no group. */
const NO_GROUP = '';

/** One table for each group of options, in the order of the help, under a heading where the group has a name. */
export function optionTables(command: Command): string {
  const groups = new Map<string, Option[]>();
  for (const option of command.options) {
    if (option.hidden) continue;
    const group = (option.helpGroupHeading ?? NO_GROUP).replace(/:$/, '');
    groups.set(group, [...(groups.get(group) ?? []), option]);
  }
  return [...groups].map(([group, options]) => tableOf(group, options)).join('\n\n');
}

function tableOf(group: string, options: readonly Option[]): string {
  const rows = options.map((option) => {
    const cells = [`\`${option.flags}\``, meaningOf(option), defaultOf(option), environmentOf(option)];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  });
  const heading = group === NO_GROUP ? [] : [`### ${group}`, ''];
  return [...heading, '| flag | meaning | default | variable |', '| --- | --- | --- | --- |', ...rows].join(
    '\n',
  );
}

/** The description with its choices, without the default that has a column of its own, and with flags as code. */
function meaningOf({ description, argChoices }: Option): string {
  const text = description
    .replace(/ \((?:default|env): [^()]*\)/g, '')
    .replace(/(?<![`\w])--[a-z][a-z-]*/g, '`$&`');
  if (argChoices === undefined) return text;
  return `${text}: ${argChoices.map((choice) => `\`${choice}\``).join(', ')}`;
}

/** The default; a folder of this machine's user as a shell writes it. */
function defaultOf({ defaultValue, defaultValueDescription, description, negate }: Option): string {
  const stated = /\(default: ([^()]*)\)/.exec(description)?.[1];
  if (stated !== undefined) return stated;
  if (defaultValue === undefined || negate) return '';
  return `\`${defaultValueDescription ?? inHome(String(defaultValue))}\``;
}

function inHome(value: string): string {
  const data = process.env['XDG_DATA_HOME'] ?? join(homedir(), '.local', 'share');
  return value.startsWith(`${data}/`) ? `~/.local/share${value.slice(data.length)}` : value;
}

function environmentOf({ envVar }: Option): string {
  return envVar === undefined ? '' : `\`${envVar}\``;
}
