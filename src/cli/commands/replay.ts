/** `edgeplan replay`: evaluates logged requests with other rules, and reports which decisions would change. */
import { Command, Option } from 'commander';
import { LOG_FORMATS, type LogFormat } from '../../workbench/access-logs/format.ts';
import { type Examples, withExamples } from '../examples.ts';
import { usageFault } from '../exit.ts';
import { colourOption, fileOption, signatureOptions } from '../options.ts';
import { octetsOfLogs, openLogs } from '../replay/open-logs.ts';
import { factOptions, logOption } from '../replay/options.ts';
import { createProgress } from '../replay/progress.ts';
import { createReadLogs } from '../replay/replay-logs.ts';
import {
  compareStatuses,
  openRules,
  type RunningFlags,
  replayDecisions,
  replayRequests,
} from '../replay/run-replay.ts';

/** The options of the command, as commander parses them. */
interface Flags extends Omit<RunningFlags, 'progress'> {
  /** Logs to replay. */
  readonly log: readonly string[];
  readonly format: LogFormat | 'auto';
  /** The path of the rules; `-` is stdin. */
  readonly file: string;
  /** A sealed plan, in place of `file`. */
  readonly plan?: string;
  /** The older rules; absent: decisions are those of the log. */
  readonly before?: string;
  /** Compares with the statuses of the log. */
  readonly compareStatus?: boolean;
  /** The id of the edge node, for geo pools. */
  readonly nodeId?: number;
}

/** Replays the logs and prints the report; exit code 1 when a decision changes or a status differs. */
async function run(flags: Flags): Promise<void> {
  const file = flags.plan ?? flags.file;
  const inputs = [file, ...flags.log, ...(flags.before === undefined ? [] : [flags.before])];
  if (inputs.filter((name) => name === '-').length > 1)
    throw usageFault('the rules and the log cannot both be stdin');
  if (flags.compareStatus === true && flags.before !== undefined)
    throw usageFault('--compare-status compares with the log, and --before with other rules');
  if (flags.anyRefusal === true && flags.compareStatus !== true)
    throw usageFault('--any-refusal is about --compare-status');
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
  const started = { ...flags, progress };
  if (flags.compareStatus === true) return compareStatuses({ logs, read }, after, started);
  const decided = logs.find(({ format }) => format === 'decision');
  const other = logs.find(({ format }) => format !== null && format !== 'decision');
  if (before === null && decided !== undefined && other !== undefined) {
    throw usageFault(
      `\`${decided.file}\` is a decision log, and \`${other.file}\` is not`,
      'replay them apart, or compare two rule sets with --before',
    );
  }
  if (before === null && decided !== undefined) await replayDecisions({ logs, read }, after, started);
  else await replayRequests({ logs, read }, { before, after }, started);
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  replay: [
    'edgeplan replay --log decisions.jsonl -f edge.yaml --json',
    'edgeplan replay --log /var/log/nginx/access.log --host shop.example.com',
    'edgeplan replay --log access.log.gz -f imported.yaml --compare-status',
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
        'with --before which decisions flip from one rule set to the other. With --compare-status a request is different where the rules ' +
        'and the log certainly answer otherwise, and open where they forward it and the log has a redirect or a refusal that may be ' +
        'of an origin. Exits with 1 when a decision changes or a request is different, with 3 when most lines cannot be read.',
    )
    .addOption(logOption())
    .addOption(
      new Option('--format <name>', 'the format of the logs; nginx-json has fields named as nginx variables')
        .choices(['auto', ...LOG_FORMATS])
        .default('auto'),
    )
    .addOption(fileOption())
    .option('--plan <path>', 'a sealed plan, in place of --file')
    .option('--before <path>', 'compare with this edge file or sealed plan, not with what the log says')
    .option(
      '--compare-status',
      'compare the status and the Location of each answer in the log with what the rules decide',
    )
    .option(
      '--any-refusal',
      'with --compare-status: a refusal there and one here are the same, whatever their statuses',
    );
  for (const option of factOptions()) command.addOption(option);
  signatureOptions(command)
    .option('--json', 'the report as JSON (edgeplan.replay/v1)')
    .addOption(colourOption())
    .action(run);
  return withExamples(command, EXAMPLES);
}
