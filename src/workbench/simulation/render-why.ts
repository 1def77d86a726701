/** Renders one rule: the rule that a typed name refers to, every check of it, and the inspection of a waf rule. */
import type { CheckTrace } from '../../engine/evaluator/trace.ts';
import type { InspectionExclusion, WafMatch } from '../../engine/waf/request/inspection.ts';
import { nearest } from '../../rules/model/nearest.ts';
import type { InspectionDocument } from './decision-document.ts';
import { type RuleNote, refOf, type SignaturesNote } from './document.ts';
import { labelOf, verdictOf } from './render-rule.ts';
import {
  columns,
  dotted,
  hang,
  pad,
  quantity,
  type RenderedLine,
  shellWord,
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

// Finds the rules that a typed name may refer to, and suggests names for one that matches none.

/**
 * Returns all rules that `text` may refer to: by id (`41`, `#41`), type and id (`drop/41`, `drop#41`), key, or type
 * and key. An id takes precedence over a key that is a number.
 */
export function findRules(rules: readonly RuleNote[], text: string): readonly RuleNote[] {
  const wanted = text.replace(/\s*#/, text.startsWith('#') ? '' : '/');
  const byRef = rules.filter((rule) => refOf(rule) === wanted || String(rule.id) === wanted);
  if (byRef.length > 0) return byRef;
  return rules.filter((rule) => rule.key !== null && namesOf(rule).includes(text));
}

/** The names by which a rule with a key is found. */
function namesOf({ type, key }: RuleNote): readonly string[] {
  return key === null ? [] : [key, `${type}/${key}`];
}

/**
 * The shortest name that finds this rule alone: its key, `<type>/<key>`, its id or `<type>/<id>`, as one word of a
 * shell.
 */
export function nameToType(rules: readonly RuleNote[], rule: RuleNote): string {
  const names = [...namesOf(rule), String(rule.id)];
  const name = names.find((one) => findRules(rules, one).length === 1) ?? refOf(rule);
  return shellWord(name);
}

/** The nearest key; `null` when none is near. */
export function closestKey(rules: readonly RuleNote[], text: string): string | null {
  return nearest(text, rules.flatMap(namesOf));
}

/** The number of ids that a remedy lists. */
const IDS_LISTED = 3;

/** The remedy for a name that no rule has: the nearest key, else the nearest ids. */
export function remedyFor(rules: readonly RuleNote[], text: string): string {
  const list = '--all lists every rule';
  if (text.trim() === '') return `write an id, a key or <type>/<id or key>; ${list}`;
  const close = closestKey(rules, text);
  if (close !== null) return `did you mean ${close}?`;
  const digits = /(?:^|[/#])(\d+)$/.exec(text)?.[1];
  if (digits === undefined) return list;
  const id = Number(digits);
  const near = [...rules].sort((a, b) => Math.abs(a.id - id) - Math.abs(b.id - id)).slice(0, IDS_LISTED);
  const exact = near.filter((rule) => rule.id === id).map(refOf);
  if (exact.length > 0) return `did you mean ${exact.join(' or ')}?`;
  const ids = near.map((rule) => rule.id).sort((a, b) => a - b);
  return `the nearest ${ids.length === 1 ? 'id is' : 'ids are'} ${ids.join(', ')}; ${list}`;
}

// Renders the inspection of a waf rule: each matched signature, and what contributed to the score.

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
