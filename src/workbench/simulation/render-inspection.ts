/** Renders the inspection of a waf rule: each matched signature, and what contributed to the score. */
import type { InspectionExclusion, WafMatch } from '../../engine/evaluator/waf.ts';
import type { InspectionDocument } from './decision-document.ts';
import { dotted, hang, pad, quantity, type RenderedLine, span, wrap } from './render-text.ts';

/** ModSecurity's names of severities, by number. */
export const SEVERITIES = [
  'emergency',
  'alert',
  'critical',
  'error',
  'warning',
  'notice',
  'info',
  'debug',
] as const;

/**
 * One signature: `942100  +5 critical  SQL injection  ARGS:id \`1 or 1\``. The evaluator has redacted the matched
 * text.
 */
function matchLines(match: WafMatch, { id, width }: { id: number; width: number }): readonly RenderedLine[] {
  const severity = SEVERITIES[match.severity] ?? 'none';
  const score = match.score === 0 ? '' : `+${match.score} `;
  const first = [
    span(`${pad(String(match.id), id)}  `, 'strong'),
    span(pad(`${score}${severity}`, LONGEST_SCORE + 2), match.score === 0 ? 'dim' : 'bad'),
  ];
  const category = match.category === '' ? [] : [span(` (${match.category})`, 'dim')];
  const place = match.variable === '' ? [] : [span(`  ${match.variable} \`${match.value}\``, 'accent')];
  return hang(first, wrap([span(match.message), ...category, ...place], width - id - LONGEST_SCORE - 4));
}

/** Columns of the longest score, `+5 critical`. */
const LONGEST_SCORE = 12;

/** A line per matched signature, up to `most`, and one line with the number of the others. */
export function signatureLines(
  { matches }: InspectionDocument,
  { width, most }: { readonly width: number; readonly most: number },
): readonly RenderedLine[] {
  const shown = matches.slice(0, most);
  const id = Math.max(0, ...shown.map((match) => String(match.id).length));
  const lines = shown.flatMap((match) => matchLines(match, { id, width }));
  const more = matches.length - shown.length;
  if (more === 0) return lines;
  return [...lines, [span(`+ ${quantity(more, 'more signature')}`, 'dim')]];
}

/** `942100 for ARGS:comment`: an exclusion whose path filter matches. */
function exclusionText({ id, tag, target }: InspectionExclusion): string {
  const subject = id === null ? `tag ${tag}` : String(id);
  return target === null ? subject : `${subject} for ${target}`;
}

/** The settings and what contributed to the score, one fact a line with a heading and its parts. */
export function inspectionFacts(found: InspectionDocument): readonly { head: string; parts: RenderedLine }[] {
  const categories = Object.entries(found.categories).map(([name, score]) => `${name} ${score}`);
  const score = [`${found.score}, threshold ${found.threshold}`, ...categories];
  const body = [
    found.truncated ? 'cut at body_cap_kb, the rest was not inspected' : null,
    found.body_error === null ? null : `not readable: ${found.body_error}`,
    found.uninspected === null
      ? null
      : `uninspected: ${found.uninspected}, on_uninspected ${found.on_uninspected}`,
  ].filter((part) => part !== null);
  const deniedBelow = found.denied && found.score < found.threshold;
  const facts = [
    { head: 'paranoia', parts: [String(found.paranoia)] },
    { head: 'score', parts: score },
    { head: 'excluded', parts: [...found.excludes, ...found.exclusions.map(exclusionText)] },
    { head: 'denied', parts: deniedBelow ? ['by a signature, whatever the score'] : [] },
    { head: 'body', parts: body },
    { head: 'steps', parts: found.exhausted ? ['exhausted, which counts as reaching the threshold'] : [] },
  ];
  return facts
    .filter(({ parts }) => parts.length > 0)
    .map(({ head, parts }) => ({ head, parts: dotted(parts, 'plain') }));
}
