/** `edgeplan waf tune`: reads decision logs and proposes exclusions of waf rules, each with its reasons and its effect. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { MAX_WAF_EXCLUSIONS, MAX_WAF_THRESHOLD } from '../../base/vocabulary/limits.ts';
import { quantity, visible } from '../../workbench/simulation/render-text.ts';
import { FEWEST_VISITORS } from '../../workbench/tuning/limits.ts';
import { type ObservedRequest, observeLine } from '../../workbench/tuning/observe.ts';
import { createTuning, type TunedRule, type TuningReport } from '../../workbench/tuning/tune.ts';
import { EXIT, inputFault, usageFault } from '../exit.ts';
import { colourOption, gather, jsonOption } from '../options.ts';
import { note, write, writeDocument } from '../output.ts';
import { octetsOfLogs, openLogs } from '../replay/open-logs.ts';
import { createProgress } from '../replay/progress.ts';
import { countedText } from '../replay/replay.ts';
import { createReadLogs, type LogEntry, takeDecisions } from '../replay/replay-logs.ts';
import { writeWhole } from '../write-file.ts';
import { printExceeded, tuningDocument, tuningFragment, tuningText } from './print-tuning.ts';

/** The options of the command, as commander parses them. */
interface Flags {
  /** Decision logs. */
  readonly log: readonly string[];
  /** The key of a rule, with or without `waf/`. */
  readonly rule?: string;
  readonly domain?: string;
  readonly minVisitors: number;
  /** Absent: what the log shows. */
  readonly threshold?: number;
  /** The path of the fragment. */
  readonly output?: string;
  readonly json?: boolean;
}

/** What was read besides the requests that are tuned by. */
interface Skipped {
  decisions: number;
  /** Decisions of other domains than `--domain`. */
  otherDomains: number;
  /** Requests refused before any plan was evaluated. */
  undecided: number;
  missing: number;
  counted: number;
  unreadable: number;
  firstUnreadable: string | null;
  /** Rules with verdicts that `--rule` leaves out. */
  readonly otherRules: Set<string>;
}

/** Rules that a message lists. */
const RULES_LISTED = 10;

/** Reads the logs and prints the report. */
async function run(flags: Flags): Promise<void> {
  const tuning = createTuning({ minVisitors: flags.minVisitors, threshold: flags.threshold });
  const skipped: Skipped = {
    ...{ decisions: 0, otherDomains: 0, undecided: 0, missing: 0, counted: 0, unreadable: 0 },
    ...{ firstUnreadable: null, otherRules: new Set() },
  };
  const read = createReadLogs();
  const progress = createProgress({
    shown: process.stderr.isTTY === true && flags.json !== true,
    octets: octetsOfLogs(flags.log),
    lines: () => read.tally.lines,
  });
  const logs = await openLogs(flags.log, {
    format: 'decision',
    onOctets: progress.read,
    command: 'waf tune',
  });
  const take = (entry: LogEntry): void => {
    const request = requestOf(entry, { flags, skipped });
    if (request !== null) tuning.add(request);
  };
  await takeDecisions(logs, read, take).finally(progress.clear);
  const report = tuning.report();
  if (report.inspected === 0) {
    if (skipped.decisions > 0) printSkipped(skipped);
    throw nothingInspected(skipped, flags);
  }
  if (flags.output !== undefined) await writeFragment(flags.output, report);
  if (flags.json === true) await writeDocument('waf-tuning', tuningDocument(report));
  else await write(report.rules.length === 0 ? NOTHING_BLOCKED : tuningText(report));
  progress.report();
  printExceeded(report);
  printSkipped(skipped);
  if (skipped.unreadable * 2 > read.tally.lines + skipped.unreadable) process.exitCode = EXIT.input;
}

const NOTHING_BLOCKED = 'no request of the log was blocked by a waf rule, or would have been\n';

/** The request of an entry; `null`: it has none, which is counted. */
function requestOf(
  entry: LogEntry,
  { flags, skipped }: { readonly flags: Flags; readonly skipped: Skipped },
): ObservedRequest | null {
  switch (entry.kind) {
    case 'gap':
      skipped.missing += entry.dropped;
      return null;
    case 'counted':
      skipped.counted += entry.line.requests;
      return null;
    case 'unreadable':
      skipped.unreadable++;
      skipped.firstUnreadable ??= `${entry.at}: ${entry.reason}`;
      return null;
    default:
      return decidedRequest(observeLine({ ...entry.line }), { flags, skipped });
  }
}

function decidedRequest(
  request: ObservedRequest | null,
  { flags, skipped }: { readonly flags: Flags; readonly skipped: Skipped },
): ObservedRequest | null {
  skipped.decisions++;
  if (request === null) {
    skipped.undecided++;
    return null;
  }
  if (flags.domain !== undefined && request.domain !== flags.domain) {
    skipped.otherDomains++;
    return null;
  }
  if (flags.rule === undefined) return request;
  const wanted = flags.rule.startsWith('waf/') ? flags.rule : `waf/${flags.rule}`;
  const verdicts = request.verdicts.filter(({ rule }) => rule === wanted);
  if (verdicts.length === request.verdicts.length) return request;
  for (const { rule } of request.verdicts) if (rule !== wanted) skipped.otherRules.add(rule);
  return { ...request, verdicts };
}

/** The fault for logs without a verdict: an empty report would be taken for "no false positives". */
function nothingInspected(skipped: Skipped, { rule, domain }: Flags): Error {
  const { decisions, otherDomains, otherRules, unreadable, firstUnreadable, counted } = skipped;
  if (rule !== undefined && otherRules.size > 0) {
    const found = [...otherRules].sort().slice(0, RULES_LISTED).join(', ');
    return inputFault(`the log has no match of \`${rule}\``, { remedy: `it has those of ${found}` });
  }
  if (decisions === 0 && unreadable > 0) {
    const remedy = 'name a log that a node writes with --log; access logs have no verdicts of signatures';
    return inputFault(`no line could be read as a decision; the first: ${firstUnreadable ?? ''}`, { remedy });
  }
  if (decisions === 0 && counted > 0)
    return inputFault(`the log holds no decision, and ${countedText(counted)}`);
  if (decisions === 0) return inputFault('the log holds no decision');
  if (domain !== undefined && otherDomains === decisions) {
    return inputFault(`no line is of \`${domain}\`; ${quantity(otherDomains, 'is', 'are')} of other domains`);
  }
  const remedy =
    'write a waf rule with `action_mode: dry_run`, and let a node with --log serve for a while; it logs what the rule would block';
  return inputFault(`none of ${quantity(decisions, 'decision')} has a match of a waf rule`, { remedy });
}

function printSkipped(skipped: Skipped): void {
  const { otherDomains, undecided, missing, counted, unreadable, firstUnreadable } = skipped;
  if (otherDomains > 0) note(`edgeplan: ${quantity(otherDomains, 'line')} of other domains skipped`);
  if (undecided > 0)
    note(`edgeplan: ${quantity(undecided, 'line')} without a request that was read as one skipped`);
  if (missing > 0)
    note(`edgeplan: ${quantity(missing, 'line is', 'lines are')} missing: the log dropped them`);
  if (counted > 0) note(`edgeplan: ${countedText(counted)}`);
  if (unreadable > 0) {
    const lines = quantity(unreadable, 'line');
    note(`edgeplan: ${lines} could not be read; the first: ${visible(firstUnreadable ?? '')}`);
  }
}

/** Writes the fragment of the only rule with proposals. @throws CommandFault when there are several */
async function writeFragment(file: string, { rules }: TuningReport): Promise<void> {
  const [only, ...others] = rules.filter(({ groups }) =>
    groups.some(({ exclusions }) => exclusions.length > 0),
  );
  if (others.length > 0) {
    const names = [only!, ...others].map(({ rule, domain }) => `${rule} of ${domain}`).join(', ');
    throw usageFault(
      `the log has exclusions for several rules: ${names}`,
      'name one with --rule, and its domain with --domain: a fragment is of one rule',
    );
  }
  const rule = only ?? rules[0];
  const text = rule === undefined ? '# no exclusion is proposed\n' : tuningFragment(rule);
  await writeWhole(file, Buffer.from(text));
  if (rule !== undefined) noteMany(rule);
}

function noteMany({ groups }: TunedRule): void {
  const proposed = groups.filter(({ verdict }) => verdict === 'false_positive');
  const count = proposed.reduce((sum, { exclusions }) => sum + exclusions.length, 0);
  if (count <= MAX_WAF_EXCLUSIONS) return;
  note(`edgeplan: ${count} exclusions are proposed, and a rule has at most ${MAX_WAF_EXCLUSIONS}`);
}

/** Parses a whole number of a range. */
function readWhole(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : -1;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`a whole number from ${least} to ${most}.`);
  };
}

/** The most that `--min-visitors` takes. */
const MOST_VISITORS = 1_000_000;

/** Creates the command. */
export function wafTuneCommand(): Command {
  return new Command('tune')
    .summary('propose exclusions for false positives, by a decision log')
    .description(
      'Reads what waf rules blocked, or would have blocked under dry_run, and groups it by signature, target and path. Reports for ' +
        'each group whether it is a likely false positive or a likely attack, and why; proposes the narrowest exclusions, with how ' +
        'many requests each lets through and which attacks of the log it would no longer stop. Exits with 3 when most lines ' +
        'cannot be read.',
    )
    .addOption(
      new Option('--log <path>', 'a decision log of a node, also with gzip, - is stdin; may be repeated')
        .argParser(gather)
        .makeOptionMandatory(),
    )
    .option('--rule <key>', 'only this waf rule, by its key (or its id, in the log of a server)')
    .option('--domain <name>', 'only the lines of this domain')
    .addOption(
      new Option('--min-visitors <number>', 'visitors that a likely false positive has at least')
        .argParser(readWhole(1, MOST_VISITORS))
        .default(FEWEST_VISITORS),
    )
    .addOption(
      new Option('--threshold <score>', 'the threshold of the rule (default: what the log shows)').argParser(
        readWhole(1, MAX_WAF_THRESHOLD),
      ),
    )
    .option('-o, --output <file>', 'write the entries for `exclusions:` of the rule here, as YAML')
    .addOption(jsonOption('waf-tuning'))
    .addOption(colourOption())
    .action(run);
}
