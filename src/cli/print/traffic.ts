/** Prints the traffic of a domain: totals, a division with charts, and a top list with the bounds of its counts. */
import type { TrafficStep } from '../../control/traffic/read-traffic.ts';
import type {
  Quantiles,
  ShownTotals,
  ShownTraffic,
  ShownValue,
  TopAnswer,
} from '../../control/traffic/show-traffic.ts';
import type { Dimension, TopKind } from '../../engine/counts/counts.ts';
import { hang, type RenderedLine, span, wrap } from '../../workbench/simulation/render-text.ts';
import { periodText } from '../reports.ts';
import {
  type Column,
  columnWidths,
  grouped,
  headingLine,
  millisecondsText,
  octetsText,
  roomBeside,
  rowLine,
  shareText,
  sparkline,
} from './table.ts';

/** The API's answers as one. */
export interface TrafficReport extends ShownTraffic {
  readonly domain: string;
  readonly from: string;
  readonly to: string;
  readonly step: TrafficStep;
  readonly by: Dimension | null;
  readonly precision: { readonly visitors: number; readonly milliseconds: number };
  /** `null`: none was requested. */
  readonly top: (TopAnswer & { readonly of: TopKind; readonly from: string; readonly to: string }) | null;
}

/** Columns of the labels before the totals. */
const LABEL = 14;
/** Widest chart. */
const MOST_CHART = 40;
/** Values of one line of totals; further ones are counted. */
const VALUES_PRINTED = 8;
/** Fewest columns that a value of a top list is cut to. */
const LEAST_VALUE = 16;

/** The lines of a report; `width`: columns of a line. */
export function trafficLines(report: TrafficReport, width: number): readonly RenderedLine[] {
  const heading = [span(report.domain, 'strong'), span(`  ${periodText(report)}`, 'dim')];
  const { totals, top } = report;
  const traffic =
    totals.requests === 0
      ? [[span('no requests in this period')]]
      : [...totalLines(report, width), ...divisionLines(report, width)];
  return [...wrap(heading, width), [], ...traffic, ...(top === null ? [] : topLines(top, width))];
}

/** The totals, a line for each kind. */
function totalLines({ totals, points, precision }: TrafficReport, width: number): readonly RenderedLine[] {
  const requests = grouped(totals.requests);
  const chart = sparkline(
    points.map((point) => point.requests),
    Math.min(MOST_CHART, width - LABEL - requests.length - 2),
  );
  const rows: readonly (readonly [string, RenderedLine])[] = [
    ['requests', [span(requests, 'strong'), span('  '), span(chart, 'accent')]],
    ['visitors', [span(`${grouped(totals.visitors)} ± ${(precision.visitors * 100).toFixed(1)} %`)]],
    ['octets', [span(`${octetsText(totals.octets_out)} out · ${octetsText(totals.octets_in)} in`)]],
    ['statuses', valueSpans(totals.statuses, totals.requests)],
    ['cache', cacheSpans(totals)],
    ['origin', originSpans(totals)],
    ['first octet', quantileSpans(totals.edge_ms)],
    ['  of origins', quantileSpans(totals.origin_ms)],
  ];
  return rows.flatMap(([label, spans]) =>
    hang([span(label.padEnd(LABEL), 'dim')], wrap(spans, width - LABEL)),
  );
}

/** Values with their requests and shares, the most first. */
function valueSpans(values: Readonly<Record<string, number>>, whole: number): RenderedLine {
  const sorted = Object.entries(values).sort(([, left], [, right]) => right - left);
  const shown = sorted
    .slice(0, VALUES_PRINTED)
    .map(([value, requests]) => `${value} ${grouped(requests)} (${shareText(requests, whole)})`);
  const left = sorted.length - shown.length;
  return joined([...shown, ...(left > 0 ? [`${left} more`] : [])]);
}

/** Parts joined by dots; each stays on one line while it fits. */
function joined(parts: readonly string[]): RenderedLine {
  return parts.map((part, index) => ({
    text: index < parts.length - 1 ? `${part} · ` : part,
    tone: 'plain',
    whole: true,
  }));
}

/** The hit ratio, and the requests by result. */
function cacheSpans({ cache, cache_hit_ratio, requests }: ShownTotals): RenderedLine {
  const ratio =
    cache_hit_ratio === null ? 'no cacheable request' : `hit ratio ${(cache_hit_ratio * 100).toFixed(1)} %`;
  const { none: _none, ...results } = cache;
  return Object.keys(results).length === 0
    ? [span(ratio)]
    : [span(`${ratio}   `, 'strong'), ...valueSpans(results, requests)];
}

/** Requests to origins and their errors. */
function originSpans({ origin_requests, origin_errors }: ShownTotals): RenderedLine {
  const errors = `${grouped(origin_errors)} errors (${shareText(origin_errors, origin_requests)})`;
  return [
    span(`${grouped(origin_requests)} requests · `),
    span(errors, origin_errors === 0 ? 'plain' : 'bad'),
  ];
}

/** `p50 12 ms · p90 48 ms`. */
function quantileSpans(quantiles: Quantiles): RenderedLine {
  const parts = Object.entries(quantiles).flatMap(([name, value]) =>
    value === null ? [] : [`${name} ${millisecondsText(value)}`],
  );
  return parts.length === 0 ? [span('not measured', 'dim')] : joined(parts);
}

/** The columns of a division before its chart. */
const DIVISION: readonly Column[] = [
  { heading: '', align: 'left' },
  { heading: 'requests', align: 'right' },
  { heading: 'share', align: 'right' },
];

/** A line with a chart for each value. */
function divisionLines({ by, values, totals }: TrafficReport, width: number): readonly RenderedLine[] {
  if (by === null || values === undefined || values.length === 0) return [];
  const columns: readonly Column[] = [{ heading: `by ${by}`, align: 'left' }, ...DIVISION.slice(1)];
  const rows = values.map(({ value, requests }): readonly RenderedLine[] => [
    [span(value ?? 'all others', value === null ? 'dim' : 'plain')],
    [span(grouped(requests))],
    [span(shareText(requests, totals.requests), 'dim')],
  ]);
  const widths = columnWidths(columns, rows);
  const chart = Math.max(1, Math.min(MOST_CHART, roomBeside(widths, width)));
  const all = [...columns, { heading: '', align: 'left' as const }];
  const lines = rows.map((cells, index) => {
    const bars = span(sparkline(values[index]!.points, chart), toneOf(by, values[index]!));
    return rowLine(all, [...widths, chart], [...cells, [bars]]);
  });
  return [[], headingLine(columns, widths), ...lines];
}

/** The colour of a chart: refusals and errors stand out. */
function toneOf(by: Dimension, { value }: ShownValue): 'accent' | 'bad' | 'warn' {
  if (by === 'action' && (value === 'block' || value === 'refuse')) return 'bad';
  if (by === 'action' && value === 'challenge') return 'warn';
  if (by !== 'status' || value === null) return 'accent';
  return value >= '500' ? 'bad' : value >= '400' ? 'warn' : 'accent';
}

/** Names of what top lists are of, in headings. */
const TOP_NAMES: Readonly<Record<TopKind, string>> = {
  path: 'path',
  address: 'address',
  country: 'country',
  user_agent: 'User-Agent',
  ja4: 'JA4',
  referrer: 'referrer',
  unknown_operation: 'unknown operation',
};

/** A top list: each value with the most and the fewest requests that it may have. */
function topLines(
  { of, from, to, total, values, unlisted_at_most }: NonNullable<TrafficReport['top']>,
  width: number,
): readonly RenderedLine[] {
  const name = `top ${TOP_NAMES[of]}`;
  if (values.length === 0) return [[], [span(name, 'strong'), span('  none', 'dim')]];
  const exact = values.every(({ requests, at_least }) => requests === at_least);
  const columns: readonly Column[] = [
    { heading: exact ? 'requests' : 'at most', align: 'right' },
    ...(exact ? [] : [{ heading: 'at least', align: 'right' as const }]),
    { heading: 'share', align: 'right' },
    { heading: name, align: 'left' },
  ];
  const numbers = values.map(({ requests, at_least }): readonly RenderedLine[] => [
    [span(grouped(requests), 'strong')],
    ...(exact ? [] : [[span(grouped(at_least))]]),
    [span(shareText(requests, total), 'dim')],
  ]);
  const widths = columnWidths(columns, numbers);
  const room = Math.max(LEAST_VALUE, roomBeside(widths.slice(0, -1), width));
  const lines = numbers.map((cells, index) =>
    rowLine(columns, widths, [...cells, [span(shortened(values[index]!.value, room))]]),
  );
  const unlisted = unlisted_at_most === 0 ? '' : `; any other had at most ${grouped(unlisted_at_most)}`;
  const note = `of ${grouped(total)} requests, ${periodText({ from, to })}${unlisted}`;
  return [[], headingLine(columns, widths), ...lines, ...wrap([span(note, 'dim')], width)];
}

/** A value cut to a number of characters; `(none)` for an empty one. */
function shortened(value: string, room: number): string {
  if (value === '') return '(none)';
  const characters = [...value];
  return characters.length <= room ? value : `${characters.slice(0, room - 1).join('')}…`;
}
