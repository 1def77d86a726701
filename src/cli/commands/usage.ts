/** `edgeplan usage`: prints the requests to a gateway or of a consumer over a period. */
import { Command, Option } from 'commander';
import type { UseDivision } from '../../control/traffic/show-gateway-use.ts';
import { type Examples, withExamples } from '../examples.ts';
import { usageFault } from '../exit.ts';
import { colourOption, jsonOption } from '../options.ts';
import { outputWidth } from '../output.ts';
import { usageLines } from '../print/usage.ts';
import { keyOption, serverOption } from '../remote/call-api.ts';
import { readUsage, type UsageFlags } from '../remote/read-usage.ts';
import { followOption, periodOptions, printReport, type ReportFlags } from '../reports.ts';

/** The options of the command, as commander parses them. */
interface Flags extends UsageFlags, ReportFlags {}

/** Columns of a line where the output has no width. */
const USUAL_WIDTH = 100;

async function run(domain: string, flags: Flags): Promise<void> {
  if ((flags.gateway === undefined) === (flags.consumer === undefined))
    throw usageFault('name one of the two: --gateway <id> or --consumer <username>');
  await printReport(
    async () => {
      const report = await readUsage(domain, flags);
      const width = Number.isFinite(outputWidth()) ? outputWidth() : USUAL_WIDTH;
      return { fields: report, lines: usageLines(report, width) };
    },
    { name: 'usage', flags },
  );
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  usage: [
    'edgeplan usage example.com --gateway 12',
    'edgeplan usage example.com --gateway 12 --by operation --last 7d',
    'edgeplan usage example.com --consumer acme --by status --follow',
  ],
};

/** Creates the command. */
export function usageCommand(): Command {
  const command = new Command('usage')
    .summary('requests to a gateway or of a consumer, by operation and status')
    .description(
      'Prints how many requests a gateway decided over a period and how many it admitted, which quotas count, divided by ' +
        'consumer or another dimension; or the same of one consumer.',
    )
    .argument('<domain>', 'its name')
    .option('--gateway <id>', 'the gateway of this id')
    .option('--consumer <username>', 'the consumer of this username');
  periodOptions(command)
    .addOption(
      new Option(
        '--by <what>',
        'divide requests by it (default: consumer; of a consumer: operation)',
      ).choices(['gateway', 'consumer', 'operation', 'status'] satisfies UseDivision[]),
    )
    .addOption(jsonOption('usage'))
    .addOption(followOption())
    .addOption(serverOption())
    .addOption(keyOption())
    .addOption(colourOption())
    .action(run);
  return withExamples(command, EXAMPLES);
}
