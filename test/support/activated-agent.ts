/** `edgeplan agent` with listening sockets of this process, as systemd passes them (sd_listen_fds(3)). */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { handleOf } from '../../src/edge/handover/sockets.ts';
import { until } from './until.ts';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** A listening socket to pass. */
export interface PassedSocket {
  /** As a door prints it. */
  readonly address: string;
  readonly fd: number;
  readonly server: Server;
}

/** A listening server of this process. @param path of a unix socket; `null`: TCP */
export async function passSocket(path: string | null): Promise<PassedSocket> {
  const server = path === null ? createServer().listen(0, '127.0.0.1') : createServer().listen(path);
  await once(server, 'listening');
  const { fd } = handleOf(server) as { readonly fd: number };
  const address =
    path === null ? `tcp://127.0.0.1:${(server.address() as AddressInfo).port}` : `unix:${path}`;
  return { address, fd, server };
}

/** What an agent starts with besides its arguments. */
export interface Activation {
  /** The working folder; the agent's data are below it. */
  readonly folder: string;
  /** The edge file. */
  readonly file: string;
  readonly fds: readonly number[];
  /** `LISTEN_FDNAMES`. */
  readonly names: string;
}

/** A started agent; one that could not start has ended. */
export interface ActivatedAgent {
  readonly child: ChildProcess;
  /** What it has printed. */
  text(): string;
  end(): Promise<void>;
}

/** Starts an agent with descriptors from 3 on. `exec` leaves the shell's process id to the agent, which LISTEN_PID names. */
export async function startActivatedAgent(
  { folder, file, fds, names }: Activation,
  args: readonly string[] = [],
): Promise<ActivatedAgent> {
  const data = mkdtempSync(join(folder, 'data-'));
  const line = `LISTEN_FDNAMES=$NAMES LISTEN_FDS=${fds.length} LISTEN_PID=$$ exec "$@"`;
  const command = [process.execPath, MAIN, 'agent', '--file', file, '--data', data, '--drain', '0', ...args];
  const child = spawn('sh', ['-c', line, 'sh', ...command], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', HOME: folder, NAMES: names },
    stdio: ['ignore', 'pipe', 'pipe', ...fds],
  });
  let text = '';
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
  }
  const ended = once(child, 'close');
  await until(() => /^process \d+$/m.test(text) || child.exitCode !== null, 'the agent', 60_000);
  if (child.exitCode !== null) await ended;
  return {
    child,
    text: () => text,
    async end() {
      if (child.exitCode === null && child.kill('SIGKILL')) await ended;
    },
  };
}
