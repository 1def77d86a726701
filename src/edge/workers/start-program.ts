/** The worker program: its start as a child process with an IPC channel, and the lines of its stdout pipe. */
import { type ChildProcess, fork } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { LineWriter } from '../proxy/log/line-writer.ts';
import { faultOf, type StartFault } from './messages.ts';

/** Milliseconds until lines that the full log refused are tried again. */
const FULL_MS = 20;

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

/**
 * Reads a worker's lines until it ends. While the log is full nothing is read, so that the worker's own buffer limits apply
 * and the worker logs how many lines are missing. An unfinished last line is dropped and counted.
 */
export async function collectLines(from: Readable, log: LineWriter): Promise<void> {
  let rest = '';
  from.setEncoding('utf8');
  for await (const text of from as AsyncIterable<string>) {
    const lines = text.split('\n');
    lines[0] = rest + lines[0];
    rest = lines.pop()!;
    for (const line of lines) {
      while (log.full()) await new Promise((resolve) => setTimeout(resolve, FULL_MS).unref());
      log.add(line);
    }
  }
  if (rest !== '') log.drop();
}
