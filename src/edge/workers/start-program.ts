/** Starts the worker program as a child process with an IPC channel. */
import { type ChildProcess, fork } from 'node:child_process';
import { faultOf, type StartFault } from './messages.ts';

/** A Node program. */
export interface WorkerProgram {
  /** Path of its entry module. */
  readonly file: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Starts the process. @returns the process, or the fault: Node throws some faults (no memory) and emits others
 * as `error`
 * @param piped whether this process reads its stdout; otherwise it shares this process's stdout
 */
export function startProgram(
  { file, args, env }: WorkerProgram,
  { piped }: { readonly piped: boolean },
): ChildProcess | StartFault {
  try {
    return fork(file, [...args], { env, stdio: ['ignore', piped ? 'pipe' : 'inherit', 'inherit', 'ipc'] });
  } catch (error) {
    return faultOf(error);
  }
}
