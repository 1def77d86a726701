/**
 * Stops the processes of an agent by SIGSTOP, and lets them continue by SIGCONT, however this process ends. In: their ids. Out: the
 * two calls for a check. SIGKILL of this process is the one end after which they stay stopped: `kill -CONT <pid>`.
 */
import type { AgentPause } from '../workbench/door-check/agent-absent.ts';
import { usageFault } from './exit.ts';

/** Signals that end this process by default. */
const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** @throws CommandFault for an id of no process, of another user's, or of this one */
export function pauseOf(pids: readonly number[]): AgentPause {
  for (const pid of pids) checkPid(pid);
  const resume = (): void => {
    for (const pid of pids) signal(pid, 'SIGCONT');
  };
  const end = (name: NodeJS.Signals): void => {
    resume();
    // The listener is gone by then, so that the signal has its usual effect.
    process.kill(process.pid, name);
  };
  return {
    stop() {
      process.once('exit', resume);
      for (const name of ENDING) process.once(name, end);
      for (const pid of pids) process.kill(pid, 'SIGSTOP');
    },
    resume() {
      resume();
      process.off('exit', resume);
      for (const name of ENDING) process.off(name, end);
    },
  };
}

const REMEDY = 'the line `process` that `edgeplan agent` prints at its start has its id';

function checkPid(pid: number): void {
  if (pid === process.pid) throw usageFault(`--agent-pid ${pid} is this check itself`, REMEDY);
  try {
    process.kill(pid, 0);
  } catch (error) {
    const isOther = (error as NodeJS.ErrnoException).code === 'EPERM';
    throw usageFault(
      isOther
        ? `--agent-pid: the process ${pid} belongs to another user`
        : `--agent-pid: no process has the id ${pid}`,
      isOther ? 'run the check as the user of the agent' : REMEDY,
    );
  }
}

/** Sends a signal to a process that may have ended meanwhile. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
