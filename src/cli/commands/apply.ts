/** `edgeplan apply`: brings a domain of a server to what an edge file says. */

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

interface Flags extends ServerAccess {
  readonly file: string;
  readonly color: ColourChoice;
  readonly dryRun?: boolean;
  readonly prune?: boolean;
  readonly ids?: boolean;
}

async function run(flags: Flags): Promise<void> {
  const wanted = await readDesiredState(flags.file, flags.color);
  const remote = await readRemote(wanted.domain, flags);
  const plan = planChanges(wanted, remote, { ids: flags.ids === true, prune: flags.prune === true });
  const colour = colourFor(process.stdout, flags.color);
  for (const warning of plan.warnings) note(`warning: ${warning}`);
  tellLeftAlone(plan);
  if (plan.changes.length === 0) return write(`no changes: ${wanted.domain} is as the file says\n`);
  await write(paint(changeLines(plan), colour));
  if (flags.dryRun === true) {
    await write(`dry run: ${countText(plan.changes)}; nothing was changed\n`);
    process.exitCode = EXIT.no;
    return;
  }
  const outcome = await executeChanges(plan, {
    ...flags,
    domain: wanted.domain,
    onNote: (sentence) => note(`note: ${sentence}`),
  });
  if (!outcome.ok) {
    tellStop(plan, outcome.made);
    const { message, remedy } = outcome.fault;
    throw new CommandFault(outcome.fault.exitCode, `${plan.changes[outcome.made]!.title}: ${message}`, {
      cause: outcome.fault,
      ...(remedy === undefined ? {} : { remedy }),
    });
  }
  const count = plan.changes.length;
  const { revision } = outcome;
  const out = revision === null ? null : await publicationOutcome(wanted.domain, revision, flags);
  const told = out === null ? '' : `; ${out.clause}`;
  await write(`applied ${quantity(count, 'change')}${told}\n`);
  if (typeof out?.remedy === 'string') note(`  ${out.remedy}`);
}

/** What the server has and the file has not, in the order of the server. */
function tellLeftAlone({ leftAlone }: ChangePlan): void {
  if (leftAlone.length === 0) return;
  const what = leftAlone.length === 1 ? 'it' : 'them';
  note(`not in the file, and left alone (--prune deletes ${what}): ${leftAlone.join(', ')}`);
}

/** Where it stopped: what was made stays made, for the next apply finds it. */
function tellStop({ changes }: ChangePlan, made: number): void {
  const list = (part: ChangePlan['changes']): string =>
    paint(part.map(headingOf), false).replace(/^/gm, '  ').trimEnd();
  const done = changes.slice(0, made);
  note(done.length === 0 ? 'nothing was applied' : `applied:\n${list(done)}`);
  note(`not applied:\n${list(changes.slice(made))}`);
}

/** The command, to be added to a program. */
export function applyCommand(): Command {
  return new Command('apply')
    .summary('bring a domain of a server to what an edge file says')
    .description(
      'Shows how the server differs from the file and makes the changes over the API, in an order that is safe, each only ' +
        'if nobody has changed its object meanwhile. Applying twice changes nothing the second time.',
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
