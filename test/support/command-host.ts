/**
 * Commands without a process of their own each: loading its modules takes a process of the command line ten times as long
 * as most commands take.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const CHILD = fileURLToPath(new URL('./command-host-child.mjs', import.meta.url));
/** Hosts that wait for a command; those of commands that ran side by side end beyond this number. */
const MOST_IDLE = 2;
/** Commands that run until a signal, own a data folder, or report about processes. */
const OF_PROCESSES = new Set(['agent', 'backup', 'doctor', 'node', 'play', 'restore', 'serve', 'try']);
/** Options of other commands that run until a signal. */
const ENDLESS = new Set(['--watch', '-w', '--follow']);

/** A command: arguments, working folder, whole environment, and all of its stdin. */
interface HostedCommand {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly input: string | Uint8Array;
}

/** How it ended and what it printed. */
interface HostedRun {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const idle: ChildProcess[] = [];

/** Whether a process of its own would make no difference to what a command prints. @param own variables given by a test */
export function isHosted(args: readonly string[], own: Readonly<Record<string, string>>): boolean {
  return (
    !args.some((word) => OF_PROCESSES.has(word) || ENDLESS.has(word)) &&
    // Other variables are the runtime's or a library's, which may read them as they load.
    Object.keys(own).every((name) => name.startsWith('EDGEPLAN_'))
  );
}

function startHost(): ChildProcess {
  const host = fork(CHILD, { serialization: 'advanced', execArgv: [], env: {} });
  host.unref();
  return host;
}

/** Runs a command in a host. @throws if the host ends, as by an error that nothing catches */
export async function runHosted(command: HostedCommand): Promise<HostedRun> {
  const host = idle.pop() ?? startHost();
  host.ref();
  host.channel!.ref();
  const ran = await new Promise<HostedRun>((resolve, reject) => {
    const ended = (code: number | null, signal: string | null): void =>
      reject(new Error(`edgeplan ${command.args.join(' ')}: the host ended with ${code ?? signal}`));
    host.once('exit', ended);
    host.once('message', (message) => {
      host.off('exit', ended);
      resolve(message as HostedRun);
    });
    host.send(command, (error) => error && reject(error));
  });
  host.unref();
  host.channel!.unref();
  if (idle.length < MOST_IDLE) idle.push(host);
  else host.disconnect();
  return ran;
}
