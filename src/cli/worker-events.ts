/** The `--workers` option and the messages about workers on stderr. */
import { availableParallelism } from 'node:os';
import { InvalidArgumentError } from 'commander';
import type { WorkerEvent } from '../edge/workers/messages.ts';
import { MAX_WORKERS } from '../edge/workers/primary.ts';
import { CHECK_MS } from '../edge/workers/worker-process.ts';
import { note } from './output.ts';

/** Reads `auto`, one worker per core, or a number of workers. @throws InvalidArgumentError for anything else */
export function readWorkers(text: string): number {
  if (text === 'auto') return Math.min(availableParallelism(), MAX_WORKERS);
  const workers = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (workers >= 1 && workers <= MAX_WORKERS) return workers;
  throw new InvalidArgumentError(`a number from 1 to ${MAX_WORKERS}, or \`auto\` for one per core.`);
}

interface WorkersFlags {
  readonly workers: number;
  readonly trustProxy?: readonly string[];
  readonly proxyProtocol?: readonly string[];
}

/** Lines about several workers for the start message; none for a single process. */
export function workersLines({ workers, trustProxy, proxyProtocol }: WorkersFlags): readonly string[] {
  if (workers === 1) return [];
  const lines = [`${workers} workers; one client address always meets the same one`];
  if (trustProxy !== undefined || proxyProtocol !== undefined) {
    lines.push(
      `connections of trusted proxies go to the workers in turn, and each worker counts separately: behind proxies a rate limit allows up to ${workers} times as much`,
    );
  }
  return lines;
}

/** Prints a worker event on stderr. */
export function printWorkerEvent(event: WorkerEvent): void {
  note(`edgeplan: worker ${event.index} ${sentenceOf(event)}`);
}

function sentenceOf(event: WorkerEvent): string {
  switch (event.kind) {
    case 'ready':
      return `serves again (pid ${event.pid})`;
    case 'silent':
      return `(pid ${event.pid}) has given no sign of life for ${(event.checks * CHECK_MS) / 1_000} seconds; it is replaced`;
    case 'late':
      return `(pid ${event.pid}) was not ready after ${(event.checks * CHECK_MS) / 1_000} seconds; it is replaced`;
    case 'ended': {
      const when = event.againInMs === 0 ? 'at once' : `in ${event.againInMs / 1_000} seconds`;
      return `ended (${event.how}); another one starts ${when}`;
    }
    case 'refused':
      return `was away or behind for too long; connections refused: ${event.connections}`;
    default:
      return event satisfies never;
  }
}
