/** The help of every command: groups, examples, and requests for the help of a command that does not exist. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Command } from 'commander';
import { beforeAll, describe, expect, test } from 'vitest';
import { listedCommands, readCommandList } from '../../../src/cli/command-list.ts';
import {
  asksForProgramHelp,
  COMMAND_NAMES,
  createProgram,
  createProgramForHelp,
  wordsFor,
} from '../../../src/cli/program.ts';

interface Page {
  /** The path of the command, without the program's name. */
  readonly path: string;
  readonly command: Command;
  readonly text: string;
}

/** Every command below one, each with the text of its help. */
function pagesOf(command: Command, above: readonly string[] = []): readonly Page[] {
  return command.commands.flatMap((child) => {
    const path = [...above, child.name()];
    const parts: string[] = [];
    child.configureOutput({ writeOut: (part) => parts.push(part), getOutHelpWidth: () => 80 });
    child.outputHelp();
    return [{ path: path.join(' '), command: child, text: parts.join('') }, ...pagesOf(child, path)];
  });
}

/** The command lines below "Examples:". */
function examplesOf({ text }: Page): readonly string[] {
  const [, part = ''] = text.split('\nExamples:\n');
  return part
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** The words of each call of edgeplan in a shell line; quotes are removed, redirections and other programs cut off. */
function callsIn(line: string): readonly (readonly string[])[] {
  return line
    .split(/\||&&|\$\(|<\(/)
    .map((part) =>
      part
        .trim()
        .replace(/\)$/, '')
        .replace(/\s*>{1,2}\s*\S+$/, ''),
    )
    .filter((part) => part.startsWith('edgeplan '))
    .map((part) =>
      [...part.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!).slice(1),
    );
}

let root: Command;
let pages: readonly Page[];

beforeAll(async () => {
  root = await createProgram(undefined);
  pages = pagesOf(root);
});

/** Makes every command parse its words and do nothing else. */
function disarm(command: Command): void {
  command.configureOutput({ writeErr: () => undefined });
  for (const child of command.commands) {
    // `agent` has options and an action of its own besides its subcommand.
    if (child.commands.length === 0 || child.options.length > 0) child.action(() => undefined);
    disarm(child);
  }
}

describe('help', () => {
  test('every command without subcommands has one to five examples, at the end', () => {
    const leaves = pages.filter(({ command }) => command.commands.length === 0);
    expect(leaves.length).toBeGreaterThan(40);
    const wrong = leaves.filter((page) => examplesOf(page).length < 1 || examplesOf(page).length > 5);
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  test('every example calls its own command, with options and operands that parse', async () => {
    for (const page of pages) {
      for (const line of examplesOf(page)) {
        const calls = callsIn(line);
        expect(
          calls.some((words) => words.join(' ').startsWith(page.path)),
          line,
        ).toBe(true);
        for (const words of calls) {
          const fresh = await createProgram(undefined);
          disarm(fresh);
          await expect(
            fresh.parseAsync(words, { from: 'user' }),
            `${line}: ${words.join(' ')}`,
          ).resolves.toBe(fresh);
        }
      }
    }
  });

  test('an example with an option that does not exist fails to parse', async () => {
    const fresh = await createProgram(undefined);
    disarm(fresh);
    await expect(fresh.parseAsync(['export', 'example.com', '--out', 'x'], { from: 'user' })).rejects.toThrow(
      '--out',
    );
  });

  test('the list of commands is in groups, and each command is in one', () => {
    const text = root.helpInformation();
    expect(text).not.toContain('\nCommands:\n');
    const headings = [...text.matchAll(/^([A-Z].*):$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual(['Options', 'Try and write', 'Run', 'Operate', 'Work with a server', 'Help']);
    for (const { name } of root.commands.map((command) => ({ name: command.name() }))) {
      expect(text.match(new RegExp(`^  ${name}(?: |$)`, 'gm'))).toHaveLength(1);
    }
  });
});

test('the table of commands in the README has every command', () => {
  const readme = readFileSync(new URL('../../../src/cli/README.md', import.meta.url), 'utf8');
  const [, table = ''] = /^## Commands\n([\s\S]*?)^## /m.exec(readme) ?? [];
  expect(COMMAND_NAMES.filter((name) => !new RegExp(`\`${name}[\` ]`).test(table))).toEqual([]);
});

describe('the help of the program', () => {
  /** The help at so many columns. */
  const helpAt = (program: Command, columns: number): string => {
    program.configureOutput({ getOutHelpWidth: () => columns });
    return program.helpInformation();
  };

  test.each([60, 80, 200])('is made from a list without any command, at %i columns', async (columns) => {
    const list = JSON.parse(JSON.stringify(listedCommands(root))) as ReturnType<typeof listedCommands>;
    const listed = await createProgramForHelp(list);
    expect(list.length).toBeGreaterThan(40);
    expect(listed.commands.every((command) => command.options.length === 0)).toBe(true);
    expect(helpAt(listed, columns)).toBe(helpAt(root, columns));
  });

  test('is made of all commands where the list is cut, lacks a command or has one too many', () => {
    const folder = mkdtempSync(join(tmpdir(), 'edgeplan-list-'));
    const read = (text: string) => {
      const file = join(folder, 'list.json');
      writeFileSync(file, text);
      return readCommandList(COMMAND_NAMES, pathToFileURL(file));
    };
    try {
      const list = listedCommands(root);
      const text = JSON.stringify(list);
      expect(read(text)).toEqual(list);
      expect(read(text.slice(0, -20))).toBe(null);
      expect(read('')).toBe(null);
      expect(read(JSON.stringify(list.slice(1)))).toBe(null);
      expect(read(JSON.stringify([...list, { ...list[0]!, name: 'gone' }]))).toBe(null);
      expect(readCommandList(COMMAND_NAMES, pathToFileURL(join(folder, 'none.json')))).toBe(null);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test.each([
    ['', true],
    ['--help', true],
    ['-h --version', true],
    ['help', true],
    ['help lint', false],
    ['lint --help', false],
    ['--version', false],
    ['hlep', false],
  ])('`%s` asks for it: %s', (typed, asked) => {
    expect(asksForProgramHelp(typed.split(' ').filter((word) => word !== ''))).toBe(asked);
  });
});

describe('a request for help', () => {
  test.each([
    ['help', '--help'],
    ['help simulate', 'simulate --help'],
    ['help waf compile', 'waf compile --help'],
    ['waf help compile', 'waf compile --help'],
    ['waf compile --help', 'waf compile --help'],
    ['help waf', 'waf --help'],
  ])('`%s` is read as `%s`', (typed, expected) => {
    expect(wordsFor(root, typed.split(' ')).join(' ')).toBe(expected);
  });

  test.each([
    ['help simulat', 'simulat'],
    ['simulat --help', 'simulat'],
    ['simulat -h', 'simulat'],
    ['help waf compil', 'waf compil'],
    ['waf help compil', 'waf compil'],
    ['waf compil --help', 'waf compil'],
  ])('`%s` names no command: `%s` is parsed, for its suggestion', (typed, expected) => {
    expect(wordsFor(root, typed.split(' ')).join(' ')).toBe(expected);
  });

  test.each(['simulate help', 'simulate -H --help', '--version', 'export help', 'waf show help'])(
    '`%s` asks for no help of its own and stays as it is',
    (typed) => {
      expect(wordsFor(root, typed.split(' ')).join(' ')).toBe(typed);
    },
  );
});
