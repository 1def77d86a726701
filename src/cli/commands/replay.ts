/** `edgeplan replay`: which decisions of the past would be others under these rules. */
import { Command, Option } from 'commander';
import type { Evaluator } from '../../evaluator/index.ts';
import { fixedEvaluator } from '../../simulator/simulate.ts';
import { nothingCompared, printGaps, replayNote, replayText } from '../decision-log/print-replay.ts';
import { readLog } from '../decision-log/read-log.ts';
import { createReplay } from '../decision-log/replay.ts';
import { EXIT, usageFault } from '../exit.ts';
import { type ChoiceFlags, signaturesFor } from '../input/choose-signatures.ts';
import { openSubject } from '../input/open-subject.ts';
import { colourOption, fileOption, gather, readNodeId, signatureOptions } from '../options.ts';
import { note, write } from '../output.ts';

interface Flags extends ChoiceFlags {
  readonly log: readonly string[];
  readonly file: string;
  readonly plan?: string;
  readonly nodeId?: number;
  readonly json?: boolean;
}

async function run(flags: Flags): Promise<void> {
  const file = flags.plan ?? flags.file;
  if (file === '-' && flags.log.includes('-')) throw usageFault('the rules and the log cannot both be stdin');
  const { subject: bare } = await openSubject(file, flags.color);
  const signatures = await signaturesFor(bare.bytes, flags);
  const subject = { ...bare, signatures };
  const world = { down: [], nodeId: flags.nodeId ?? null, now: Date.now(), nowGiven: false };
  const open = (): Evaluator => fixedEvaluator(subject, world);
  const replay = createReplay(open);
  for (const log of flags.log) {
    for await (const entries of readLog(log)) for (const entry of entries) replay.add(entry);
  }
  const report = replay.report();
  if (report.compared === 0) {
    printGaps(report);
    throw nothingCompared(report, open().domain);
  }
  if (flags.json === true) await write(`${JSON.stringify(report, null, 2)}\n`);
  else await write(replayText(report, subject.name));
  note(replayNote(signatures?.name ?? null));
  printGaps(report);
  if (report.changed > 0) process.exitCode = EXIT.no;
}

/** The command, to be added to a program. */
export function replayCommand(): Command {
  const command = new Command('replay')
    .summary('which logged decisions would change under these rules')
    .description(
      'Puts the requests of a decision log to an edge file or a sealed plan and shows which would be decided ' +
        'otherwise than they were. Ends with 1 when any would.',
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
    .option('--json', 'the report as JSON')
    .addOption(colourOption())
    .action(run);
}

/** The decision log to read. */
export function logOption(): Option {
  return new Option('--log <path>', 'a decision log of the node, - is stdin; may be repeated')
    .argParser(gather)
    .makeOptionMandatory();
}
