/**
 * Starts an edge node in a folder of its own, as one process or as a primary with workers. In: plain options. Out: the
 * running node and the way to stop it; signals and printing are the caller's.
 */
import { takeFolder } from '../../base/storage/sqlite.ts';
import type { EdgeNodeOptions, RunningNode } from './options.ts';

/**
 * Locks the folder and starts the node; it serves when this resolves. An edge file must be servable then; a control plane
 * may be unreachable, the plans on disk are served.
 * @throws StoreFault when another process has the folder; the system's errors for ports, files and folders; WorkerFault
 * when a worker ends during the start; TrustFault when the configured key and the stored one differ
 */
export async function startNode(options: EdgeNodeOptions): Promise<RunningNode> {
  let unlock = takeFolder(options.data);
  /** Once, as the next lock of the folder may be another process's. */
  const release = (): void => {
    unlock();
    unlock = () => undefined;
  };
  const running = await startProcesses(options);
  return {
    ...running,
    async release(report) {
      const state = await running.release(report);
      release();
      return state;
    },
    async reclaim() {
      unlock = takeFolder(options.data);
      await running.reclaim();
    },
    async stop(drainMs) {
      await running.stop(drainMs);
      release();
    },
  };
}

/** Each variant is loaded when it is needed: a primary uses little of what serves requests. */
async function startProcesses(options: EdgeNodeOptions): Promise<RunningNode> {
  if (options.workers === 1) return (await import('./start-single-process.ts')).startSingleProcess(options);
  return (await import('./start-workers.ts')).startWorkers(options);
}
