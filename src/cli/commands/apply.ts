/** `edgeplan apply`: makes a domain of a server equal to an edge file. */

import { Command } from 'commander';
import { paint } from '../../simulator/paint.ts';
import { quantity } from '../../simulator/render-text.ts';
import { readDesiredState } from '../apply/desired-state.ts';
import { executeChanges } from '../apply/execute-changes.ts';
import { type ChangePlan, planChanges } from '../apply/plan-changes.ts';
import { changeLines, countText, headingOf } from '../apply/print-changes.ts';
import { CommandFault, EXIT } from '../exit.ts';
import { colourOption, edgeFileOption } from '../options.ts';
import { type ColourChoice, colourFor, note, write } from '../output.ts';
import { keyOption, type ServerAccess, serverOption } from '../remote/call-api.ts';
import { publicationOutcome } from '../remote/publication.ts';
import { readRemote } from '../remote/remote-domain.ts';

/** The options of the command, as commander parses them. */
interface Flags extends ServerAccess {
  /** The path of the rules; `-` is stdin. */
  readonly file: string;
  /** When to colour the output. */
  readonly color: ColourChoice;
  /** Prints the changes without executing them; exit code 1 when there are any. */
  readonly dryRun?: boolean;
  /** Deletes records and rules that the file does not have. */
  readonly prune?: boolean;
  /** Compares by ids: the file's ids are the server's. */
  readonly ids?: boolean;
}

/** Prints the changes, executes them, and prints the outcome. */
async function run(flags: Flags): Promise<void> {
  const desired = await readDesiredState(flags.file, flags.color);
  const remote = await readRemote(desired.domain, flags);
  const plan = planChanges(desired, remote, { ids: flags.ids === true, prune: flags.prune === true });
  const colour = colourFor(process.stdout, flags.color);
  for (const warning of plan.warnings) note(`warning: ${warning}`);
  noteUnmanaged(plan);
  if (plan.changes.length === 0) return write(`no changes: ${desired.domain} matches the file\n`);
  await write(paint(changeLines(plan), colour));
  // Scripts detect differences by exit code 1.
  if (flags.dryRun === true) {
    await write(`dry run: ${countText(plan.changes)}; nothing was changed\n`);
    process.exitCode = EXIT.no;
    return;
  }
  const outcome = await executeChanges(plan, {
    ...flags,
    domain: desired.domain,
    onNote: (sentence) => note(`note: ${sentence}`),
  });
  if (!outcome.ok) {
    noteStop(plan, outcome.made);
    const { message, remedy } = outcome.fault;
    throw new CommandFault(outcome.fault.exitCode, `${plan.changes[outcome.made]!.title}: ${message}`, {
      cause: outcome.fault,
      ...(remedy === undefined ? {} : { remedy }),
    });
  }
  const count = plan.changes.length;
  const { revision } = outcome;
  // A late publication has no revision yet.
  const out = revision === null ? null : await publicationOutcome(desired.domain, revision, flags);
  const published = out === null ? '' : `; ${out.clause}`;
  await write(`applied ${quantity(count, 'change')}${published}\n`);
  if (typeof out?.remedy === 'string') note(`  ${out.remedy}`);
}

/** Notes the objects that only the server has, in the order of the server. */
function noteUnmanaged({ leftAlone }: ChangePlan): void {
  if (leftAlone.length === 0) return;
  const what = leftAlone.length === 1 ? 'it' : 'them';
  note(`not in the file, and left alone (--prune deletes ${what}): ${leftAlone.join(', ')}`);
}

/**
 * Notes which changes were executed before the failure and which were not. Executed changes stay; the next apply
 * continues from them.
 */
function noteStop({ changes }: ChangePlan, made: number): void {
  const list = (part: ChangePlan['changes']): string =>
    paint(part.map(headingOf), false).replace(/^/gm, '  ').trimEnd();
  const done = changes.slice(0, made);
  note(done.length === 0 ? 'nothing was applied' : `applied:\n${list(done)}`);
  note(`not applied:\n${list(changes.slice(made))}`);
}

/** Creates the command. */
export function applyCommand(): Command {
  return new Command('apply')
    .summary('make a domain of a server equal to an edge file')
    .description(
      'Shows how the server differs from the file and makes the changes over the API, in a valid order, each only if its ' +
        'object has not changed since it was read. Applying twice changes nothing the second time.',
    )
    .addOption(edgeFileOption())
    .option('--dry-run', 'only show the changes; exits with 1 when there are any')
    .option('--prune', 'delete records and rules that the file does not have')
    .option('--ids', "the file's ids are the server's, as export --ids writes them")
    .addOption(serverOption())
    .addOption(keyOption())
    .addOption(colourOption())
    .addHelpText(
      'after',
      "\nA rule's key is the file's own. Without --ids a rule of the server is taken for one of the file when both are the\n" +
        'same, have the same name, or the same filters; with --prune also when they share type and priority.',
    )
    .action(run);
}
