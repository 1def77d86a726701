/** What became of plans, told to the control plane in batches until it has heard. Of each name only the last word counts. */
import { pause, retryMs } from '../platform/backoff.ts';
import { type ControlPlaneClient, ControlPlaneFault } from './control-plane.ts';
import {
  FIRST_RETRY_MS,
  FLUSH_ON_STOP_MS,
  LAST_RETRY_MS,
  MAX_REASON,
  REPORT_MS,
  REPORTS_AT_ONCE,
} from './limits.ts';
import { errorMessage, type SyncLog } from './log.ts';

export interface PlanReport {
  readonly domain: string;
  readonly revision: number;
  readonly outcome: 'ack' | 'nack';
  /** Why not, in a sentence; empty for an ack. */
  readonly reason: string;
}

export interface Reports {
  add(report: PlanReport): void;
  /** Names whose last word the control plane has not heard. */
  queued(): number;
  /** Sends what waits, if the control plane is there, and ends. */
  stop(): Promise<void>;
}

export function createReports(control: Pick<ControlPlaneClient, 'report'>, log: SyncLog): Reports {
  const waiting = new Map<string, PlanReport>();
  const ending = new AbortController();
  let sending: Promise<void> | null = null;

  async function send(): Promise<void> {
    let failures = 0;
    let atOnce = REPORTS_AT_ONCE;
    await pause(REPORT_MS, ending.signal);
    while (waiting.size > 0) {
      const batch = [...waiting.values()].slice(0, atOnce);
      try {
        await control.report({ reports: batch });
        failures = 0;
        atOnce = Math.min(2 * atOnce, REPORTS_AT_ONCE);
      } catch (error) {
        if (ending.signal.aborted) return;
        if (!(error instanceof ControlPlaneFault && error.code === 'answer')) {
          await pause(retryMs(failures++, { first: FIRST_RETRY_MS, last: LAST_RETRY_MS }), ending.signal);
          continue;
        }
        // One that is refused takes the others along: the half without it is taken.
        if (batch.length > 1) {
          atOnce = batch.length >> 1;
          continue;
        }
        // It would be refused again, and nothing depends on it.
        log.error(
          { err: errorMessage(error), domain: batch[0]!.domain, revision: batch[0]!.revision },
          'the control plane does not take this report',
        );
      }
      for (const report of batch) if (waiting.get(report.domain) === report) waiting.delete(report.domain);
    }
  }

  return {
    add(report) {
      const reason = report.reason.toWellFormed().replaceAll('\0', ' ').slice(0, MAX_REASON).toWellFormed();
      // Behind what is on its way, so that a batch that is refused cannot take it along.
      waiting.delete(report.domain);
      waiting.set(report.domain, { ...report, reason });
      if (ending.signal.aborted) return;
      sending ??= send().finally(() => {
        sending = null;
      });
    },
    queued: () => waiting.size,
    async stop() {
      ending.abort();
      const sent = new AbortController();
      const all = sending?.then(() => sent.abort()) ?? null;
      if (all !== null) await Promise.race([all, pause(FLUSH_ON_STOP_MS, sent.signal)]);
    },
  };
}
