/** Starts `child.ts` and listens to it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';

export interface Child {
  readonly process: ChildProcess;
  /** Every line so far. */
  readonly lines: readonly string[];
  /** Resolves with the first line, past or to come, that begins so; rejects when the process ends without it. */
  line(beginning: string): Promise<string>;
  /** Resolves when the process has ended and its last line has been read. */
  readonly ended: Promise<void>;
}

/** Bundles the child's code. It stands inside the project, so that it finds the packages it needs. */
export async function buildChild(): Promise<{ readonly file: string; remove(): Promise<void> }> {
  const built = new URL('../../../dist', import.meta.url).pathname;
  await mkdir(built, { recursive: true });
  const folder = await mkdtemp(join(built, 'store-child-'));
  const file = join(folder, 'child.mjs');
  await build({
    entryPoints: [new URL('child.ts', import.meta.url).pathname],
    outfile: file,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'warning',
  });
  return { file, remove: () => rm(folder, { recursive: true }) };
}

export function startChild(file: string, args: readonly string[], shell = ''): Child {
  const command = [process.execPath, file, ...args];
  const child =
    shell === ''
      ? spawn(command[0]!, command.slice(1), { stdio: ['pipe', 'pipe', 'inherit'] })
      : spawn('bash', ['-c', `${shell}; exec "$0" "$@"`, ...command], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  let over = false;
  const wake = (): void => {
    for (const look of [...waiting]) look();
  };
  createInterface({ input: child.stdout! }).on('line', (line) => {
    lines.push(line);
    wake();
  });
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => {
      over = true;
      wake();
      resolve();
    });
  });
  return {
    process: child,
    lines,
    ended,
    line: (beginning) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = lines.find((line) => line.startsWith(beginning));
          if (found === undefined && !over) return;
          waiting.delete(look);
          if (found !== undefined) resolve(found);
          else reject(new Error(`the child ended without "${beginning}": ${lines.slice(-5).join(' | ')}`));
        };
        waiting.add(look);
        look();
      }),
  };
}

/** The numbers of the writes a child was told are durable. */
export function acknowledged(child: Child): readonly number[] {
  return child.lines.filter((line) => line.startsWith('ok ')).map((line) => Number(line.slice(3)));
}
