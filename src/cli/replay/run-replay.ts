/**
 * Runs a replay whose logs are open: compares decisions with those logged, evaluates requests with one rule set or two, or
 * compares statuses. Prints the report and sets the exit code.
 */
import { loggedDecision } from '../../edge/proxy/log/line.ts';
import { redactTarget } from '../../edge/proxy/log/redact.ts';
import type { Evaluator } from '../../engine/evaluator/index.ts';
import type { AccessEntry } from '../../workbench/access-logs/entry.ts';
import { type LackedFact, lackedFacts, withholdableReads } from '../../workbench/replay/dependencies.ts';
import { createRequestReplay } from '../../workbench/replay/replay-requests.ts';
import { createStatusReplay } from '../../workbench/replay/status-replay.ts';
import { fixedEvaluator, type SimulationSubject } from '../../workbench/simulation/simulate.ts';
import { type OpenedSubject, openSubject } from '../input/open-subject.ts';
import { type ChoiceFlags, signaturesFor } from '../open-signatures.ts';
import { note, write, writeDocument } from '../output.ts';
import type { OpenedLog } from './open-logs.ts';
import {
  nothingReplayed,
  type PrintedReplay,
  printLate,
  printLogGaps,
  replayExit,
  requestsDocument,
  requestsText,
} from './print-requests.ts';
import { noStatus, type PrintedStatuses, statusesDocument, statusesText } from './print-statuses.ts';
import type { ReplayProgress } from './progress.ts';
import {
  createReplay,
  nothingCompared,
  printGaps,
  replayDocument,
  replayNote,
  replayText,
} from './replay.ts';
import {
  type LogDefaults,
  openAddressFacts,
  type ReadLogs,
  readerContext,
  takeDecisions,
  takeRequests,
} from './replay-logs.ts';

/** The flags that a running replay reads, and its progress. */
export interface RunningFlags extends ChoiceFlags {
  /** Facts that lines lack. */
  readonly host?: string;
  readonly scheme: 'http' | 'https';
  readonly capture?: readonly string[];
  readonly countries?: string;
  readonly asns?: string;
  /** Compares refusals without their statuses. */
  readonly anyRefusal?: boolean;
  /** Prints JSON. */
  readonly json?: boolean;
  readonly progress: ReplayProgress;
}

/** Rules with the signatures that they inspect with. */
interface ReplayRules {
  readonly opened: OpenedSubject['opened'];
  readonly subject: SimulationSubject;
  readonly open: () => Evaluator;
}

/** Opened logs with the counters of reading them. */
interface Reading {
  readonly logs: readonly OpenedLog[];
  readonly read: ReadLogs;
}

/** Opens rules and the signatures of their waf rules. `nodeId`: the node that answers, for geo pools. */
export async function openRules(
  file: string,
  flags: ChoiceFlags & { readonly nodeId?: number },
): Promise<ReplayRules> {
  const { subject: bare, opened } = await openSubject(file, flags.color);
  const subject = { ...bare, signatures: await signaturesFor(bare.bytes, flags) };
  // The health of origins is not in the log: all count as up.
  const world = { down: [], nodeId: flags.nodeId ?? null, now: Date.now(), nowGiven: false };
  return { opened, subject, open: () => fixedEvaluator(subject, world) };
}

/** Compares the decisions of decision logs with those of the rules. */
export async function replayDecisions(
  { logs, read }: Reading,
  rules: ReplayRules,
  flags: RunningFlags,
): Promise<void> {
  const { subject, open, opened } = rules;
  const replay = createReplay(open, { reads: withholdableReads(opened) });
  await takeDecisions(logs, read, replay.add).finally(flags.progress.clear);
  const report = replay.report();
  // Gaps are printed first, since they are the likely reason.
  if (report.compared === 0) {
    printGaps(report);
    throw nothingCompared(report, open().domain);
  }
  if (flags.json === true) {
    await writeDocument('replay', { ...aboutRules(rules), ...replayDocument(report), late: read.late });
  } else await write(replayText(report, subject.name));
  flags.progress.report();
  note(replayNote(subject.signatures?.name ?? null));
  printLate(read.late);
  printGaps(report);
  const { lines } = read.tally;
  process.exitCode = replayExit({ lines, unreadable: report.unreadable.count }, report.changed);
}

/** Two rule sets, or one. */
interface Sides {
  readonly before: ReplayRules | null;
  readonly after: ReplayRules;
}

/** Evaluates the requests of logs of any format with one rule set or two. */
export async function replayRequests(reading: Reading, sides: Sides, flags: RunningFlags): Promise<void> {
  const { before, after } = sides;
  const replay = createRequestReplay({
    before: before === null ? null : before.open,
    after: after.open,
    summarise: loggedDecision,
    redact: redactTarget,
  });
  const { report, lacks } = await finished(replay, { reading, sides, flags });
  const { read } = reading;
  const names = { before: before?.subject.name ?? null, after: after.subject.name };
  const printed: PrintedReplay = { report, read, lacks, names };
  if (flags.json === true) {
    const older = before === null ? null : aboutRules(before).plan;
    await writeDocument('replay', { ...aboutRules(after), before: older, ...requestsDocument(printed) });
  } else await write(requestsText(printed));
  flags.progress.report();
  printLogGaps(printed);
  process.exitCode = replayExit(read.tally, report.changed);
}

/** Compares the statuses of logs of any format with what the rules decide. */
export async function compareStatuses(
  reading: Reading,
  rules: ReplayRules,
  flags: RunningFlags,
): Promise<void> {
  const { logs, read } = reading;
  const replay = createStatusReplay({
    open: rules.open,
    anyRefusal: flags.anyRefusal === true,
    redact: redactTarget,
  });
  const sides = { before: null, after: rules };
  const { report, lacks } = await finished(replay, { reading, sides, flags });
  if (report.groups.every(({ reason }) => reason === 'no_status')) throw noStatus(logs);
  const printed: PrintedStatuses = { report, read, lacks, logs, name: rules.subject.name };
  if (flags.json === true)
    await writeDocument('replay', { ...aboutRules(rules), before: null, ...statusesDocument(printed) });
  else await write(statusesText(printed));
  flags.progress.report();
  printLogGaps(printed);
  process.exitCode = replayExit(read.tally, report.changed);
}

/** A replay that takes requests. */
interface Taking<Report> {
  add(entry: AccessEntry): void;
  report(): Report;
}

/** What a replay reads. */
interface Input {
  readonly reading: Reading;
  readonly sides: Sides;
  readonly flags: RunningFlags;
}

/** Reads all logs. @throws CommandFault when none of their requests is evaluated */
async function finished<Report extends { readonly compared: number; readonly otherHosts: number }>(
  replay: Taking<Report>,
  { reading: { logs, read }, sides: { before, after }, flags }: Input,
): Promise<{ readonly report: Report; readonly lacks: readonly LackedFact[] }> {
  const rules = after.open();
  const context = readerContext(await defaultsOf(flags), read, rules);
  await takeRequests(logs, { read, context }, replay.add).finally(flags.progress.clear);
  const report = replay.report();
  if (report.compared === 0) throw nothingReplayed({ report, read }, rules.domain);
  const { requests, lacks, host } = read;
  const plans = [...(before === null ? [] : [before.opened]), after.opened];
  return { report, lacks: lackedFacts(plans, { requests, lacks, host, scheme: flags.scheme }) };
}

/** What lines lack, as the flags say. */
async function defaultsOf({ host, scheme, capture = [], ...files }: RunningFlags): Promise<LogDefaults> {
  return { host, scheme, captures: capture, ...(await openAddressFacts(files)) };
}

/** The plan and the signatures of a report. */
function aboutRules(rules: ReplayRules): { readonly plan: object; readonly signatures: object | null } {
  const { name, digest, signatures } = rules.subject;
  const used = signatures ? { name: signatures.name, digest: signatures.digest } : null;
  return { plan: { digest, domain: rules.open().domain, source: name }, signatures: used };
}
