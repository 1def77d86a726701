/**
 * Prints the hits of rules as a table in evaluation order: how often each matched, when last, over time, and what it did.
 * Below a dry_run rule: what enforcing it would have changed.
 */
import type { RuleType } from '../../base/vocabulary/vocabulary.ts';
import type { TrafficStep } from '../../control/traffic/read-traffic.ts';
import { startsOf } from '../../control/traffic/retention.ts';
import {
  type HitSums,
  type RemovedRule,
  type ShownChange,
  type ShownRule,
  UNKNOWN_EFFECT,
} from '../../control/traffic/show-hits.ts';
import {
  hang,
  lineColumns,
  quantity,
  type RenderedLine,
  span,
  type TextSpan,
  wrap,
} from '../../workbench/simulation/render-text.ts';
import { periodText } from '../reports.ts';
import {
  type Column,
  columnWidths,
  durationText,
  grouped,
  headingLine,
  roomBeside,
  rowLine,
  sparkline,
} from './table.ts';

/** All pages of the API's answer as one. */
export interface HitsReport {
  readonly domain: string;
  readonly from: string;
  readonly to: string;
  readonly step: TrafficStep;
  readonly rules: readonly ShownRule[];
  readonly removed: readonly RemovedRule[];
  readonly uncounted: HitSums['uncounted'];
}

/** How a report is printed. */
export interface HitsLayout {
  /** Columns of a line. */
  readonly width: number;
  /** The period in words, such as `24 h`. */
  readonly words: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The columns before the chart. */
const COLUMNS: readonly Column[] = [
  { heading: 'rule', align: 'left' },
  { heading: 'mode', align: 'left' },
  { heading: 'prio', align: 'right' },
  { heading: 'hits', align: 'right' },
  { heading: 'last', align: 'right' },
];
/** Narrowest and widest chart. */
const CHART = { least: 12, most: 32 } as const;
/** Narrowest column that effects are broken at. */
const LEAST_EFFECTS = 14;
/** Effects that are the same under dry_run, where the others are what the rule would have done. */
const ALIKE: readonly string[] = ['counted', 'passed', 'unavailable', 'self_redirect', UNKNOWN_EFFECT];
/** Shadow changes printed below a rule; further ones are counted. */
const CHANGES_PRINTED = 5;

/** The lines of a report. */
export function hitsLines(report: HitsReport, layout: HitsLayout): readonly RenderedLine[] {
  const { domain, rules, removed } = report;
  const heading = [span(domain, 'strong'), span(`  ${periodText(report)}`, 'dim')];
  if (rules.length + removed.length === 0) return [heading, [span('no rules')]];
  const used = rules.filter(({ hits }) => hits > 0);
  const cells = new Map(rules.map((rule) => [rule, ruleCells(rule, layout.now)]));
  const widths = columnWidths(COLUMNS, [...cells.values()]);
  const effects = used.map((rule) => effectsText(rule));
  const spare = roomBeside([...widths, CHART.least], layout.width);
  const longest = Math.max('effect'.length, ...effects.map((text) => text.length));
  const effectsWidth = Math.min(longest, Math.max(LEAST_EFFECTS, spare));
  const room = roomBeside([...widths, effectsWidth], layout.width);
  const chart = Math.max(CHART.least, Math.min(CHART.most, room, pointsOf([], report).length));
  const columns: readonly Column[] = [
    ...COLUMNS,
    { heading: layout.words, align: 'left' },
    { heading: 'effect', align: 'left' },
  ];
  const table: Table = { report, layout, columns, widths: [...widths, chart, effectsWidth] };
  return [
    heading,
    [],
    headingLine(table.columns, table.widths),
    ...rules.flatMap((rule) => ruleLines(rule, cells.get(rule)!, table)),
    ...removed.flatMap((rule) => removedLine(rule, table)),
    [],
    [span(summary(report), 'dim')],
  ];
}

/** The table that lines are laid out in. */
interface Table {
  readonly report: HitsReport;
  readonly layout: HitsLayout;
  readonly columns: readonly Column[];
  readonly widths: readonly number[];
}

/** The cells of a rule before its chart. */
function ruleCells(
  { type, id, enabled, action_mode, priority, hits, last_at }: ShownRule,
  now: number,
): readonly RenderedLine[] {
  const unused = hits === 0;
  const mode = enabled ? action_mode : 'off';
  const tone = unused ? 'dim' : 'plain';
  return [
    [span(`${type}/${id}`, unused ? 'dim' : 'strong')],
    [span(mode, mode === 'dry_run' ? 'warn' : tone === 'dim' || mode === 'off' ? 'dim' : 'plain')],
    [span(String(priority), 'dim')],
    [span(grouped(hits), tone)],
    last_at === null ? [] : [span(durationText(now - Date.parse(last_at)), tone)],
  ];
}

/** The lines of a rule: its row, its first filters, and what it would have changed. */
function ruleLines(rule: ShownRule, cells: readonly RenderedLine[], table: Table): readonly RenderedLine[] {
  const { report, layout, columns, widths } = table;
  const { width, words } = layout;
  const { hits, about, action_mode, changes } = rule;
  if (hits === 0) {
    const never = words === 'this period' ? 'never in this period' : `never in ${words}`;
    const row = rowLine(columns, widths, cells.slice(0, 4));
    const text = about === '' ? never : `${never} · ${about}`;
    return [[...row, ...cut(span(`  ${text}`, 'dim'), width - lineColumns(row))]];
  }
  const [chartWidth = CHART.least] = widths.slice(-2);
  const chart: RenderedLine = [span(sparkline(pointsOf(rule.series ?? [], report), chartWidth), 'accent')];
  const row = rowLine(columns, widths, [...cells, chart]);
  const effects = effectsText(rule);
  return [
    ...hang([...row, span('  ')], wrap([span(effects)], widths.at(-1)!)),
    ...(about === '' ? [] : [cut(span(`  ${about}`, 'dim'), width)]),
    ...(action_mode === 'dry_run' || changes.length > 0 ? changeLines(rule, width) : []),
  ];
}

/** A text of at most `width` columns; what is cut off becomes an ellipsis. */
function cut(text: TextSpan, width: number): RenderedLine {
  if (lineColumns([text]) <= width) return [text];
  const characters = [...text.text];
  while (characters.length > 0 && lineColumns([{ ...text, text: `${characters.join('')}…` }]) > width)
    characters.pop();
  return [{ ...text, text: `${characters.join('')}…` }];
}

/** Hits of each step of the period. */
function pointsOf(
  series: NonNullable<ShownRule['series']>,
  { from, to, step }: HitsReport,
): readonly number[] {
  const hits = new Map(series.map((one) => [Date.parse(one.at), one.hits]));
  return startsOf({ from: Date.parse(from), to: Date.parse(to), step }).map((start) => hits.get(start) ?? 0);
}

/** What a rule did: `block`; with numbers where it did several things. */
function effectsText({ by_effect }: ShownRule): string {
  const effects = [
    ...Object.entries(by_effect.enforce),
    ...Object.entries(by_effect.dry_run).map(
      ([effect, hits]) => [ALIKE.includes(effect) ? effect : `would ${effect}`, hits] as const,
    ),
  ].sort(([, left], [, right]) => right - left);
  if (effects.length === 1) return effects[0]![0];
  return effects.map(([effect, hits]) => `${effect} ${grouped(hits)}`).join(' · ');
}

/** What enforcing a rule would have changed, a line for each change. */
function changeLines({ would_change, changes }: ShownRule, width: number): readonly RenderedLine[] {
  if (would_change === 0) return [[span('  would have changed nothing', 'warn')]];
  const ways = new Map<string, ShownChange[]>();
  for (const change of changes) {
    const way = `${change.from} → ${change.to}`;
    ways.set(way, [...(ways.get(way) ?? []), change]);
  }
  const lines = [...ways].map(([way, of]) => wayText(way, of));
  const left = lines.length - CHANGES_PRINTED;
  const shown =
    left > 0 ? [...lines.slice(0, CHANGES_PRINTED), `and ${left} more ways; --json lists them`] : lines;
  const lead = 'would have: ';
  return shown.flatMap((text, index) => {
    const first: TextSpan = span(`  ${index === 0 ? lead : ' '.repeat(lead.length)}`, 'warn');
    return hang([first], wrap([span(text, 'warn')], width - first.text.length));
  });
}

/** `1,204 forward → block 403 (12 instead of redirect/7)`; without the number where it is that of all. */
function wayText(way: string, changes: readonly ShownChange[]): string {
  const sum = changes.reduce((all, { requests }) => all + requests, 0);
  const instead = changes.flatMap((change) => {
    if (change.instead === null) return [];
    const part = change.requests === sum ? '' : `${grouped(change.requests)} `;
    return [`${part}instead of ${change.instead}`];
  });
  return `${grouped(sum)} ${way}${instead.length === 0 ? '' : ` (${instead.join(', ')})`}`;
}

/** The row of a rule that does not exist any more. */
function removedLine(
  { type, id, hits, last_at }: RemovedRule,
  { columns, widths, layout }: Table,
): readonly RenderedLine[] {
  const last = last_at === null ? '' : durationText(layout.now - Date.parse(last_at));
  const cells = [`${type}/${id}`, 'removed', '', grouped(hits), last].map((text) => [span(text, 'dim')]);
  return [rowLine(columns, widths, cells)];
}

/** `12 rules, 3 of them without a hit in 24 h`. */
function summary({ rules, removed, uncounted }: HitsReport): string {
  const unused = rules.filter(({ hits }) => hits === 0).length;
  const parts = [
    quantity(rules.length, 'rule'),
    ...(unused === 0 ? [] : [`${unused} without a hit`]),
    ...(removed.length === 0 ? [] : [`${removed.length} removed with hits`]),
    ...(uncounted.hits === 0 ? [] : [`${grouped(uncounted.hits)} hits beyond the rules counted apart`]),
  ];
  return parts.join(' · ');
}

/** Rules of one type, and its removed ones. */
export function ofType(report: HitsReport, type: RuleType): HitsReport {
  const isOf = (rule: { readonly type: RuleType }): boolean => rule.type === type;
  return { ...report, rules: report.rules.filter(isOf), removed: report.removed.filter(isOf) };
}
