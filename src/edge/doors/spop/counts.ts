/** What a SPOP door counts, and the sentences it logs, each at most once a minute. */
import type { ArgumentFault, ArgumentName } from './arguments.ts';
import type { SpopStatus } from './codec.ts';
import { REPORT_MS } from './limits.ts';

/** Numbers of a SPOP door since its start. */
export interface SpopCounts {
  /** Connections that were accepted. */
  readonly connections: number;
  /** Connections that are open now. */
  readonly open: number;
  /** Connections refused beyond the limit. */
  readonly refusedConnections: number;
  /** Handshakes of `option spop-check`. */
  readonly healthChecks: number;
  /** Requests that were decided. */
  readonly decisions: number;
  /** Decisions that are awaited now. */
  readonly pending: number;
  /** Decisions that failed: bugs of ours. */
  readonly faults: number;
  /** ACKs longer than the frames that HAProxy takes, sent as faults. */
  readonly longAnswers: number;
  /** Requests that were not decided, by the argument and what is wrong with it: `port missing`. */
  readonly arguments: Readonly<Record<string, number>>;
  /** Connections that ended by an error of the protocol, by its name. */
  readonly protocolErrors: Readonly<Partial<Record<SpopStatus, number>>>;
}

/** The counters of a door. */
export interface SpopTally {
  connections: number;
  open: number;
  refusedConnections: number;
  healthChecks: number;
  decisions: number;
  pending: number;
  faults: number;
  longAnswers: number;
  /** Counts arguments that make no request, and logs them. */
  badArguments(fault: ArgumentFault): void;
  /** Counts a connection that ended by an error of the protocol, and logs it. */
  protocolError(status: SpopStatus, message: string): void;
  /** Logs a sentence, at most once a minute for each subject; subjects are a closed list. */
  report(subject: string, sentence: string): void;
  counts(): SpopCounts;
}

/** Creates counters at 0. */
export function createSpopTally(
  log: (sentence: string) => void,
  clock: () => number = () => performance.now(),
): SpopTally {
  const badArguments = new Map<string, number>();
  const errors = new Map<SpopStatus, number>();
  const reportedAt = new Map<string, number>();

  function report(subject: string, sentence: string): void {
    const now = clock();
    if (now - (reportedAt.get(subject) ?? Number.NEGATIVE_INFINITY) < REPORT_MS) return;
    reportedAt.set(subject, now);
    log(`SPOP: ${sentence} (reported at most once a minute)`);
  }

  return {
    connections: 0,
    open: 0,
    refusedConnections: 0,
    healthChecks: 0,
    decisions: 0,
    pending: 0,
    faults: 0,
    longAnswers: 0,
    badArguments({ argument, fault }) {
      const reason = `${argument} ${fault}`;
      badArguments.set(reason, (badArguments.get(reason) ?? 0) + 1);
      report(reason, `a request was not decided: ${badArgumentText(argument, fault)}`);
    },
    protocolError(status, message) {
      errors.set(status, (errors.get(status) ?? 0) + 1);
      report(status, `a connection was closed: ${message}`);
    },
    report,
    counts() {
      const { connections, open, refusedConnections, healthChecks, decisions, pending, faults, longAnswers } =
        this;
      return {
        ...{ connections, open, refusedConnections, healthChecks, decisions, pending, faults, longAnswers },
        arguments: Object.fromEntries(badArguments),
        protocolErrors: Object.fromEntries(errors),
      };
    },
  };
}

/** What is wrong with an argument, and where it is set. */
function badArgumentText(argument: ArgumentName, fault: ArgumentFault['fault']): string {
  const remedy = 'compare `args` of the SPOE configuration with `fixtures/proxies/spoe.cfg`';
  const what = { missing: 'is missing', 'wrong type': 'has a wrong type', 'sent twice': 'was sent twice' };
  return `the argument \`${argument}\` ${what[fault]}; ${remedy}`;
}
