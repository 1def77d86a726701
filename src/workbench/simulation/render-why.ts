/** Renders every check of one rule. */
import type { CheckTrace } from '../../engine/evaluator/trace.ts';
import type { RuleNote, SignaturesNote } from './document.ts';
import { inspectionFacts, signatureLines } from './render-inspection.ts';
import { labelOf, verdictOf } from './render-rule.ts';
import {
  columns,
  hang,
  pad,
  quantity,
  type RenderedLine,
  span,
  type Tone,
  wholeSpan,
  wrap,
} from './render-text.ts';

/** Options of `renderWhy`. */
export interface WhyOptions {
  readonly width: number;
  /** The arguments of a request that this rule matches (`near-match.ts`); `null`: none was found. */
  readonly wouldMatch: string | null;
  /** The signatures that waf rules inspected with; `null`: none. */
  readonly signatures: SignaturesNote | null;
}

/** How the result of a check is shown. */
interface Mark {
  readonly symbol: string;
  readonly word: string;
  readonly tone: Tone;
}

/** The mark of a check; `pass: null` is an input that is unknown. */
function markOf(check: CheckTrace): Mark {
  if (check.pass === null) return { symbol: '?', word: 'unknown', tone: 'warn' };
  return check.pass
    ? { symbol: '✔', word: 'pass', tone: 'good' }
    : { symbol: '✘', word: 'fail', tone: 'bad' };
}

/** The rule's name, priority, mode and place. */
function headLines(rule: RuleNote, width: number): readonly RenderedLine[] {
  const enabled = rule.reason.code === 'disabled' ? 'disabled' : 'enabled';
  const facts = [
    span(labelOf(rule), 'strong'),
    span(`  priority ${rule.priority} · ${rule.mode} · ${enabled}`),
    ...(rule.at === null ? [] : [span(`   ${rule.at}`, 'dim')]),
  ];
  return hang([span('  ')], wrap(facts, width - 2));
}

/** One line per check: result, name, text and list entry, aligned if they fit. */
function checkLines(rule: RuleNote, width: number): readonly RenderedLine[] {
  const names = Math.max(0, ...rule.checks.map((check) => check.check.length));
  const texts = Math.max(0, ...rule.checks.map((check) => columns(span(check.text).text)));
  const words = Math.max(0, ...rule.checks.map((check) => markOf(check).word.length));
  const lead = 4 + words + 2 + names + 2;
  const entries = Math.max(
    0,
    ...rule.checks.map((check) => (check.entry === undefined ? 0 : check.entry.length + 3)),
  );
  const aligned = lead + texts + entries <= width && Number.isFinite(texts);
  return rule.checks.flatMap((check) => {
    const mark = markOf(check);
    const first = [
      span('  '),
      span(`${mark.symbol} ${pad(mark.word, words)}`, mark.tone),
      span(`  ${pad(check.check, names)}  `),
    ];
    const text =
      check.entry === undefined || !aligned ? span(check.text).text : pad(span(check.text).text, texts);
    const entry = check.entry === undefined ? [] : [wholeSpan(`   ${check.entry}`, 'dim')];
    return hang(first, wrap([span(text), ...entry], width - lead));
  });
}

/** `edgeplan-starter/1 sha256:0123456`. */
export function signaturesText({ name, digest }: SignaturesNote): string {
  return `${name} ${digest.slice(0, 'sha256:'.length + 7)}`;
}

/** The inspection of a waf rule: each matched signature, then the composition of the score. */
function inspectionLines(
  { inspection }: RuleNote,
  { width, signatures }: WhyOptions,
): readonly RenderedLine[] {
  if (inspection === undefined) return [];
  const matched = signatureLines(inspection, { width: width - 4, most: Number.POSITIVE_INFINITY });
  const set = signatures === null ? [] : [{ head: 'signatures', parts: [span(signaturesText(signatures))] }];
  const facts = [...set, ...inspectionFacts(inspection)];
  const longest = Math.max(...facts.map(({ head }) => head.length));
  return [
    ...hang([span('    ')], matched),
    ...facts.flatMap(({ head, parts }) =>
      hang([span(`    ${pad(head, longest + 2)}`, 'dim')], wrap(parts, width - longest - 6)),
    ),
  ];
}

/** The last line: the outcome and its reason. */
function conclusion(rule: RuleNote): string {
  const total = rule.checks.length;
  const failed = rule.checks.filter((check) => check.pass !== true).length;
  const { word } = verdictOf(rule);
  if (rule.outcome !== 'skipped' || failed === 0) return `${word}: ${rule.reason.text}`;
  return `${word}: ${failed} of ${quantity(total, 'check')} failed`;
}

/** Renders the lines for one rule. */
export function renderWhy(rule: RuleNote, options: WhyOptions): readonly RenderedLine[] {
  const match = options.wouldMatch;
  const end = [
    span(conclusion(rule), verdictOf(rule).tone === 'dim' ? 'strong' : verdictOf(rule).tone),
    ...(match === null ? [] : [span('. It would match  '), wholeSpan(match, 'accent')]),
  ];
  return [
    ...headLines(rule, options.width),
    ...checkLines(rule, options.width),
    ...inspectionLines(rule, options),
    ...hang([span('  → ')], wrap(end, options.width - 4)),
  ];
}
