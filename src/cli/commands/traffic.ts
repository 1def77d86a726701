/** `edgeplan traffic`: prints what came in for a domain: totals, a division with charts, and on request a top list. */
import { Command, Option } from 'commander';
import { DIMENSIONS, type Dimension, TOP_KINDS, type TopKind } from '../../engine/counts/counts.ts';
import { type Examples, withExamples } from '../examples.ts';
import { colourOption, jsonOption } from '../options.ts';
import { outputWidth } from '../output.ts';
import { type TrafficReport, trafficLines } from '../print/traffic.ts';
import { keyOption, type ServerAccess, serverOption } from '../remote/call-api.ts';
import { callDomainApi, domainPath } from '../remote/remote-domain.ts';
import {
  followOption,
  type PeriodFlags,
  periodAt,
  periodOptions,
  printReport,
  type ReportFlags,
} from '../reports.ts';

/** The options of the command, as commander parses them. */
interface Flags extends ServerAccess, PeriodFlags, ReportFlags {
  /** What requests are divided by. */
  readonly by: Dimension;
  /** What a top list is of; absent: none. */
  readonly top?: TopKind;
}

/** Columns of a line where the output has no width: as wide as a chart is useful. */
const USUAL_WIDTH = 100;

async function run(domain: string, flags: Flags): Promise<void> {
  await printReport(
    async () => {
      const { query } = periodAt(flags, Date.now());
      const report = await readReport(domain, query, flags);
      const width = Number.isFinite(outputWidth()) ? outputWidth() : USUAL_WIDTH;
      return { fields: report, lines: trafficLines(report, width) };
    },
    { name: 'traffic', flags },
  );
}

/** Reads the counts, and the top list where one was requested. */
async function readReport(
  domain: string,
  query: Readonly<Record<string, string>>,
  flags: Flags,
): Promise<TrafficReport> {
  const { by, top } = flags;
  const get = async (below: string, parameters: Readonly<Record<string, string>>): Promise<unknown> => {
    const path = `${domainPath(domain, below)}?${new URLSearchParams(parameters)}`;
    return (await callDomainApi(domain, flags, { method: 'GET', path })).body;
  };
  const counts = (await get('/analytics/', { ...query, by })) as Omit<TrafficReport, 'domain' | 'top'>;
  const { step: _step, ...ends } = query;
  const list = top === undefined ? null : await get('/analytics/top/', { ...ends, of: top });
  return { domain, ...counts, top: list as TrafficReport['top'] };
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  traffic: [
    'edgeplan traffic example.com',
    'edgeplan traffic example.com --last 7d --by country --top path',
    'edgeplan traffic example.com --last 2h --by status --follow',
  ],
};

/** Creates the command. */
export function trafficCommand(): Command {
  const command = new Command('traffic')
    .summary('what came in: requests, statuses, cache, times, visitors, top lists')
    .description(
      'Prints the traffic of a domain over a period: totals with a chart, the hit ratio of the cache, times to the first ' +
        'octet, visitors, and the requests by action or another dimension. --top adds a list of the most frequent values.',
    )
    .argument('<domain>', 'its name');
  periodOptions(command)
    .addOption(new Option('--by <what>', 'divide requests by it').choices(DIMENSIONS).default('action'))
    .addOption(new Option('--top <what>', 'add the most frequent values of it').choices(TOP_KINDS))
    .addOption(jsonOption('traffic'))
    .addOption(followOption())
    .addOption(serverOption())
    .addOption(keyOption())
    .addOption(colourOption())
    .action(run);
  return withExamples(command, EXAMPLES);
}
