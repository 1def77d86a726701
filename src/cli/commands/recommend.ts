/** `edgeplan recommend`: prints what a domain's stored facts say should be changed, or one change for `edgeplan apply`. */
import { Command, Option } from 'commander';
import type { Severity } from '../../base/diagnostics/severity.ts';
import type { Recommendation } from '../../control/recommendations/shapes.ts';
import { paint } from '../../workbench/simulation/paint.ts';
import {
  dotted,
  hang,
  quantity,
  type RenderedLine,
  span,
  type Tone,
  wrap,
} from '../../workbench/simulation/render-text.ts';
import { type Examples, withExamples } from '../examples.ts';
import { CommandFault, EXIT, usageFault } from '../exit.ts';
import { colourOption, jsonOption } from '../options.ts';
import { type ColourChoice, colourFor, outputWidth, write, writeDocument } from '../output.ts';
import { grouped } from '../print/table.ts';
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

// Prints recommendations: a paragraph for each, with its evidence in one line and the command that makes its change.

/** All pages of the API's answer as one. */
interface RecommendationsReport {
  readonly domain: string;
  readonly recommendations: readonly Recommendation[];
  /** What the server did not read, and why: `logs=logs_enabled`. */
  readonly left_out: readonly string[];
}

const TONES: Readonly<Record<Severity, Tone>> = { error: 'bad', warning: 'warn', info: 'accent' };
/** Columns of the severity. */
const LABEL = 9;
/** Facts that are ids: their digits are not grouped. */
const IDS: readonly string[] = ['signature', 'record', 'certificate', 'key'];
/** Entries of a list that are printed. */
const MOST_LISTED = 4;

/** The lines of a report; `width`: columns of a line. */
function recommendationLines(
  { domain, recommendations, left_out }: RecommendationsReport,
  width: number,
): readonly RenderedLine[] {
  const count = recommendations.length;
  const sum = count === 0 ? 'no recommendations' : quantity(count, 'recommendation');
  return [
    [span(domain, 'strong'), span(`  ${sum}`, 'dim')],
    ...left_out.flatMap((left) => wrap([span(leftText(left), 'dim')], width)),
    ...recommendations.flatMap((one) => [[], ...linesOf(one, width)]),
  ];
}

/** What was not read, as a sentence. */
function leftText(left: string): string {
  const [what = '', why = ''] = left.split('=');
  const reason =
    why === 'not_stored' ? 'this server stores none' : `the plan of the domain does not include \`${why}\``;
  return what === 'logs' ? `without log entries: ${reason}` : `without hits: ${reason}`;
}

function linesOf(
  { id, severity, message, evidence, fix }: Recommendation,
  width: number,
): readonly RenderedLine[] {
  const room = Math.max(1, width - LABEL);
  const part = (label: string, spans: RenderedLine): readonly RenderedLine[] =>
    hang([span(label.padEnd(LABEL), 'dim')], wrap(spans, room));
  return [
    [span(severity.padEnd(LABEL), TONES[severity]), span(id, 'strong')],
    ...part('', [span(message)]),
    ...part('', dotted(Object.entries(evidence).map(factText), 'dim')),
    ...(fix === null ? [] : part('fix', [span(fix.summary, 'good')])),
    // The command is one line, whatever the width, so that it can be copied.
    ...(fix === null ? [] : [[span(' '.repeat(LABEL)), span(fix.command)]]),
  ];
}

/** `would change 1,204`; `null` for what the id and the message have. */
function factText([name, value]: [string, unknown]): string | null {
  if (['rule', 'finding', 'remedy', 'code'].includes(name) || value === null) return null;
  const words = name.replaceAll('_', ' ');
  if (IDS.includes(name)) return `${words} ${String(value)}`;
  if (Array.isArray(value)) {
    if (value.length === 0) return null;
    const more = value.length > MOST_LISTED ? ` and ${value.length - MOST_LISTED} more` : '';
    return `${words} ${value.slice(0, MOST_LISTED).map(entryText).join(', ')}${more}`;
  }
  return `${words} ${entryText(value)}`;
}

function entryText(value: unknown): string {
  if (typeof value === 'number') return Number.isInteger(value) ? grouped(value) : String(value);
  if (typeof value === 'string')
    return /^\d{4}-\d\d-\d\dT/.test(value) ? value.slice(0, 16).replace('T', ' ') : value;
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.values(value)
    .filter((part) => part !== null)
    .map(entryText)
    .join(' ');
}
