/**
 * A trace document as text: the outcome first, then what dry_run rules would have done, then every phase in order with
 * what became of its rules, then what had to be assumed. A pure function of the document, the width and `all`.
 */
import { PHASES } from '../evaluator/trace.ts';
import type { Headline, PhaseNote, RuleNote, TraceDocument, WouldHave } from './document.ts';
import { isAside } from './document.ts';
import { labelOf, reasonSpans, verdictOf } from './render-rule.ts';
import {
  columns,
  dotted,
  hang,
  type Line,
  lineColumns,
  pad,
  type Span,
  span,
  type Tone,
  wholeSpan,
  wrap,
} from './render-text.ts';

export interface RenderOptions {
  /** Columns; `Infinity` never breaks a line. */
  readonly width: number;
  /** Lists also what is out of scope, disabled, or one of many that were skipped. */
  readonly all: boolean;
}

/** Below this many columns for a reason, it goes on a line of its own. */
const NARROWEST_REASON = 30;
/** Skipped rules a phase shows before it sums up the rest: what does not fit a screen is not read. */
const SKIPPED_SHOWN = 12;

const NOTHING: Line = [];

const MARKS: Readonly<Record<Headline['action'], { symbol: string; tone: Tone }>> = {
  forward: { symbol: '✔', tone: 'good' },
  block: { symbol: '✘', tone: 'bad' },
  challenge: { symbol: '?', tone: 'warn' },
  redirect: { symbol: '→', tone: 'accent' },
  respond: { symbol: '●', tone: 'accent' },
  refuse: { symbol: '✘', tone: 'bad' },
};

function botText(document: TraceDocument): string | null {
  const { bot } = document.request;
  if (bot === null) return null;
  if (bot.verified) return `bot ${bot.kind} (verified)`;
  return bot.from === 'given' ? `bot ${bot.kind} (not verified)` : `bot ${bot.kind} (user agent only)`;
}

/** A URL behind what leads to it, broken where the line ends; a lead of half the line stands alone. */
function breakable(lead: Line, url: Span, width: number): readonly Line[] {
  const used = lineColumns(lead);
  if (used <= width / 2) return hang(lead, wrap([url], width - used));
  return hang([span('  ')], wrap([...lead.slice(1), url], width - 2));
}

function requestLines(document: TraceDocument, width: number): readonly Line[] {
  const { request, plan } = document;
  const version = plan.version === 0 ? plan.source : `v${plan.version}`;
  const from = [
    `from ${request.ip ?? 'an unknown address'}`,
    request.country,
    botText(document),
    request.cleared.length === 0 ? null : `solved ${request.cleared.join(', ')}`,
    `plan ${version} ${plan.digest.slice(0, 'sha256:'.length + 7)}`,
  ];
  return [
    ...breakable([span('  '), span(request.method, 'strong'), span(' ')], span(request.url), width),
    ...hang([span('  ')], wrap(dotted(from, 'dim'), width - 2)),
  ];
}

function targetText(document: TraceDocument): string {
  const { decision, effective } = document;
  if (decision.action === 'forward') {
    const query = effective.query === null ? '' : `?${effective.query}`;
    return `${effective.origin ?? ''}${effective.path ?? ''}${query}`;
  }
  return decision.action === 'redirect' ? `${decision.status} ${effective.location}` : `${decision.status}`;
}

function cacheText(document: TraceDocument): string | null {
  const { cache } = document.effective;
  if (cache === null) return null;
  const ttl = cache.edge_ttl_sec === null ? '' : ` ${cache.edge_ttl_sec} s`;
  return `cache ${cache.mode}${ttl}`;
}

/** Who decided and what else happened on the way. */
function byParts(document: TraceDocument): readonly (string | null)[] {
  const { decision, effective, phases } = document;
  const rules = phases.flatMap((phase) => phase.rules);
  const rewrite = rules.find((rule) => rule.effect === 'rewrite');
  const asker = rules.find((rule) => rule.type === decision.by?.type && rule.id === decision.by.id);
  const record =
    effective.record === null ? null : `by record ${effective.record.id} ${effective.record.name}`;
  const gate = phases.find((phase) => phase.name === 'gate')?.note ?? null;
  const who =
    decision.by !== null
      ? `by ${labelOf(decision.by)}`
      : decision.action === 'forward'
        ? record
        : decision.action === 'respond'
          ? 'by the edge itself'
          : gate;
  return [
    who,
    decision.action === 'forward' ? `Host: ${effective.host_header}` : (asker?.reason.text ?? null),
    rewrite === undefined || decision.action !== 'forward' ? null : `rewritten by ${labelOf(rewrite)}`,
    decision.action === 'forward' ? cacheText(document) : null,
    effective.tags.length === 0 ? null : `tagged ${effective.tags.join(', ')}`,
    effective.retry_after === null ? null : `Retry-After ${effective.retry_after}`,
    decision.action === 'forward' ? null : (asker?.at ?? null),
  ];
}

function headlineLines(document: TraceDocument, width: number): readonly Line[] {
  const mark = MARKS[document.decision.action];
  const word = document.decision.action.toUpperCase();
  const by = dotted(byParts(document), 'plain');
  const lead = [span('  '), span(`${mark.symbol} ${word}`, mark.tone), span('  ')];
  const first = breakable(lead, span(targetText(document), 'strong'), width);
  return by.length === 0 ? first : [...first, ...hang([span('     ')], wrap(by, width - 5))];
}

function wouldReason(document: TraceDocument, entry: WouldHave): string {
  const rules = document.phases.flatMap((phase) => phase.rules);
  const rule = rules.find((one) => one.type === entry.by.type && one.id === entry.by.id);
  return rule === undefined ? '' : ` (${rule.reason.text})`;
}

/** The same outcome by the same rule: then enforcing the dry_run rules would change nothing visible. */
function sameOutcome(left: Headline, right: Headline): boolean {
  return left.action === right.action && left.status === right.status && left.text === right.text;
}

function dryRunLines(document: TraceDocument, width: number): readonly Line[] {
  const head = [span('  '), span('◇ DRY RUN', 'warn'), span('  ')];
  const room = width - lineColumns(head);
  const lines = document.would_have.flatMap((entry) =>
    hang(head, wrap([span(entry.text), span(wouldReason(document, entry), 'dim')], room)),
  );
  const { shadow } = document;
  if (shadow === null || lines.length === 0) return lines;
  const changed = sameOutcome(shadow, document.decision)
    ? 'were every dry_run rule enforced, the outcome would be the same'
    : `were every dry_run rule enforced: ${shadow.text.charAt(0).toLowerCase()}${shadow.text.slice(1)}`;
  const blank = [span(' '.repeat(lineColumns(head)))];
  return [...lines, ...hang(blank, wrap([span(changed, 'dim')], room))];
}

interface Table {
  readonly label: number;
  readonly word: number;
  readonly width: number;
  /** Reasons stand under their rule instead of beside it. */
  readonly stacked: boolean;
}

/** `12 ` and the longest phase name. */
const PHASE_COLUMNS = 3 + Math.max(...PHASES.map((name) => name.length)) + 1;

function tableFor(shown: readonly RuleNote[], width: number): Table {
  const label = Math.max(0, ...shown.map((rule) => columns(span(labelOf(rule)).text)));
  const word = Math.max(0, ...shown.map((rule) => verdictOf(rule).word.length));
  const used = 2 + PHASE_COLUMNS + 2 + label + 2 + word + 2;
  return { label, word, width, stacked: width - used < NARROWEST_REASON };
}

function ruleLines(rule: RuleNote, table: Table): readonly Line[] {
  const verdict = verdictOf(rule);
  const name = labelOf(rule);
  const tone: Tone = rule.outcome === 'matched' ? 'strong' : 'plain';
  const symbol = span(`${verdict.symbol} `, verdict.tone);
  const lead = 2 + PHASE_COLUMNS;
  if (!table.stacked) {
    const first = [
      symbol,
      span(pad(span(name).text, table.label + 2), tone),
      span(pad(verdict.word, table.word + 2), verdict.tone),
    ];
    return hang(first, wrap(reasonSpans(rule), table.width - lead - lineColumns(first)));
  }
  const named = wrap(
    [span(name, tone), span('  '), span(verdict.word, verdict.tone)],
    table.width - lead - 2,
  );
  const reason = wrap(reasonSpans(rule), table.width - lead - 4);
  return [...hang([symbol], named), ...hang([span('    ')], reason)];
}

function plural(count: number): string {
  return `${count} ${count === 1 ? 'rule' : 'rules'}`;
}

function sumUp(rules: readonly RuleNote[], hidden: number): Line {
  const outside = rules.filter((rule) => rule.reason.code === 'out_of_scope').length;
  const off = rules.filter((rule) => rule.reason.code === 'disabled').length;
  const parts = [
    hidden === 0 ? null : `${hidden} more skipped`,
    outside === 0 ? null : `${outside} not in scope`,
    off === 0 ? null : `${off} disabled`,
  ];
  return dotted(parts, 'dim');
}

/** The rules a phase lists, and how many skipped ones it only counts. */
function shownRules(phase: PhaseNote, all: boolean): { rules: readonly RuleNote[]; hidden: number } {
  if (all) return { rules: phase.rules, hidden: 0 };
  let skipped = 0;
  if (phase.outcome === 'not_reached') return { rules: [], hidden: phase.rules.length };
  const near = phase.rules.filter((rule) => !isAside(rule));
  const rules = near.filter(
    (rule) => rule.outcome === 'matched' || rule.outcome === 'conditional' || ++skipped <= SKIPPED_SHOWN,
  );
  return { rules, hidden: near.length - rules.length };
}

function phaseLines(phase: PhaseNote, table: Table, all: boolean): readonly Line[] {
  const number = PHASES.indexOf(phase.name);
  const head = [
    span(`  ${String(number).padStart(2)} `, 'dim'),
    span(pad(phase.name, PHASE_COLUMNS - 3), 'accent'),
  ];
  const room = table.width - lineColumns(head);
  if (phase.outcome === 'not_reached' && !all) {
    const count = phase.rules.length;
    const waiting = count === 0 ? [] : [span(' ', 'dim'), wholeSpan(`(${plural(count)})`, 'dim')];
    return hang(head, wrap([span('○ not reached', 'dim'), ...waiting], room));
  }
  const { rules, hidden } = shownRules(phase, all);
  const body: Line[] = [];
  if (phase.note !== null)
    body.push(...wrap([span(phase.note, phase.rules.length === 0 ? 'plain' : 'dim')], room));
  for (const rule of rules) body.push(...ruleLines(rule, table));
  const rest = all ? NOTHING : sumUp(phase.rules, hidden);
  if (rest.length > 0) body.push(...hang([span('+ ', 'dim')], wrap(rest, room - 2)));
  if (body.length === 0) body.push([span('no rules', 'dim')]);
  return hang(head, body);
}

function phaseTable(document: TraceDocument, options: RenderOptions): readonly Line[] {
  const shown = document.phases.flatMap((phase) => shownRules(phase, options.all).rules);
  const table = tableFor(shown, options.width);
  return document.phases.flatMap((phase) => phaseLines(phase, table, options.all));
}

const ASSUMED_WORDS: Readonly<Record<TraceDocument['assumptions'][number]['input'], string>> = {
  ip: 'address',
  country: 'country',
  ja4: 'ja4',
  ja4h: 'ja4h',
  body: 'body',
  clock: 'clock',
  rate_counters: 'rate counters',
  challenge: 'challenge',
  origin_health: 'origin health',
  origin_turns: 'origin turns',
  node_id: 'node id',
  waf_signatures: 'waf signatures',
};

function assumedLines(document: TraceDocument, width: number): readonly Line[] {
  if (document.assumptions.length === 0) return [];
  const parts = document.assumptions.map((one) => `${ASSUMED_WORDS[one.input]} ${one.value}`);
  return hang([span('  assumed   ', 'dim')], wrap(dotted(parts, 'dim'), width - 12));
}

function errorPageLines(document: TraceDocument, width: number): readonly Line[] {
  const answer = document.error_page;
  if (answer === null || answer.page === null) return [];
  const kind = { svc: "the service's own page", custom: 'its own page', origin: "the origin's page" }[
    answer.page
  ];
  const by = answer.by === null ? '' : `, ${labelOf(answer.by)}`;
  const text = `a ${answer.status} from the ${answer.made_by} shows ${kind}${by}`;
  return hang([span('  '), span('~ ERROR PAGE', 'accent'), span('  ')], wrap([span(text)], width - 16));
}

function countText(document: TraceDocument): string {
  const { considered, matched } = document.counts;
  const time = document.timing.evaluate_us;
  const rules = `${plural(considered)} looked at, ${matched} matched`;
  return time === null ? rules : `${rules}, ${time} µs`;
}

function footLines(document: TraceDocument, options: RenderOptions): readonly Line[] {
  const candidate = document.phases.flatMap((phase) => phase.rules).find((rule) => !isAside(rule));
  const aside = document.counts.out_of_scope + document.counts.disabled;
  const parts = [
    countText(document),
    candidate === undefined ? null : `--why ${candidate.id} explains one rule`,
    aside > 0 && !options.all ? '--all' : null,
    '--json',
    '--as-test',
  ];
  return hang([span('  ')], wrap(dotted(parts, 'dim'), options.width - 2));
}

/** The lines of a trace; `paint` makes them text. */
export function renderTrace(document: TraceDocument, options: RenderOptions): readonly Line[] {
  const { width } = options;
  const assumed = assumedLines(document, width);
  return [
    NOTHING,
    ...requestLines(document, width),
    NOTHING,
    ...headlineLines(document, width),
    ...dryRunLines(document, width),
    ...errorPageLines(document, width),
    NOTHING,
    ...phaseTable(document, options),
    NOTHING,
    ...assumed,
    ...footLines(document, options),
    NOTHING,
  ];
}
