/** Troubles with traffic counts: their numbers for metrics, and log lines, at most one a minute for each kind. */
import { REPORT_TROUBLE_MS } from '../limits.ts';
import { errorMessage, type SyncLog } from '../log.ts';

/** What was lost or failed since the start. */
export interface TrafficLosses {
  /** Top lists dropped for a bound; those of a domain and span count as one. */
  droppedTops: number;
  /** Batches that the control plane has refused, that were damaged, or that the disk's bound has cost. */
  droppedBatches: number;
  /** Spans of at most a second whose requests are not counted, since a process was killed. */
  lostSpans: number;
}

/** The troubles of a node. */
export interface TrafficTrouble {
  readonly losses: TrafficLosses;
  /** Why counts are in memory only, as a phrase; `null`: they are on the disk. */
  disk(): string | null;
  /** A write has failed, or has succeeded again. */
  wrote(error: unknown): void;
  dropTops(count: number): void;
}

export interface TroubleOptions {
  readonly log: SyncLog;
  readonly maxTopsOctets: number;
}

/** Starts with no trouble. */
export function createTrouble({ log, maxTopsOctets }: TroubleOptions): TrafficTrouble {
  const losses: TrafficLosses = { droppedTops: 0, droppedBatches: 0, lostSpans: 0 };
  let disk: string | null = null;
  let isReported = false;
  let diskReportedAt = Number.NEGATIVE_INFINITY;
  let unreportedTops = 0;
  let reportedAt = Number.NEGATIVE_INFINITY;
  return {
    losses,
    disk: () => disk,
    wrote(error) {
      disk = error === null ? null : errorMessage(error);
      if (disk === null) {
        if (isReported) log.info({}, 'traffic counts are written to the disk again');
        isReported = false;
        return;
      }
      // Of a disk that is nearly full some writes succeed.
      const now = performance.now();
      if (isReported || now - diskReportedAt < REPORT_TROUBLE_MS) return;
      isReported = true;
      diskReportedAt = now;
      log.error({ err: disk }, 'traffic counts cannot be written to the disk; they are in memory only');
    },
    dropTops(count) {
      if (count === 0) return;
      losses.droppedTops += count;
      unreportedTops += count;
      const now = performance.now();
      if (now - reportedAt < REPORT_TROUBLE_MS) return;
      reportedAt = now;
      const fields = { dropped: unreportedTops, octets: maxTopsOctets };
      unreportedTops = 0;
      log.warn(
        fields,
        `top lists of the domains with the fewest requests are dropped: all take more than ${maxTopsOctets} octets`,
      );
    },
  };
}
