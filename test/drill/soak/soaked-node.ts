/** A node as a process of its own that tells what it holds: `collect.mjs` is loaded into it. */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { startEdgeplan } from '../../support/built.ts';
import { until } from '../../support/until.ts';
import type { Ports } from './traffic.ts';

const COLLECT = fileURLToPath(new URL('./collect.mjs', import.meta.url));

/** Octets, and how many resources and files are open. */
export interface Left {
  readonly held: number;
  readonly rss: number;
  readonly resources: number;
  readonly files: number;
}

export interface SoakedNode extends Ports {
  readonly child: ChildProcessWithoutNullStreams;
  /** What the node holds after a collection. */
  left(): Promise<Left>;
  /** What it said on its standard error. */
  readonly said: string[];
}

export interface SoakedNodeOptions {
  /** Certificates lie in its `certs`. */
  readonly folder: string;
  readonly file: string;
  readonly args: readonly string[];
}

export async function startSoakedNode(options: SoakedNodeOptions): Promise<SoakedNode> {
  const { folder, file } = options;
  const args = ['node', '--file', file, '--data', join(folder, 'data'), '--port', '0', '--tls-port', '0'];
  const child = startEdgeplan(
    [...args, '--certificates', join(folder, 'certs'), '--cache-memory', '8', ...options.args],
    { cwd: folder, env: { NODE_OPTIONS: `--expose-gc --import ${COLLECT}` } },
  );
  const said: string[] = [];
  const waiting: ((left: Left) => void)[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (line.startsWith('@left ')) waiting.shift()?.(JSON.parse(line.slice(6)));
    else if (!line.includes(' is served ') && !line.startsWith('origins may have')) said.push(line);
  });
  let out = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  await until(() => out.includes('plans from'), 'the node serves', 60_000);
  const port = (scheme: string): number => Number(new RegExp(`${scheme}://[^:]+:(\\d+)`).exec(out)?.[1]);
  return {
    child,
    said,
    http: port('http'),
    tls: port('https'),
    left: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
        // Not SIGUSR2: the node upgrades at it.
        child.kill('SIGWINCH');
      }),
  };
}
