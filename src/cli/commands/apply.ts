/** `edgeplan apply`: makes a domain of a server equal to an edge file. */
import { Command, Option } from 'commander';
import { paint } from '../../workbench/simulation/paint.ts';
import { quantity, visible } from '../../workbench/simulation/render-text.ts';
import { type DesiredState, readDesiredState } from '../apply/desired-state.ts';
import { executeChanges } from '../apply/execute-changes.ts';
import { lockPath, openRuleLock, type RuleLock } from '../apply/lock-file.ts';
import { type ChangePlan, type PlannedChange, planChanges } from '../apply/plan-changes.ts';
import { changeLines, countText, headingOf, nounText } from '../apply/print-changes.ts';
import { type Examples, withExamples } from '../examples.ts';
import { CommandFault, EXIT, type ExitCode } from '../exit.ts';
import { domainFiles } from '../input/domain-files.ts';
import { colourOption, edgeFileOption, jsonOption } from '../options.ts';
import { type ColourChoice, colourFor, note, noteFault, write, writeDocument, writeLine } from '../output.ts';
import { keyOption, type ServerAccess, ServerRefusal, serverOption } from '../remote/call-api.ts';
import { draftFor, publicationOutcome, publishWritten } from '../remote/publication.ts';
import { type RemoteDomain, readRemote } from '../remote/remote-domain.ts';

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
  /** `false`: the lock is neither read nor written. */
  readonly lock: boolean;
  /** Refuses a domain that is not in manual mode, whose changes of rules would not wait in a draft. */
  readonly draft?: boolean;
  /** Publishes the draft of a domain in manual mode after the changes of its rules. */
  readonly publish?: boolean;
  /** Prints every change. */
  readonly all?: boolean;
  /** Prints JSON. */
  readonly json?: boolean;
  /** Whether further domains are applied: each prints a line of JSON. */
  readonly several?: boolean;
}

/** Changes, and titles in a list, that are printed without `--all`. */
const MOST_LISTED = 50;

/** Applies every domain that `-f` names; a domain that fails does not stop the others, and the worst exit code counts. */
async function run(flags: Flags): Promise<void> {
  const files = domainFiles(flags.file);
  if (files.length === 1) return applyFile({ ...flags, file: files[0]! });
  const codes: ExitCode[] = [];
  for (const file of files) {
    process.exitCode = EXIT.fine;
    if (flags.json !== true) await write(`${file}\n`);
    try {
      await applyFile({ ...flags, file, several: true });
      codes.push(process.exitCode as ExitCode);
    } catch (error) {
      if (!(error instanceof CommandFault)) throw error;
      noteFault(error);
      codes.push(error.exitCode);
    }
  }
  const failed = codes.filter((code) => code > EXIT.no).length;
  note(`${quantity(files.length, 'domain')}${failed === 0 ? '' : `, ${failed} failed`}`);
  process.exitCode = codes.reduce((worst, code) => (code > worst ? code : worst), EXIT.fine);
}

/** Makes the changes of one domain; with `--json`, prints the object whatever the outcome. */
async function applyFile(flags: Flags): Promise<void> {
  const { file, color } = flags;
  const desired = await readDesiredState(file, color);
  const progress: Progress = { plan: null, applied: 0, revision: null, edit: null, error: null };
  try {
    await reconcile(desired, flags, progress);
  } catch (error) {
    if (flags.json !== true || !(error instanceof CommandFault)) throw error;
    progress.error = error;
    await writeProgress(desired.domain, progress, flags);
    throw error;
  }
  if (flags.json === true) await writeProgress(desired.domain, progress, flags);
}

/** What has been done so far. */
interface Progress {
  /** `null` before the server was read. */
  plan: ChangePlan | null;
  /** The number of changes that were executed: the first ones of the plan. */
  applied: number;
  /** `null`: none was published. */
  revision: string | null;
  /** The number of the draft that the changes of rules wait in; `null`: none waits. */
  edit: number | null;
  /** The failure that ended the command. */
  error: CommandFault | null;
}

/** Prints the changes, executes them, and prints the outcome. @throws CommandFault at the first failure */
async function reconcile(desired: DesiredState, flags: Flags, progress: Progress): Promise<void> {
  const { domain } = desired;
  const say = (sentence: string) => (flags.json === true ? undefined : write(`${sentence}\n`));
  const remote = await readRemote(domain, flags);
  const lock = await lockOf(desired, remote, flags);
  const plan = planChanges(desired, remote, {
    // The ids of a fragment are the server's.
    ids: flags.ids === true || desired.sources.fragment,
    prune: flags.prune === true,
    ...(lock === null ? {} : { locked: lock.idOf }),
  });
  progress.plan = plan;
  for (const warning of plan.warnings) note(`warning: ${visible(warning)}`);
  noteUnmanaged(plan, flags);
  if (plan.changes.length === 0) {
    if (flags.dryRun !== true) await lock?.begin(plan);
    return say(unchangedText(domain, plan));
  }
  if (flags.json !== true) await printChanges(plan, flags);
  // Scripts detect differences by exit code 1.
  if (flags.dryRun === true) {
    process.exitCode = EXIT.no;
    return say(`dry run: ${countText(plan.changes)}; nothing was changed`);
  }
  const from = await draftFor(domain, flags);
  await lock?.begin(plan);
  const outcome = await executeChanges(plan, {
    ...flags,
    domain,
    ...(lock === null ? {} : { onDone: lock.done }),
    onNote: (sentence) => note(`note: ${visible(sentence)}`),
  });
  if (!outcome.ok) {
    progress.applied = outcome.made;
    if (flags.json !== true) noteStop(plan, outcome.made, flags);
    throw outcome.failed === null ? outcome.fault : stopFault(outcome.failed, outcome.fault);
  }
  const { edits } = outcome;
  const edit = [...edits].at(-1) ?? null;
  progress.applied = plan.changes.length;
  progress.edit = edit;
  const isPublished = edit === null || flags.publish === true;
  const revision =
    edit === null || !isPublished ? outcome.revision : await publishWritten(domain, flags, { from, edits });
  progress.revision = revision;
  if (isPublished) progress.edit = null;
  const applied = `applied ${quantity(plan.changes.length, 'change')}`;
  if (!isPublished) {
    await say(`${applied}; changes of rules wait in the draft of ${domain}`);
    note(
      `  edgeplan draft diff ${domain} shows what they change, edgeplan draft publish ${domain} publishes them`,
    );
    return;
  }
  // A late publication has no revision yet.
  const out = revision === null ? null : await publicationOutcome(domain, revision, flags);
  await say(`${applied}${out === null ? '' : `; ${out.clause}`}`);
  if (typeof out?.remedy === 'string') note(`  ${out.remedy}`);
}

/** The lock of the file; `null`: of stdin and of a fragment, whose ids are the server's, and with `--no-lock`. */
async function lockOf(
  desired: DesiredState,
  remote: RemoteDomain,
  { file, lock, server }: Flags,
): Promise<RuleLock | null> {
  const path = lockPath(file);
  if (path === null || !lock || desired.sources.fragment) return null;
  return openRuleLock({ path, server, desired, remote });
}

/** The fault of a change, with the title of the change in its message. */
function stopFault({ title }: PlannedChange, fault: CommandFault): CommandFault {
  const { exitCode, message, remedy } = fault;
  return new CommandFault(exitCode, `${title}: ${message}`, {
    cause: fault,
    ...(remedy === undefined ? {} : { remedy }),
  });
}

/** The sentence for a plan without changes; the server may have objects that the file does not have. */
function unchangedText(domain: string, { leftAlone }: ChangePlan): string {
  if (leftAlone.length === 0) return `no changes: ${domain} matches the file`;
  const [are, them] = leftAlone.length === 1 ? ['is', 'it'] : ['are', 'them'];
  const objects = `${quantity(leftAlone.length, 'object')} of the server ${are} not in the file`;
  return `nothing to create or update; ${objects} (--prune deletes ${them})`;
}

/** Prints the object of `--json`: all changes, each with its state, and the failure. */
function writeProgress(domain: string, progress: Progress, { dryRun, several }: Flags): Promise<void> {
  const { plan, applied, revision, edit, error } = progress;
  const changes = plan?.changes ?? [];
  const stateOf = (index: number) => {
    if (index < applied) return 'applied';
    return index === applied && error !== null ? 'failed' : 'not_tried';
  };
  const writeResult = several === true ? writeLine : writeDocument;
  return writeResult('apply', {
    domain,
    dry_run: dryRun === true,
    changes: changes.map(({ verb, noun, title, fields }, index) => ({
      verb,
      noun,
      title,
      fields,
      state: stateOf(index),
    })),
    applied,
    revision: revision === null ? null : Number(revision),
    draft: edit,
    left_alone: plan?.leftAlone ?? [],
    warnings: plan?.warnings ?? [],
    error: error === null ? null : { message: error.message, status: statusOf(error) },
  });
}

/** The HTTP status behind a fault; `null`: the failure is not a refusal of the server. */
function statusOf(error: unknown): number | null {
  if (error instanceof ServerRefusal) return error.status;
  return error instanceof CommandFault ? statusOf(error.cause) : null;
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
  note(`not in the file, and left alone (--prune deletes ${what}): ${visible(shown.join(', '))}${more}`);
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

/** Examples of the help. */
const EXAMPLES: Examples = {
  apply: [
    'edgeplan apply --dry-run',
    'edgeplan apply -f edge.yaml --prune',
    'edgeplan apply -f edge.yaml --json',
    'edgeplan apply --publish',
  ],
};

/** Creates the command. */
export function applyCommand(): Command {
  const command = new Command('apply')
    .summary('make a domain of a server equal to an edge file')
    .description(
      'Shows how the server differs from the file and makes the changes over the API, in a valid order, each only if its ' +
        'object has not changed since it was read. Applying twice changes nothing the second time.',
    )
    .addOption(edgeFileOption())
    .option('--dry-run', 'only show the changes; exits with 1 when there are any')
    .option('--prune', 'delete records, rules, lists and consumers that the file does not have')
    .option('--ids', "the file's ids are the server's, as export --ids writes them")
    .addOption(
      new Option(
        '--publish',
        'publish the draft of a domain in manual mode; without it changes of rules wait there',
      ).conflicts('draft'),
    )
    .option('--draft', 'refuse a domain that is not in manual mode, so that nothing is published')
    .option('--no-lock', 'neither read nor write edge.lock, which has the id of each key')
    .option('--all', `show every change, not only the first ${MOST_LISTED}`)
    .addOption(jsonOption('apply'))
    .addOption(serverOption())
    .addOption(keyOption())
    .addOption(colourOption())
    .addHelpText(
      'after',
      "\nA rule of the file is the server's rule that edge.lock names for its key. Without that, and without --ids, a rule of\n" +
        'the server is taken for one of the file when both are the same, have the same name, or the same filters; with --prune\n' +
        'also when they share type and priority.\n' +
        "Of a file with `fragment: true` the ids are the server's, and nothing else is created, changed or deleted.",
    )
    .action(run);
  return withExamples(command, EXAMPLES);
}
