/** Prints the uptime of a domain: its state with the reasons, the share of answered requests by hour, and incidents. */
import type { UptimeStatus } from '../../control/traffic/uptime/state.ts';
import { hang, type RenderedLine, span, type Tone, wrap } from '../../workbench/simulation/render-text.ts';
import { type Column, columnWidths, durationText, grouped, headingLine, rowLine } from './table.ts';

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
