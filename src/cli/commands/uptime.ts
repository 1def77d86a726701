/** `edgeplan uptime`: prints whether the origins of a domain answer, why, how often they did, and the incidents. */
import { Command, Option } from 'commander';
import type { UptimeStatus } from '../../control/traffic/uptime/state.ts';
import { hang, type RenderedLine, span, type Tone, wrap } from '../../workbench/simulation/render-text.ts';
import { type Examples, withExamples } from '../examples.ts';
import { usageFault } from '../exit.ts';
import { colourOption, jsonOption, readDuration } from '../options.ts';
import { outputWidth } from '../output.ts';
import { type Column, columnWidths, durationText, grouped, headingLine, rowLine } from '../print/table.ts';
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

// Prints the uptime of a domain: its state with the reasons, the share of answered requests by hour, and incidents.

/** An incident as the API shows it. */
export interface ShownIncident {
  readonly id: number;
  readonly began_at: string;
  readonly opened_at: string;
  readonly resolved_at: string | null;
  readonly resolution: 'recovered' | 'no_traffic' | null;
  readonly requests: number;
  readonly errors: number;
}

/** The API's answers as one. */
export interface UptimeReport {
  readonly domain: string;
  readonly status: UptimeStatus;
  readonly reasons: readonly string[];
  readonly judged_through: string | null;
  readonly incident: ShownIncident | null;
  readonly availability: number | null;
  readonly requests: number;
  readonly errors: number;
  readonly hours: readonly {
    readonly at: string;
    readonly requests: number;
    readonly errors: number;
    readonly availability: number | null;
  }[];
  /** The newest first. */
  readonly incidents: readonly ShownIncident[];
}

/** Columns of the labels. */
const LABEL = 14;
const TONES: Readonly<Record<UptimeStatus, Tone>> = { up: 'good', down: 'bad', unknown: 'dim' };
/** Bars of an hour by the share of its requests that had an answer, the worst first. */
const BARS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇'] as const;
const COLUMNS: readonly Column[] = [
  { heading: 'incident', align: 'right' },
  { heading: 'began', align: 'left' },
  { heading: 'lasted', align: 'right' },
  { heading: 'errors', align: 'right' },
  { heading: 'requests', align: 'right' },
  { heading: 'end', align: 'left' },
];

/** The lines of a report; `width`: columns of a line, `now`: milliseconds since the epoch. */
export function uptimeLines(
  report: UptimeReport,
  { width, now }: { readonly width: number; readonly now: number },
): readonly RenderedLine[] {
  const { domain, status, reasons, availability, requests, errors, hours } = report;
  const state = [span(domain, 'strong'), span('  '), span(status, TONES[status])];
  const rows: readonly (readonly [string, RenderedLine])[] = [
    ...reasons.map((reason, index): readonly [string, RenderedLine] => [
      index === 0 ? 'why' : '',
      [span(reason)],
    ]),
    ['judged', [span(judgedText(report, now), 'dim')]],
    ['answered', [span(shareText(availability), 'strong'), span(`  of ${grouped(requests)} requests`)]],
    ['errors', [span(grouped(errors), errors === 0 ? 'plain' : 'bad')]],
    [`${hours.length} h`, hourBars(report)],
  ];
  return [
    ...wrap(state, width),
    [],
    ...rows.flatMap(([label, spans]) =>
      hang([span(label.padEnd(LABEL), 'dim')], wrap(spans, Math.max(1, width - LABEL))),
    ),
    ...incidentLines(report, now),
  ];
}

function judgedText({ judged_through: through }: UptimeReport, now: number): string {
  return through === null ? 'never' : `minutes up to ${durationText(now - Date.parse(through))} ago`;
}

/** `99.87 %`; never 100 where a request had no answer. */
function shareText(availability: number | null): string {
  if (availability === null) return '–';
  const percent = availability === 1 ? 100 : Math.min(99.99, availability * 100);
  return `${percent.toFixed(2)} %`;
}

/** A bar for each hour: full where every request had an answer, a dot where there was none. */
function hourBars({ hours }: UptimeReport): RenderedLine {
  return hours.map(({ availability }) => {
    if (availability === null) return span('·', 'dim');
    if (availability === 1) return span('█', 'good');
    const bar = BARS[Math.min(BARS.length - 1, Math.floor(availability * BARS.length))]!;
    return span(bar, availability >= 0.99 ? 'warn' : 'bad');
  });
}

function incidentLines({ incidents }: UptimeReport, now: number): readonly RenderedLine[] {
  if (incidents.length === 0) return [[], [span('no incidents', 'dim')]];
  const cells = incidents.map((one): readonly RenderedLine[] => {
    const end = one.resolved_at === null ? now : Date.parse(one.resolved_at);
    return [
      [span(String(one.id), 'strong')],
      [span(`${one.began_at.slice(0, 16).replace('T', ' ')} UTC`)],
      [span(durationText(end - Date.parse(one.began_at)))],
      [span(grouped(one.errors))],
      [span(grouped(one.requests))],
      one.resolution === null ? [span('open', 'bad')] : [span(ENDS[one.resolution])],
    ];
  });
  const widths = columnWidths(COLUMNS, cells);
  return [[], headingLine(COLUMNS, widths), ...cells.map((row) => rowLine(COLUMNS, widths, row))];
}

const ENDS = { recovered: 'recovered', no_traffic: 'no request for 24 h' } as const;
