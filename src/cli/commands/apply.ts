/** `edgeplan apply`: makes a domain of a server equal to an edge file. */

import { Command } from 'commander';
import { paint } from '../../simulator/paint.ts';
import { quantity } from '../../simulator/render-text.ts';
import { readDesiredState } from '../apply/desired-state.ts';
import { executeChanges } from '../apply/execute-changes.ts';
import { type ChangePlan, planChanges } from '../apply/plan-changes.ts';
import { changeLines, countText, headingOf, nounText } from '../apply/print-changes.ts';
import { CommandFault, EXIT } from '../exit.ts';
import { colourOption, edgeFileOption, jsonOption } from '../options.ts';
import { type ColourChoice, colourFor, note, write, writeDocument } from '../output.ts';
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
  /** Prints every change. */
  readonly all?: boolean;
  /** Prints JSON. */
  readonly json?: boolean;
}

/** Changes, and titles in a list, that are printed without `--all`. */
const MOST_LISTED = 50;

/** Prints the changes, executes them, and prints the outcome. */
async function run(flags: Flags): Promise<void> {
  const desired = await readDesiredState(flags.file, flags.color);
  const remote = await readRemote(desired.domain, flags);
  const plan = planChanges(desired, remote, { ids: flags.ids === true, prune: flags.prune === true });
  for (const warning of plan.warnings) note(`warning: ${warning}`);
  noteUnmanaged(plan, flags);
  const report = reporter(desired.domain, plan, flags);
  if (plan.changes.length === 0) {
    return report({ applied: 0, revision: null }, `no changes: ${desired.domain} matches the file`);
  }
  if (flags.json !== true) await printChanges(plan, flags);
  // Scripts detect differences by exit code 1.
  if (flags.dryRun === true) {
    process.exitCode = EXIT.no;
    const sentence = `dry run: ${countText(plan.changes)}; nothing was changed`;
    return report({ applied: 0, revision: null }, sentence);
  }
  const outcome = await executeChanges(plan, {
    ...flags,
    domain: desired.domain,
    onNote: (sentence) => note(`note: ${sentence}`),
  });
  if (!outcome.ok) {
    if (flags.json === true) await report({ applied: outcome.made, revision: null }, '');
    else noteStop(plan, outcome.made, flags);
    const { message, remedy } = outcome.fault;
    throw new CommandFault(outcome.fault.exitCode, `${plan.changes[outcome.made]!.title}: ${message}`, {
      cause: outcome.fault,
      ...(remedy === undefined ? {} : { remedy }),
    });
  }
  const { revision } = outcome;
  // A late publication has no revision yet.
  const out = revision === null ? null : await publicationOutcome(desired.domain, revision, flags);
  const published = out === null ? '' : `; ${out.clause}`;
  const applied = plan.changes.length;
  await report({ applied, revision }, `applied ${quantity(applied, 'change')}${published}`);
  if (typeof out?.remedy === 'string') note(`  ${out.remedy}`);
}

/** What became of the changes. */
interface Applied {
  readonly applied: number;
  /** `null`: none was published. */
  readonly revision: string | null;
}

/** Prints the outcome as a sentence or, with `--json`, with all changes. */
function reporter(
  domain: string,
  { changes, leftAlone, warnings }: ChangePlan,
  { json, dryRun }: Flags,
): (outcome: Applied, sentence: string) => Promise<void> {
  return ({ applied, revision }, sentence) => {
    if (json !== true) return write(`${sentence}\n`);
    return writeDocument('apply', {
      domain,
      dry_run: dryRun === true,
      changes: changes.map(({ verb, noun, title, fields }) => ({ verb, noun, title, fields })),
      applied,
      revision: revision === null ? null : Number(revision),
      left_alone: leftAlone,
      warnings,
    });
  };
}

/** Prints the changes; of many the first ones. */
async function printChanges(plan: ChangePlan, { all, color }: Flags): Promise<void> {
  const { changes } = plan;
  const shown = all === true ? changes : changes.slice(0, MOST_LISTED);
  await write(paint(changeLines({ ...plan, changes: shown }), colourFor(process.stdout, color)));
  if (shown.length === changes.length) return;
  const rest = quantity(changes.length - shown.length, 'more change');
  await write(`… and ${rest} (--all shows them); of all: ${nounText(changes)}\n`);
}

/** Notes the objects that only the server has, in the order of the server. */
function noteUnmanaged({ leftAlone }: ChangePlan, { all }: Flags): void {
  if (leftAlone.length === 0) return;
  const what = leftAlone.length === 1 ? 'it' : 'them';
  const shown = all === true ? leftAlone : leftAlone.slice(0, MOST_LISTED);
  const rest = leftAlone.length - shown.length;
  const more = rest === 0 ? '' : ` and ${rest} more (--all names them)`;
  note(`not in the file, and left alone (--prune deletes ${what}): ${shown.join(', ')}${more}`);
}

/**
 * Notes which changes were executed before the failure and which were not. Executed changes stay; the next apply
 * continues from them.
 */
function noteStop({ changes }: ChangePlan, made: number, { all }: Flags): void {
  const list = (part: ChangePlan['changes']): string => {
    const shown = all === true ? part : part.slice(0, MOST_LISTED);
    const rest = part.length - shown.length;
    const text = paint(shown.map(headingOf), false).replace(/^/gm, '  ').trimEnd();
    return rest === 0 ? text : `${text}\n  … and ${rest} more (--all lists them)`;
  };
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
    .option('--all', `show every change, not only the first ${MOST_LISTED}`)
    .addOption(jsonOption('apply'))
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
