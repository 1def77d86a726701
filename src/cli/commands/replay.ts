/** `edgeplan replay`: reports which logged decisions would change under other rules. */
import { Command, Option } from 'commander';
import type { Evaluator } from '../../evaluator/index.ts';
import { fixedEvaluator } from '../../simulator/simulate.ts';
import { nothingCompared, printGaps, replayNote, replayText } from '../decision-log/print-replay.ts';
import { readLog } from '../decision-log/read-log.ts';
import { createReplay, replayDocument } from '../decision-log/replay.ts';
import { EXIT, usageFault } from '../exit.ts';
import { type ChoiceFlags, signaturesFor } from '../input/choose-signatures.ts';
import { openSubject } from '../input/open-subject.ts';
import { colourOption, fileOption, gather, readNodeId, signatureOptions } from '../options.ts';
import { note, write, writeDocument } from '../output.ts';

/** The options of the command, as commander parses them. */
interface Flags extends ChoiceFlags {
  /** Decision logs to replay. */
  readonly log: readonly string[];
  /** The path of the rules; `-` is stdin. */
  readonly file: string;
  /** A sealed plan, in place of `file`. */
  readonly plan?: string;
  /** The id of the edge node, for geo pools. */
  readonly nodeId?: number;
  /** Prints JSON. */
  readonly json?: boolean;
}

/** Replays the logs and prints the report; exit code 1 when a decision changes. */
async function run(flags: Flags): Promise<void> {
  const file = flags.plan ?? flags.file;
  if (file === '-' && flags.log.includes('-')) throw usageFault('the rules and the log cannot both be stdin');
  const { subject: bare } = await openSubject(file, flags.color);
  const signatures = await signaturesFor(bare.bytes, flags);
  const subject = { ...bare, signatures };
  // The health of origins is not in the log: all count as up.
  const world = { down: [], nodeId: flags.nodeId ?? null, now: Date.now(), nowGiven: false };
  const open = (): Evaluator => fixedEvaluator(subject, world);
  const replay = createReplay(open);
  for (const log of flags.log) {
    for await (const entries of readLog(log)) for (const entry of entries) replay.add(entry);
  }
  const report = replay.report();
  // Gaps are printed first, since they are the likely reason.
  if (report.compared === 0) {
    printGaps(report);
    throw nothingCompared(report, open().domain);
  }
  if (flags.json === true) {
    const { name, digest } = subject;
    const used = signatures === null ? null : { name: signatures.name, digest: signatures.digest };
    const plan = { digest, domain: open().domain, source: name };
    await writeDocument('replay', { plan, signatures: used, ...replayDocument(report) });
  } else await write(replayText(report, subject.name));
  note(replayNote(signatures?.name ?? null));
  printGaps(report);
  if (report.changed > 0) process.exitCode = EXIT.no;
}

/** Creates the command. */
export function replayCommand(): Command {
  const command = new Command('replay')
    .summary('which logged decisions would change under these rules')
    .description(
      'Evaluates the requests of a decision log with an edge file or a sealed plan and shows which decisions would ' +
        'change. Exits with 1 when any would.',
    )
    .addOption(logOption())
    .addOption(fileOption())
    .option('--plan <path>', 'a sealed plan, in place of --file')
    .addOption(
      new Option('--node-id <id>', 'the edge node that answers')
        .argParser(readNodeId)
        .env('EDGEPLAN_NODE_ID'),
    );
  return signatureOptions(command)
    .option('--json', 'the report as JSON (edgeplan.replay/v1)')
    .addOption(colourOption())
    .action(run);
}

/** `--log`: the decision logs to read. */
function logOption(): Option {
  return new Option('--log <path>', 'a decision log of the node, - is stdin; may be repeated')
    .argParser(gather)
    .makeOptionMandatory();
}
