/** The outputs of decisions of a node: its decision log, and the queue of one process for the control plane. */
import { createRequestTable } from '../following/counted-requests.ts';
import type { SyncLog } from '../following/log.ts';
import { type LogQueue, openLogQueue } from '../following/log-queue.ts';
import { makeQueueFolder } from '../following/ship-logs.ts';
import { createDecisionLog, createShippedLog, type DecisionLog, gapText } from '../proxy/log/decision-log.ts';
import { createLineWriter, type LineWriter } from '../proxy/log/line-writer.ts';
import type { RequestLog } from '../proxy/log/request-log.ts';
import type { EdgeNodeOptions, ShippedOptions } from './options.ts';

/** The decision log of a node of one process; `null`: the node has none. */
export function openDecisionLog({ decisions, log }: EdgeNodeOptions): DecisionLog | null {
  if (decisions === null) return null;
  return createDecisionLog({ ...outputOf(decisions, log), rate: decisions.rate });
}

/** The writer for lines that workers format; `null`: the node has no decision log. */
export function openLineWriter({ decisions, log }: EdgeNodeOptions): LineWriter | null {
  return decisions === null ? null : createLineWriter({ ...outputOf(decisions, log), gap: gapText });
}

function outputOf({ file }: NonNullable<EdgeNodeOptions['decisions']>, log: EdgeNodeOptions['log']) {
  return {
    file: file === '-' ? null : file,
    onFault: (error: unknown): void => log.warn({ err: error }, 'the decision log cannot be written'),
  };
}

/** Queues decisions until it is closed. */
export interface ShippedDecisions extends RequestLog {
  /** Lines that are not shipped, since the start. */
  dropped(): number;
  /** Requests that are shipped as numbers in place of lines, since the start. */
  counted(): number;
  /**
   * Writes what is in memory to the queue on the disk, and goes on under a number of its own: the next process of the node uses
   * that of this one, and ships the files of both.
   */
  release(): Promise<void>;
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

/** Numbers of queues of processes that drain begin here: above those of workers. */
const FIRST_DRAINING = 1_000;

/** Opens the queue. @throws the system's error when its folder cannot be created */
export function openShippedDecisions(options: ShippedDecisionsOptions): ShippedDecisions {
  const { data, shipped, processes, log } = options;
  const share = 1 / processes;
  const counted = createRequestTable(share);
  const open = (number: number): LogQueue =>
    openLogQueue({ folder: makeQueueFolder(data), process: number, share, log, counted });
  let queue = open(options.process);
  /** Lines that earlier queues of this process have dropped. */
  let dropped = 0;
  const current: LogQueue = {
    full: (domain) => queue.full(domain),
    add: (domain, line) => queue.add(domain, line),
    drop: (domain) => queue.drop(domain),
    dropped: () => dropped + queue.dropped(),
    close: () => queue.close(),
  };
  const { done } = createShippedLog({ ...shipped, queue: current, counted, share });
  return {
    done,
    dropped: current.dropped,
    counted: counted.requests,
    close: current.close,
    async release() {
      const before = queue;
      queue = open(FIRST_DRAINING + process.pid);
      await before.close();
      dropped += before.dropped();
    },
  };
}
