/** `edgeplan completion`: what each shell does with its script, in that shell itself. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtCli, edgeplan } from '../support/built.ts';
import { missingProgram, requires } from '../support/requires.ts';

const PATIENCE = 120_000;
const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;

const LACKING = {
  terminal: missingProgram('bash') ?? missingProgram('script', 'bsdutils'),
  bash: missingProgram('bash'),
  zsh: missingProgram('zsh'),
  fish: missingProgram('fish'),
};
const folder = mkdtempSync(join(tmpdir(), 'edgeplan-completion-'));
const scriptOf = (shell: string): string => join(folder, `script.${shell}`);

beforeAll(async () => {
  await builtCli();
  for (const shell of SHELLS) {
    const { code, out, err } = await edgeplan(['completion', shell], { cwd: folder });
    expect([code, err]).toEqual([0, '']);
    writeFileSync(scriptOf(shell), out);
  }
  mkdirSync(join(folder, 'work/my-folder'), { recursive: true });
  writeFileSync(join(folder, 'work/my file.yaml'), '');
}, PATIENCE);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(program: string, args: readonly string[], input = ''): { out: string; err: string } {
  const { stdout, stderr } = spawnSync(program, args, {
    cwd: join(folder, 'work'),
    input,
    encoding: 'utf8',
    timeout: PATIENCE,
  });
  return { out: stdout, err: stderr };
}

describe('the command', () => {
  test('prints a script for four shells and refuses others', async () => {
    const { code, err } = await edgeplan(['completion', 'tcsh'], { cwd: folder });
    expect([code, err]).toEqual([
      2,
      expect.stringContaining('Allowed choices are bash, zsh, fish, powershell.'),
    ]);
  });

  test(
    'names every command and long option of the help in every script',
    async () => {
      const help = async (path: readonly string[]): Promise<string> =>
        (await edgeplan([...path, '--help'], { cwd: folder })).out;
      const names = (text: string, line: RegExp): readonly string[] =>
        [...text.matchAll(line)].map(([, name]) => name!);
      const commands = names(await help([]), /^ {2}([a-z-]+)(?: |$)/gm).filter((name) => name !== 'help');
      expect(commands.length).toBeGreaterThan(10);
      const pages = await Promise.all(commands.map((name) => help([name])));
      const options = new Set(pages.flatMap((page) => names(page, /^ {2}(?:-\w, )?--([a-z0-9-]+)/gm)));
      expect(options.size).toBeGreaterThan(30);
      for (const shell of SHELLS) {
        const { out } = await edgeplan(['completion', shell], { cwd: folder });
        const absent = [...commands, ...options].filter((name) => !out.includes(name));
        expect([shell, absent]).toEqual([shell, []]);
      }
    },
    PATIENCE,
  );
});

// Skipped only where there is no bash; the reason is printed above.
describe('bash', requires(LACKING.bash), () => {
  /** What TAB offers after these words, as bash breaks them; the last one is being typed. */
  function offered(words: readonly string[]): string {
    const quoted = words.map((word) => `'${word}'`).join(' ');
    const line = `set -u; source ${scriptOf('bash')}; COMP_WORDS=(edgeplan ${quoted}); COMP_CWORD=${words.length}; _edgeplan; echo "\${COMPREPLY[*]-}"`;
    const { out, err } = run('bash', ['--norc', '-c', line]);
    expect(err).toBe('');
    return out.trim();
  }

  test.each([
    [['ini'], 'init'],
    [['se'], 'secrets-key serve'],
    [['key', ''], 'create list revoke'],
    [['key', 'create', '--n'], '--name'],
    [['simulate', '--fi'], '--file'],
    [['simulate', '-f', 'x.yaml', '--co'], '--cookie --country --consumer --counted --color'],
    [['simulate', '--color', ''], 'auto always never'],
    [['simulate', '-f', ''], 'my file.yaml my-folder'],
    [['simulate', '--requests', 'my f'], 'my file.yaml'],
    [['init', ''], 'my-folder'],
    [['test', ''], 'my file.yaml my-folder'],
    [['serve', '--tier', 'b'], 'business'],
    [['serve', '--tier', '=', 'p'], 'pro'],
    [['serve', '--tier', '='], 'free pro business enterprise'],
    [['serve', '--tier', '=', 'pro', '--trust'], '--trust-names'],
    [['serve', '--host', ''], ''],
    [['simulate', 'https', ':', '//shop.example.com/', '--js'], '--json'],
    [['simulate', '--', '--js'], ''],
    [['completion', ''], 'bash zsh fish powershell'],
    [['simulate', '$(touch pwned)', '--as-'], '--as-test'],
    [['simulate', '-f', '`touch pwned`', '--as-'], '--as-test'],
  ])('%j', (words, expected) => {
    const sorted = (text: string): string => text.split(' ').sort().join(' ');
    expect(sorted(offered(words))).toBe(sorted(expected));
    expect(existsSync(join(folder, 'work/pwned'))).toBe(false);
  });

  test('a word that is no command is skipped, and the commands are offered', () => {
    expect(offered(['nothing', '']).split(' ')).toEqual(
      expect.arrayContaining(['init', 'serve', 'completion']),
    );
  });

  // Skipped only where there is nothing to make a terminal with; the reason is printed above.
  test('TAB at a prompt completes and executes nothing that was typed', requires(LACKING.terminal), () => {
    const keys = [
      `PS1=; source ${scriptOf('bash')}`,
      'edgeplan() { printf "<%s>" "$@"; echo; }',
      'edgeplan simu\t--fil\tmy\\ f\t--colo\tne\t',
      'edgeplan serve --tier=bus\t--log-l\tsi\t',
      'edgeplan init my-\t',
      // Kill the line instead of sending it: what TAB ran would be there all the same.
      'edgeplan simulate $(touch pwned) --as\t\u0015exit',
      '',
    ];
    const { out } = run('script', ['-qec', 'bash --norc --noprofile -i', '/dev/null'], keys.join('\n'));
    expect(out).toContain('<simulate><--file><my file.yaml><--color><never>');
    expect(out).toContain('<serve><--tier=business><--log-level><silent>');
    expect(out).toContain('<init><my-folder/>');
    expect(readdirSync(join(folder, 'work')).sort()).toEqual(['my file.yaml', 'my-folder']);
  });
});

const WALKS = [
  [['ser'], 'serve'],
  [['key', ''], 'create'],
  [['serve', '--tier', ''], 'business'],
  [['simulate', '-f', 'x', '--js'], '--json'],
] as const;

// Skipped only where there is no zsh; the reason is printed above.
describe('zsh', requires(LACKING.zsh), () => {
  test('zsh accepts its script', () => {
    expect(run('zsh', ['-fn', scriptOf('zsh')])).toEqual({ out: '', err: '' });
  });
  test.each(WALKS)('%j', (words, expected) => {
    const [current, ...before] = [...words].reverse();
    const quoted = [current, ...before.reverse()].map((word) => `'${word}'`).join(' ');
    const line = `autoload -U compinit; compinit -D; source ${scriptOf('zsh')}; __edgeplan_answer ${quoted}; print $__edgeplan_words`;
    expect(run('zsh', ['-fc', line]).out.trim().split(' ')).toContain(expected);
  });
});

// Skipped only where there is no fish; the reason is printed above.
describe('fish', requires(LACKING.fish), () => {
  test.each(WALKS)('%j', (words, expected) => {
    const line = `source ${scriptOf('fish')}; complete -C 'edgeplan ${words.join(' ')}'`;
    const { out, err } = run('fish', ['--no-config', '-c', line]);
    expect(err).toBe('');
    expect(out.split('\n').map((one) => one.split('\t')[0])).toContain(expected);
  });
});
