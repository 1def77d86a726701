/** `edgeplan replay`: evaluates logged requests with other rules, and reports which decisions would change. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { parseHost } from '../../base/addresses/host.ts';
import { loggedDecision } from '../../edge/proxy/log/line.ts';
import { redactTarget } from '../../edge/proxy/log/redact.ts';
import type { Evaluator } from '../../engine/evaluator/index.ts';
import { LOG_FORMATS, type LogFormat } from '../../workbench/access-logs/format.ts';
import { lackedFacts, withholdableReads } from '../../workbench/replay/dependencies.ts';
import { createRequestReplay } from '../../workbench/replay/replay-requests.ts';
import { fixedEvaluator, type SimulationSubject } from '../../workbench/simulation/simulate.ts';
import { type Examples, withExamples } from '../examples.ts';
import { usageFault } from '../exit.ts';
import { type OpenedSubject, openSubject } from '../input/open-subject.ts';
import { type ChoiceFlags, countryFinder, openCountryFile, signaturesFor } from '../open-signatures.ts';
import { colourOption, fileOption, gather, readNodeId, signatureOptions } from '../options.ts';
import { note, write, writeDocument } from '../output.ts';
import { type OpenedLog, octetsOfLogs, openLogs } from '../replay/open-logs.ts';
import {
  nothingReplayed,
  type PrintedReplay,
  printLate,
  printLogGaps,
  replayExit,
  requestsDocument,
  requestsText,
} from '../replay/print-requests.ts';
import { createProgress, type ReplayProgress } from '../replay/progress.ts';
import {
  createReplay,
  nothingCompared,
  printGaps,
  replayDocument,
  replayNote,
  replayText,
} from '../replay/replay.ts';
import {
  createReadLogs,
  type ReadLogs,
  readerContext,
  takeDecisions,
  takeRequests,
} from '../replay/replay-logs.ts';

/** The options of the command, as commander parses them. */
interface Flags extends ChoiceFlags {
  /** Logs to replay. */
  readonly log: readonly string[];
  readonly format: LogFormat | 'auto';
  /** The path of the rules; `-` is stdin. */
  readonly file: string;
  /** A sealed plan, in place of `file`. */
  readonly plan?: string;
  /** The older rules; absent: decisions are those of the log. */
  readonly before?: string;
  /** Facts that lines lack. */
  readonly host?: string;
  readonly scheme: 'http' | 'https';
  readonly capture?: readonly string[];
  readonly countries?: string;
  /** The id of the edge node, for geo pools. */
  readonly nodeId?: number;
  /** Prints JSON. */
  readonly json?: boolean;
}

/** Rules with the signatures that they inspect with. */
interface Rules {
  readonly opened: OpenedSubject['opened'];
  readonly subject: SimulationSubject;
  readonly open: () => Evaluator;
}

/** Opened logs with the counters of reading them. */
interface Reading {
  readonly logs: readonly OpenedLog[];
  readonly read: ReadLogs;
}

/** Replays the logs and prints the report; exit code 1 when a decision changes. */
async function run(flags: Flags): Promise<void> {
  const file = flags.plan ?? flags.file;
  const inputs = [file, ...flags.log, ...(flags.before === undefined ? [] : [flags.before])];
  if (inputs.filter((name) => name === '-').length > 1)
    throw usageFault('the rules and the log cannot both be stdin');
  // One after the other, so that diagnostics of both files are not interleaved.
  const before = flags.before === undefined ? null : await openRules(flags.before, flags);
  const after = await openRules(file, flags);
  const read = createReadLogs();
  const progress = createProgress({
    shown: process.stderr.isTTY === true && flags.json !== true,
    octets: octetsOfLogs(flags.log),
    lines: () => read.tally.lines,
  });
  const logs = await openLogs(flags.log, { format: flags.format, onOctets: progress.read });
  const decided = logs.find(({ format }) => format === 'decision');
  const other = logs.find(({ format }) => format !== null && format !== 'decision');
  if (before === null && decided !== undefined && other !== undefined) {
    throw usageFault(
      `\`${decided.file}\` is a decision log, and \`${other.file}\` is not`,
      'replay them apart, or compare two rule sets with --before',
    );
  }
  const started = { ...flags, progress };
  if (before === null && decided !== undefined) await replayDecisions({ logs, read }, after, started);
  else await replayRequests({ logs, read }, { before, after }, started);
}

/** Opens rules and the signatures of their waf rules. */
async function openRules(file: string, flags: Flags): Promise<Rules> {
  const { subject: bare, opened } = await openSubject(file, flags.color);
  const subject = { ...bare, signatures: await signaturesFor(bare.bytes, flags) };
  // The health of origins is not in the log: all count as up.
  const world = { down: [], nodeId: flags.nodeId ?? null, now: Date.now(), nowGiven: false };
  return { opened, subject, open: () => fixedEvaluator(subject, world) };
}

/** The flags of a replay that is running, and its progress. */
interface StartedFlags extends Flags {
  readonly progress: ReplayProgress;
}

/** Compares the decisions of decision logs with those of the rules. */
async function replayDecisions({ logs, read }: Reading, rules: Rules, flags: StartedFlags): Promise<void> {
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
  readonly before: Rules | null;
  readonly after: Rules;
}

/** Evaluates the requests of logs of any format with one rule set or two. */
async function replayRequests(
  { logs, read }: Reading,
  { before, after }: Sides,
  flags: StartedFlags,
): Promise<void> {
  const rules = after.open();
  const replay = createRequestReplay({
    before: before === null ? null : before.open,
    after: after.open,
    summarise: loggedDecision,
    redact: redactTarget,
  });
  const { host, scheme, capture: captures = [] } = flags;
  const countries = flags.countries === undefined ? null : await openCountryFile(flags.countries);
  const countryOf = countries === null ? null : countryFinder(countries);
  const context = readerContext({ host, scheme, captures, countryOf }, read, rules);
  await takeRequests(logs, { read, context }, replay.add).finally(flags.progress.clear);
  const report = replay.report();
  if (report.compared === 0) throw nothingReplayed({ report, read }, rules.domain);
  const { requests, lacks } = read;
  const lacked = lackedFacts([...(before === null ? [] : [before.opened]), after.opened], {
    requests,
    lacks,
    host: read.host,
    scheme,
  });
  const names = { before: before?.subject.name ?? null, after: after.subject.name };
  const printed: PrintedReplay = { report, read, lacks: lacked, names };
  if (flags.json === true) {
    const older = before === null ? null : aboutRules(before).plan;
    await writeDocument('replay', { ...aboutRules(after), before: older, ...requestsDocument(printed) });
  } else await write(requestsText(printed));
  flags.progress.report();
  printLogGaps(printed);
  process.exitCode = replayExit(read.tally, report.changed);
}

/** The plan and the signatures of a report. */
function aboutRules({ subject, open }: Rules): { readonly plan: object; readonly signatures: object | null } {
  const { name, digest, signatures } = subject;
  const used = signatures ? { name: signatures.name, digest: signatures.digest } : null;
  return { plan: { digest, domain: open().domain, source: name }, signatures: used };
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  replay: [
    'edgeplan replay --log decisions.jsonl',
    'edgeplan replay --log decisions.jsonl -f edge.yaml --json',
    'edgeplan replay --log /var/log/nginx/access.log --host shop.example.com',
    'edgeplan replay --log one.log.gz --log two.log.gz --before old.yaml -f edge.yaml',
    'journalctl -u haproxy -o cat | edgeplan replay --log - --capture host,user-agent',
  ],
};

/** Creates the command. */
export function replayCommand(): Command {
  const command = new Command('replay')
    .summary('what these rules decide about the requests of a log')
    .description(
      'Evaluates the requests of decision logs or access logs (nginx, Apache, Caddy, HAProxy, Traefik, Envoy, Nginx Proxy ' +
        'Manager, Cloudflare, CloudFront, AWS ALB) in order of time. Shows which decisions of a decision log would change, what the rules decide about an access log, and ' +
        'with --before which decisions flip from one rule set to the other. Exits with 1 when a decision changes, with 3 when ' +
        'most lines cannot be read.',
    )
    .addOption(logOption())
    .addOption(
      new Option('--format <name>', 'the format of the logs; nginx-json has fields named as nginx variables')
        .choices(['auto', ...LOG_FORMATS])
        .default('auto'),
    )
    .addOption(fileOption())
    .option('--plan <path>', 'a sealed plan, in place of --file')
    .option('--before <path>', 'compare with this edge file or sealed plan, not with what the log says');
  for (const option of factOptions()) command.addOption(option);
  signatureOptions(command)
    .option('--json', 'the report as JSON (edgeplan.replay/v1)')
    .addOption(colourOption())
    .action(run);
  return withExamples(command, EXAMPLES);
}

/** `--log`: the logs to read. */
function logOption(): Option {
  return new Option(
    '--log <path>',
    'a log, also with gzip, - is stdin; may be repeated: lines are merged by time',
  )
    .argParser(gather)
    .makeOptionMandatory();
}

/** Facts that a log may lack. */
function factOptions(): readonly Option[] {
  return [
    new Option(
      '--host <host>',
      'the host of requests whose line has none (default: the only one of the rules)',
    ).argParser(readHost),
    new Option('--scheme <scheme>', 'the scheme of requests whose line has none')
      .choices(['https', 'http'])
      .default('https'),
    new Option(
      '--capture <names>',
      "HAProxy's captured request headers in their order, such as host,user-agent",
    ).argParser(readCaptures),
    new Option('--countries <file>', "a country database in MaxMind's format, for lines without a country"),
    new Option('--node-id <id>', 'the edge node that answers').argParser(readNodeId).env('EDGEPLAN_NODE_ID'),
  ];
}

/** Parses a host; it may have a port, as a Host header may. */
function readHost(text: string): string {
  if (parseHost(text, { host: '', port: -1, literal: false })) return text;
  throw new InvalidArgumentError('a host is written like shop.example.com.');
}

/** Parses names of headers, separated by commas. */
function readCaptures(text: string): readonly string[] {
  const names = text.split(',').map((one) => one.trim().toLowerCase());
  const wrong = names.find((name) => !/^[!#$%&'*+.^_`|~0-9a-z-]{1,128}$/.test(name));
  if (wrong === undefined) return names;
  throw new InvalidArgumentError(`\`${wrong}\` is not the name of a header.`);
}
