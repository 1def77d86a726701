/** `edgeplan recommend`: prints what a domain's stored facts say should be changed, or one change for `edgeplan apply`. */
import { Command, Option } from 'commander';
import { paint } from '../../workbench/simulation/paint.ts';
import { type Examples, withExamples } from '../examples.ts';
import { CommandFault, EXIT, usageFault } from '../exit.ts';
import { colourOption, jsonOption } from '../options.ts';
import { type ColourChoice, colourFor, outputWidth, write, writeDocument } from '../output.ts';
import { type RecommendationsReport, recommendationLines } from '../print/recommendations.ts';
import { keyOption, type ServerAccess, serverOption } from '../remote/call-api.ts';
import { callDomainApi, domainPath } from '../remote/remote-domain.ts';

/** The options of the command, as commander parses them. */
interface Flags extends ServerAccess {
  /** Prints the change of the recommendation with this id. */
  readonly fix?: string;
  readonly json?: boolean;
  readonly color: ColourChoice;
}

/** Columns of a line where the output has no width: what people read with ease. */
const USUAL_WIDTH = 100;

async function run(domain: string, flags: Flags): Promise<void> {
  const { fix, json, color } = flags;
  if (fix !== undefined && json === true)
    throw usageFault('--fix prints an edge file, not JSON', 'the JSON has every change as `fix.edge_yaml`');
  const report = await readReport(domain, flags);
  if (fix !== undefined) return write(fragmentOf(report, fix));
  if (json === true) return writeDocument('recommendations', report);
  const width = Number.isFinite(outputWidth()) ? outputWidth() : USUAL_WIDTH;
  await write(paint(recommendationLines(report, width), colourFor(process.stdout, color)));
}

/** Reads every page. */
async function readReport(domain: string, flags: Flags): Promise<RecommendationsReport> {
  const recommendations: RecommendationsReport['recommendations'][number][] = [];
  for (;;) {
    const path = `${domainPath(domain, '/recommendations/')}?cursor=${recommendations.length}`;
    const { body, headers } = await callDomainApi(domain, flags, { method: 'GET', path });
    const page = body as RecommendationsReport['recommendations'];
    recommendations.push(...page);
    const left = headers.get('x-left-out');
    const left_out = left === null ? [] : left.split(', ');
    if (!headers.has('link') || page.length === 0) return { domain, recommendations, left_out };
  }
}

/** The change of one recommendation as the text of an edge file. @throws CommandFault with exit code 1 */
function fragmentOf({ domain, recommendations }: RecommendationsReport, id: string): string {
  const found = recommendations.find((one) => one.id === id);
  if (found === undefined) {
    throw new CommandFault(EXIT.no, `there is no recommendation \`${id}\` for ${domain}`, {
      remedy: `edgeplan recommend ${domain} lists those that there are`,
    });
  }
  if (found.fix !== null) return found.fix.edge_yaml;
  throw new CommandFault(EXIT.no, `no change of edge rules or records is proposed for \`${id}\``, {
    remedy: found.message,
  });
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  recommend: [
    'edgeplan recommend example.com',
    'edgeplan recommend example.com --fix unused_rule:drop/57 | edgeplan apply -f -',
    'edgeplan recommend example.com --json',
  ],
};

/** Creates the command. */
export function recommendCommand(): Command {
  const command = new Command('recommend')
    .summary('what should be changed on a domain, with evidence and the change')
    .description(
      'Lists what rules, hits, log entries, records, certificates and keys say should be changed, the most severe first, each ' +
        'with its evidence. --fix prints the proposed change as a fragment of an edge file, which apply makes.',
    )
    .argument('<domain>', 'its name')
    .addOption(new Option('--fix <id>', 'print the change of this recommendation as YAML for apply'))
    .addOption(jsonOption('recommendations'))
    .addOption(serverOption())
    .addOption(keyOption())
    .addOption(colourOption())
    .action(run);
  return withExamples(command, EXAMPLES);
}
