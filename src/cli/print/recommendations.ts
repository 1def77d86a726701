/** Prints recommendations: a paragraph for each, with its evidence in one line and the command that makes its change. */
import type { Severity } from '../../base/diagnostics/severity.ts';
import type { Recommendation } from '../../control/recommendations/shapes.ts';
import {
  dotted,
  hang,
  quantity,
  type RenderedLine,
  span,
  type Tone,
  wrap,
} from '../../workbench/simulation/render-text.ts';
import { grouped } from './table.ts';

/** All pages of the API's answer as one. */
export interface RecommendationsReport {
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
export function recommendationLines(
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
  if (['rule', 'finding', 'remedy', 'code', 'reasons'].includes(name) || value === null) return null;
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
