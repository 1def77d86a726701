/** The program that workers run, started as a process. */
import { type ChildProcess, fork } from 'node:child_process';
import { type BeginFault, faultOf } from './messages.ts';

export interface WorkerProgram {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/**
 * A process, or what the system lacks for one: Node throws some of it, memory above all, and tells the rest as `error`.
 * @param piped whether its stdout is read here; otherwise it has this process's own
 */
export function startProgram(
  { file, args, env }: WorkerProgram,
  { piped }: { readonly piped: boolean },
): ChildProcess | BeginFault {
  try {
    return fork(file, [...args], { env, stdio: ['ignore', piped ? 'pipe' : 'inherit', 'inherit', 'ipc'] });
  } catch (error) {
    return faultOf(error);
  }
}
