/** The decisions that one process of a node queues for the control plane. */

import { createRequestTable } from '../following/counted-requests.ts';
import type { SyncLog } from '../following/log.ts';
import { openLogQueue } from '../following/log-queue.ts';
import { makeQueueFolder } from '../following/ship-logs.ts';
import type { RequestLog } from '../proxy/log/request-log.ts';
import { createShippedLog } from '../proxy/log/shipped-log.ts';
import type { ShippedOptions } from './options.ts';

/** Queues decisions until it is closed. */
export interface ShippedDecisions extends RequestLog {
  /** Lines that are not shipped, since the start. */
  dropped(): number;
  /** Requests that are shipped as numbers in place of lines, since the start. */
  counted(): number;
  /** Writes what is in memory to the queue on the disk, and ends. */
  close(): Promise<void>;
}

export interface ShippedDecisionsOptions {
  /** The node's own folder. */
  readonly data: string;
  readonly shipped: ShippedOptions;
  /** The number of this process among those that serve, and their number. */
  readonly process: number;
  readonly processes: number;
  readonly log: SyncLog;
}

/** Opens the queue. @throws the system's error when its folder cannot be created */
export function openShippedDecisions(options: ShippedDecisionsOptions): ShippedDecisions {
  const { data, shipped, process, processes, log } = options;
  const share = 1 / processes;
  const counted = createRequestTable(share);
  const queue = openLogQueue({ folder: makeQueueFolder(data), process, share, log, counted });
  const { done } = createShippedLog({ ...shipped, queue, counted, share });
  return { done, dropped: queue.dropped, counted: counted.requests, close: queue.close };
}
