/** `edgeplan uptime`: prints whether the origins of a domain answer, why, how often they did, and the incidents. */
import { Command, Option } from 'commander';
import { type Examples, withExamples } from '../examples.ts';
import { usageFault } from '../exit.ts';
import { colourOption, jsonOption, readDuration } from '../options.ts';
import { outputWidth } from '../output.ts';
import { type UptimeReport, uptimeLines } from '../print/uptime.ts';
import { keyOption, type ServerAccess, serverOption } from '../remote/call-api.ts';
import { callDomainApi, domainPath } from '../remote/remote-domain.ts';
import { followOption, printReport, type ReportFlags } from '../reports.ts';

/** The options of the command, as commander parses them. */
interface Flags extends ServerAccess, ReportFlags {
  /** Milliseconds. */
  readonly last: number;
}

const HOUR_MS = 3_600_000;
/** Hours that the API answers, at most. */
const MAX_HOURS = 35 * 24;
/** Incidents that are printed, at most. */
const INCIDENTS = 10;
/** Columns of a line where the output has no width. */
const USUAL_WIDTH = 100;

async function run(domain: string, flags: Flags): Promise<void> {
  const hours = Math.ceil(flags.last / HOUR_MS);
  if (hours > MAX_HOURS)
    throw usageFault('hours are stored for 35 days', `write --last ${MAX_HOURS / 24}d, or less`);
  await printReport(
    async () => {
      const report = await readReport(domain, hours, flags);
      const width = Number.isFinite(outputWidth()) ? outputWidth() : USUAL_WIDTH;
      return { fields: report, lines: uptimeLines(report, { width, now: Date.now() }) };
    },
    { name: 'uptime', flags },
  );
}

/** Reads the uptime, and the newest incidents. */
async function readReport(domain: string, hours: number, flags: Flags): Promise<UptimeReport> {
  const get = async (below: string): Promise<unknown> =>
    (await callDomainApi(domain, flags, { method: 'GET', path: domainPath(domain, below) })).body;
  const uptime = (await get(`/uptime/?hours=${hours}`)) as Omit<UptimeReport, 'domain' | 'incidents'>;
  const incidents = (await get(`/uptime/incidents/?limit=${INCIDENTS}`)) as UptimeReport['incidents'];
  return { domain, ...uptime, incidents };
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  uptime: [
    'edgeplan uptime example.com',
    'edgeplan uptime example.com --last 7d --json',
    'edgeplan uptime example.com --last 6h --follow',
  ],
};

/** Creates the command. */
export function uptimeCommand(): Command {
  const command = new Command('uptime')
    .summary('whether the origins of a domain answer, and when they did not')
    .description(
      'Prints the state of a domain by the requests to its monitored records, with the reasons; the share of them that ' +
        'an origin answered, by hour; and the newest incidents.',
    )
    .argument('<domain>', 'its name')
    .addOption(
      new Option('--last <duration>', 'hours of the last 24h, 7d or 2w')
        .argParser(readDuration)
        .default(24 * HOUR_MS, '24h'),
    )
    .addOption(jsonOption('uptime'))
    .addOption(followOption())
    .addOption(serverOption())
    .addOption(keyOption())
    .addOption(colourOption())
    .action(run);
  return withExamples(command, EXAMPLES);
}
