/**
 * The command as it ships: built once a run, then started as a process of its own; in runs of the usual size, commands of
 * which the process is not the subject share one (`command-host.ts`).
 */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { buildPackage, PACKAGES } from '../../packages/build.ts';
import { isHosted, runHosted } from './command-host.ts';
import { FULL } from './size.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MAIN = join(ROOT, 'dist/cli/main.js');
/** What the last step of a build writes. */
const LAST = join(ROOT, 'packages/edge/dist/starter.bin.d.ts');
const LOCK = join(ROOT, 'dist/.builder');

function newestSource(): number {
  const files = readdirSync(join(ROOT, 'src'), { recursive: true, withFileTypes: true });
  return Math.max(
    ...files
      .filter((file) => file.isFile())
      .map((file) => statSync(join(file.parentPath, file.name)).mtimeMs),
  );
}

function upToDate(): boolean {
  // The compiler writes again only what has changed; the last step writes always.
  return existsSync(MAIN) && existsSync(LAST) && statSync(LAST).mtimeMs > newestSource();
}

async function build(): Promise<void> {
  const steps = [
    [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.json'],
    ['dist/engine/waf/signatures/seal-starter.js', 'src/engine/waf/signatures'],
    ['dist/page/reference/write-documents.js'],
    ['dist/page/panel/write-page.js'],
    ['dist/cli/write-command-list.js'],
  ];
  for (const step of steps) {
    const { status, stdout, stderr } = spawnSync(process.execPath, step, { cwd: ROOT, encoding: 'utf8' });
    if (status !== 0) throw new Error(`the build failed:\n${stdout}${stderr}`);
  }
  for (const name of Object.keys(PACKAGES)) await buildPackage(name, join(ROOT, 'packages', name));
}

/** Whether whoever was building was killed. */
function isAbandoned(): boolean {
  try {
    return !process.kill(Number(readFileSync(LOCK, 'utf8')), 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

let built: Promise<void> | null = null;

/** Builds `dist/` unless it is newer than every source, which each process of the tests asks once. */
export function builtCli(): Promise<void> {
  built ??= buildOnce();
  return built;
}

/** Test files that run side by side wait for one build. */
async function buildOnce(): Promise<void> {
  mkdirSync(join(ROOT, 'dist'), { recursive: true });
  while (!upToDate() || existsSync(LOCK)) {
    try {
      writeFileSync(LOCK, String(process.pid), { flag: 'wx' });
    } catch {
      if (isAbandoned()) rmSync(LOCK, { force: true });
      else await wait(100);
      continue;
    }
    try {
      if (!upToDate()) await build();
    } finally {
      rmSync(LOCK, { force: true });
    }
  }
}

export interface Run {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string | Uint8Array;
}

/**
 * The environment without anything that would change what is printed; nodes stop at once, since nothing balances them,
 * and servers register names that are nobody's.
 */
function plainEnv(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  const { PATH = '', HOME = '' } = process.env;
  return { PATH, HOME, EDGEPLAN_DRAIN: '0', EDGEPLAN_ALLOW_PRIVATE_NAMES: '1', ...extra };
}

/** Starts `edgeplan` with these arguments and leaves its streams to the caller. */
export function startEdgeplan(args: readonly string[], options: RunOptions): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [MAIN, ...args], { cwd: options.cwd, env: plainEnv(options.env) });
}

/** Runs `edgeplan` with these arguments. */
export async function edgeplan(args: readonly string[], options: RunOptions): Promise<Run> {
  const { cwd, env = {}, input = '' } = options;
  if (!FULL && isHosted(args, env)) return runHosted({ args, cwd, env: plainEnv(env), input });
  return collect(startEdgeplan(args, options), options.input);
}

/** Runs a shell line in which `$EDGEPLAN` is the command. */
export async function shell(line: string, options: RunOptions): Promise<Run> {
  const env = plainEnv({ ...options.env, EDGEPLAN: `${process.execPath} ${MAIN}` });
  const child = spawn('sh', ['-c', line], { cwd: options.cwd, env });
  return collect(child, options.input);
}

function collect(
  child: ChildProcessWithoutNullStreams,
  input: string | Uint8Array | undefined,
): Promise<Run> {
  return new Promise((resolve, reject) => {
    let out = '';
    let err = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      err += text;
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, out, err }));
    // A command that ends before it has read its input closes the pipe; that is no failure of the test.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input ?? '');
  });
}
