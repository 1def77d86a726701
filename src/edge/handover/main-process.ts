/**
 * Whether the end of a process ends its container, and with it every process that has taken over from it. In: facts of the process.
 * Out: a sentence about why it cannot hand over, or `null`.
 */
import { readFileSync } from 'node:fs';

/**
 * Names of programs that as process 1 exit with the program that they have started: inits of container engines (`docker run
 * --init`, `podman run --init`), and shells of entry points. Service managers such as systemd go on.
 */
const ENDS_WITH_CHILD: ReadonlySet<string> = new Set([
  ...['tini', 'tini-static', 'docker-init', 'podman-init', 'catatonit', 'dumb-init'],
  ...['sh', 'ash', 'dash', 'bash', 'busybox'],
]);

/** What is read of a process and of process 1. */
export interface ProcessPlace {
  readonly pid: number;
  readonly ppid: number;
  /** The name of process 1; `null`: unknown. */
  readonly first: string | null;
}

/** This process. */
export function ownPlace(): ProcessPlace {
  return { pid: process.pid, ppid: process.ppid, first: nameOfFirst() };
}

/** Why no other process can take over from this one; `null`: one can. */
export function endsContainer({ pid, ppid, first }: ProcessPlace): string | null {
  const remedy =
    'replace the container instead, one of several behind a load balancer (fixtures/run/README.md, Containers)';
  // The parent of a container's first process is in another process namespace, also where several containers share one.
  if (pid === 1 || ppid === 0)
    return `this is the first process of a container, which ends with it; ${remedy}`;
  if (ppid !== 1 || first === null || !ENDS_WITH_CHILD.has(first)) return null;
  return `process 1, \`${first}\`, ends with this process, and the container with both; ${remedy}`;
}

/** The name that Linux has of process 1; `null`: the system lists no processes. */
function nameOfFirst(): string | null {
  try {
    return readFileSync('/proc/1/comm', 'latin1').trim();
  } catch {
    return null;
  }
}
