/**
 * Runs the commands of one Markdown file in a folder of their own. `npx edgeplan` and `edgeplan` are the built command
 * line. What is different from a reader's terminal:
 *
 * - Every port that the text names, and the default ports, are replaced by free ones, the same in the whole file.
 * - `serve`, `node`, `agent` and `try` run in the background; the command ends once the server prints where it listens.
 * - Nodes stop at once (`EDGEPLAN_DRAIN`), and the home folder is in the sandbox.
 * - The variables, functions and the folder that one command leaves are those of the next.
 * - `fixtures` is a copy, and `node_modules` has the packages of this repository.
 */
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePorts } from '../free-ports.ts';
import { portsIn, withoutPlaceholders } from './commands.ts';
import { type Paper, ROOT } from './markdown.ts';

/** Default ports of `serve` and `node`. */
const DEFAULT_PORTS = { api: '8787', operations: '8788', node: '8080' } as const;

export interface Sandbox {
  /** Saves a file beside the commands. */
  save(name: string, content: string): void;
  run(command: string): Promise<CommandResult>;
  stopServers(): Promise<void>;
  close(): Promise<void>;
}

export interface CommandResult {
  readonly code: number | null;
  /** What it printed to stdout and stderr. */
  readonly output: string;
}

export async function openSandbox(paper: Paper): Promise<Sandbox> {
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-readme-'));
  const state = join(folder, 'state');
  const work = join(folder, 'work');
  for (const one of ['state', 'work', 'bin', 'work/node_modules']) mkdirSync(join(folder, one));
  cpSync(join(ROOT, 'fixtures'), join(work, 'fixtures'), { recursive: true });
  symlinkSync(ROOT, join(work, 'node_modules/edgeplan'));
  symlinkSync(join(ROOT, 'packages'), join(work, 'node_modules/@edgeplan'));
  const shell = paper.blocks.filter(({ language }) => language === 'sh').map(({ code }) => code);
  const ports = await portsFor(new Set([...Object.values(DEFAULT_PORTS), ...portsIn(shell.join('\n'))]));
  writeCommands(join(folder, 'bin'), state, ports);
  writeFileSync(join(state, 'shell'), '');
  writeFileSync(join(state, 'folder'), work);
  writeFileSync(join(state, 'servers'), '');
  const env = {
    PATH: `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}`,
    HOME: work,
    EDGEPLAN_DRAIN: '0',
    EDGEPLAN_SERVER: `http://127.0.0.1:${ports.get(DEFAULT_PORTS.api)}`,
  };
  let printed = '';

  return {
    save: (name, content) => writeFileSync(join(work, name), content),
    async run(command) {
      const text = withPorts(withoutPlaceholders(command, printed), ports);
      const result = await runInBash(text, { state, env });
      printed += result.output;
      return result;
    },
    stopServers: () => stopServers(state),
    async close() {
      await stopServers(state);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Ports that are free at once, one for each of the named. */
async function portsFor(named: ReadonlySet<string>): Promise<ReadonlyMap<string, string>> {
  const first = await freePorts(named.size);
  return new Map([...named].map((name, index) => [name, String(first + index)]));
}

function withPorts(command: string, ports: ReadonlyMap<string, string>): string {
  return command.replace(/(?<=[: ])\d{2,5}\b/g, (port) => ports.get(port) ?? port);
}

/** `npx` and `edgeplan` for the PATH. */
function writeCommands(folder: string, state: string, ports: ReadonlyMap<string, string>): void {
  const { api, operations, node } = DEFAULT_PORTS;
  const edgeplan = `#!/bin/bash
given() { [[ " \${args[*]} " == *" $1 "* ]]; }
args=("$@")
case "$1" in
  serve)
    given --port || args+=(--port ${ports.get(api)})
    given --ops-port || args+=(--ops-port ${ports.get(operations)}) ;;
  node) [[ $# -gt 1 ]] && ! given --help && { given --port || args+=(--port ${ports.get(node)}); } ;;
  try) given --port || args+=(--port ${ports.get(api)}) ;;
esac
if [[ ! "$1" =~ ^(serve|node|agent|try)$ || "$2" == check ]] || given --help; then
  exec ${process.execPath} ${join(ROOT, 'dist/cli/main.js')} "$@"
fi
output=$(mktemp ${state}/output.XXXXXX)
${process.execPath} ${join(ROOT, 'dist/cli/main.js')} "\${args[@]}" >"$output" 2>&1 </dev/null &
server=$!
echo $server >>${state}/servers
until grep -qE '^(listening on|edgeplan is up|process [0-9])' "$output"; do
  if ! kill -0 $server 2>/dev/null; then
    cat "$output"
    wait $server
    exit
  fi
  sleep 0.1
done
cat "$output"
`;
  const npx = `#!/bin/bash
[[ "$1" == edgeplan ]] || { echo "the tests run \\\`npx edgeplan\\\` alone, found \\\`npx $1\\\`" >&2; exit 127; }
exec "$@"
`;
  for (const [name, text] of Object.entries({ edgeplan, npx })) {
    writeFileSync(join(folder, name), text);
    chmodSync(join(folder, name), 0o755);
  }
}

interface BashOptions {
  readonly state: string;
  readonly env: Readonly<Record<string, string>>;
}

function runInBash(command: string, { state, env }: BashOptions): Promise<CommandResult> {
  const script = `cd "$(cat ${state}/folder)"; . ${state}/shell
${command}
code=$?; { declare -px; declare -fp; } >${state}/shell; pwd >${state}/folder; exit $code`;
  return new Promise((resolve, reject) => {
    // Servers in the background keep none of these pipes open: their output goes to a file.
    const child = spawn('bash', ['-c', script], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}

async function stopServers(state: string): Promise<void> {
  const file = join(state, 'servers');
  const pids = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean).map(Number) : [];
  writeFileSync(file, '');
  for (const pid of pids) signal(pid, 'SIGTERM');
  // They are no children of this process, so their end can only be polled for.
  while (pids.some(isRunning)) await wait(50);
}

/** Whether a process has not ended; one that ended and that its parent has not noticed is a zombie (`Z`). */
function isRunning(pid: number): boolean {
  if (!signal(pid, 0)) return false;
  const file = `/proc/${pid}/stat`;
  return !existsSync(file) || !/\) Z /.test(readFileSync(file, 'utf8'));
}

/** Whether there was such a process. */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

/** Why no commands can be run here, or `null`. */
export function missingShell(): string | null {
  const { status } = spawnSync('bash', ['-c', 'type curl'], { stdio: 'ignore' });
  return status === 0 ? null : 'bash or curl is not installed (Debian: bash curl)';
}
