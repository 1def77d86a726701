/** Prints the use of a gateway or a consumer: totals with a chart, and a division. */
import type { TrafficStep } from '../../control/traffic/read-traffic.ts';
import type { ShownUse, UseDivision } from '../../control/traffic/show-gateway-use.ts';
import { type RenderedLine, span, wrap } from '../../workbench/simulation/render-text.ts';
import { periodText } from '../reports.ts';
import { type Column, columnWidths, grouped, headingLine, rowLine, shareText, sparkline } from './table.ts';

/** The answer of the API. */
export interface UsageReport extends ShownUse {
  /** `gateway 12` or `consumer acme`. */
  readonly of: string;
  readonly domain: string;
  readonly from: string;
  readonly to: string;
  readonly step: TrafficStep;
  readonly by: UseDivision;
}

/** Widest chart. */
const MOST_CHART = 40;
/** Columns of the labels before the totals. */
const LABEL = 10;

const COLUMNS: readonly Column[] = [
  { heading: '', align: 'left' },
  { heading: 'requests', align: 'right' },
  { heading: 'share', align: 'right' },
  { heading: 'refused', align: 'right' },
];

/** The lines of a report; `width`: columns of a line. */
export function usageLines(report: UsageReport, width: number): readonly RenderedLine[] {
  const { totals, points, uncounted } = report;
  const heading = [span(`${report.domain} ${report.of}`, 'strong'), span(`  ${periodText(report)}`, 'dim')];
  const lines = [...wrap(heading, width), []];
  if (totals.requests === 0) return [...lines, [span('no requests in this period')]];
  const requests = grouped(totals.requests);
  const chart = sparkline(
    points.map((point) => point.requests),
    Math.max(1, Math.min(MOST_CHART, width - LABEL - requests.length - 2)),
  );
  const refused = totals.requests - totals.admitted;
  const admitted = `${grouped(totals.admitted)} (${shareText(totals.admitted, totals.requests)})`;
  return [
    ...lines,
    [span('requests'.padEnd(LABEL), 'dim'), span(requests, 'strong'), span('  '), span(chart, 'accent')],
    [span('admitted'.padEnd(LABEL), 'dim'), span(admitted)],
    [span('refused'.padEnd(LABEL), 'dim'), span(grouped(refused), refused === 0 ? 'plain' : 'warn')],
    ...(uncounted.requests === 0
      ? []
      : wrap(
          [span(`${grouped(uncounted.requests)} more requests of the domain are in no figure`, 'warn')],
          width,
        )),
    ...divisionLines(report),
  ];
}

function divisionLines({ by, values = [], others, totals }: UsageReport): readonly RenderedLine[] {
  const columns: readonly Column[] = [{ heading: `by ${by}`, align: 'left' }, ...COLUMNS.slice(1)];
  const rest = others === undefined || others.requests === 0 ? [] : [{ value: 'all others', ...others }];
  const rows = [...values, ...rest].map(({ value, requests, admitted }): readonly RenderedLine[] => [
    [span(value ?? 'none', value === null ? 'dim' : 'plain')],
    [span(grouped(requests))],
    [span(shareText(requests, totals.requests), 'dim')],
    [span(grouped(requests - admitted), requests === admitted ? 'plain' : 'warn')],
  ]);
  const widths = columnWidths(columns, rows);
  return [[], headingLine(columns, widths), ...rows.map((cells) => rowLine(columns, widths, cells))];
}
