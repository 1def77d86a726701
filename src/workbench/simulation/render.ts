/**
 * Renders a trace document: the outcome, the effects of dry_run rules, every phase with the outcomes of its rules,
 * then the assumptions. A pure function of the document and the options.
 */
import { timeText } from '../../base/text/time.ts';
import {
  type Headline,
  isAside,
  type RequestNote,
  type RuleNote,
  refOf,
  type TraceDocument,
  type WouldHave,
} from './document.ts';
import { phaseTable, type RenderOptions } from './render-phases.ts';
import { foldRules, idOf, labelOf } from './render-rule.ts';
import {
  dotted,
  hang,
  lineColumns,
  quantity,
  type RenderedLine,
  span,
  type TextSpan,
  type Tone,
  wrap,
} from './render-text.ts';
import { nameToType, signaturesText } from './render-why.ts';

const NOTHING: RenderedLine = [];

/** Symbol and tone of each action. */
const MARKS: Readonly<Record<Headline['action'], { symbol: string; tone: Tone }>> = {
  forward: { symbol: '✔', tone: 'good' },
  block: { symbol: '✘', tone: 'bad' },
  challenge: { symbol: '?', tone: 'warn' },
  redirect: { symbol: '→', tone: 'accent' },
  respond: { symbol: '●', tone: 'accent' },
  refuse: { symbol: '✘', tone: 'bad' },
};

/** The bot, with how well it is proven. */
function botText(document: TraceDocument): string | null {
  const { bot } = document.request;
  if (bot === null) return null;
  if (bot.verified) return `bot ${bot.kind} (verified)`;
  return bot.from === 'given' ? `bot ${bot.kind} (not verified)` : `bot ${bot.kind} (user agent only)`;
}

/**
 * A URL after its lead, broken at the line's end; a lead of more than half a line is printed without hanging
 * indent.
 */
function breakable(lead: RenderedLine, url: TextSpan, width: number): readonly RenderedLine[] {
  const used = lineColumns(lead);
  if (used <= width / 2) return hang(lead, wrap([url], width - used));
  return hang([span('  ')], wrap([...lead.slice(1), url], width - 2));
}

/** Whose request it is, in words; empty where no credentials were verified. */
function identityTexts(identity: RequestNote['identity']): readonly string[] {
  if (identity === undefined) return [];
  const { consumer, scopes = [], claims = {}, failure, exhaustedUntil } = identity;
  const names = Object.keys(claims);
  return [
    consumer === null ? 'no consumer' : `consumer ${consumer}`,
    ...(scopes.length === 0 ? [] : [`scopes ${scopes.join(' ')}`]),
    ...(names.length === 0 ? [] : [`claims ${names.join(', ')}`]),
    ...(failure == null ? [] : [`credentials ${failure}`]),
    ...(exhaustedUntil == null ? [] : [`quota exhausted until ${timeText(exhaustedUntil)}`]),
  ];
}

/** Method and URL, then the visitor and the plan. */
function requestLines(document: TraceDocument, width: number): readonly RenderedLine[] {
  const { request, plan } = document;
  const version = plan.version === 0 ? plan.source : `v${plan.version}`;
  const from = [
    `from ${request.ip ?? 'an unknown address'}`,
    request.country,
    request.asn === undefined ? null : `AS${request.asn}`,
    botText(document),
    ...identityTexts(request.identity),
    request.cleared.length === 0 ? null : `solved ${request.cleared.join(', ')}`,
    ...Object.entries(request.counted).map(
      ([rule, requests]) => `${quantity(requests, 'request')} counted by ${rule}`,
    ),
    `plan ${version} ${plan.digest.slice(0, 'sha256:'.length + 7)}`,
  ];
  return [
    ...breakable([span('  '), span(request.method, 'strong'), span(' ')], span(request.url), width),
    ...hang([span('  ')], wrap(dotted(from, 'dim'), width - 2)),
  ];
}

/** What the headline shows after the action: the origin URL, the location, or the status. */
function targetText(document: TraceDocument): string {
  const { decision, effective } = document;
  if (decision.action === 'forward') {
    const query = effective.query === null ? '' : `?${effective.query}`;
    return `${effective.origin ?? ''}${effective.path ?? ''}${query}`;
  }
  return decision.action === 'redirect' ? `${decision.status} ${effective.location}` : `${decision.status}`;
}

/** The cache mode and TTL; `null` without a cache rule. */
function cacheText(document: TraceDocument): string | null {
  const { cache } = document.effective;
  if (cache === null) return null;
  const ttl = cache.edge_ttl_sec === null ? '' : ` ${cache.edge_ttl_sec} s`;
  return `cache ${cache.mode}${ttl}`;
}

/** The rule or record that decided, and other effects on the request. */
function byParts(document: TraceDocument): readonly (string | null)[] {
  const { decision, effective, phases } = document;
  const rules = phases.flatMap((phase) => phase.rules);
  const rewrite = rules.find((rule) => rule.effect === 'rewrite');
  const acting = rules.find((rule) => rule.type === decision.by?.type && rule.id === decision.by.id);
  const record =
    effective.record === null ? null : `by record ${effective.record.id} ${effective.record.name}`;
  const gate = phases.find((phase) => phase.name === 'gate')?.note ?? null;
  const decidedBy =
    decision.by !== null
      ? `by ${labelOf(decision.by)}`
      : decision.action === 'forward'
        ? record
        : decision.action === 'respond'
          ? 'by the edge itself'
          : gate;
  return [
    decidedBy,
    decision.action === 'forward' ? `Host: ${effective.host_header}` : (acting?.reason.text ?? null),
    rewrite === undefined || decision.action !== 'forward' ? null : `rewritten by ${idOf(rewrite)}`,
    decision.action === 'forward' ? cacheText(document) : null,
    effective.tags.length === 0 ? null : `tagged ${effective.tags.join(', ')}`,
    effective.retry_after === null ? null : `Retry-After ${effective.retry_after}`,
    decision.action === 'forward' ? null : (acting?.at ?? null),
  ];
}

/** The outcome. */
function headlineLines(document: TraceDocument, width: number): readonly RenderedLine[] {
  const mark = MARKS[document.decision.action];
  const word = document.decision.action.toUpperCase();
  const by = dotted(byParts(document), 'plain');
  const lead = [span('  '), span(`${mark.symbol} ${word}`, mark.tone), span('  ')];
  const first = breakable(lead, span(targetText(document), 'strong'), width);
  return by.length === 0 ? first : [...first, ...hang([span('     ')], wrap(by, width - 5))];
}

/** The reason why a dry_run rule matched, in parentheses. */
function wouldReason(document: TraceDocument, entry: WouldHave): string {
  const rules = document.phases.flatMap((phase) => phase.rules);
  const rule = rules.find((candidate) => candidate.type === entry.by.type && candidate.id === entry.by.id);
  return rule === undefined ? '' : ` (${rule.reason.text})`;
}

/** Whether both outcomes are equal, so that enforcing the dry_run rules would change nothing visible. */
function sameOutcome(left: Headline, right: Headline): boolean {
  return left.action === right.action && left.status === right.status && left.text === right.text;
}

/** Whether the shadow is what the only effect of a dry_run rule states. */
function isStated({ would_have: [only, second], shadow }: TraceDocument): boolean {
  if (only === undefined || second !== undefined || shadow?.by === null || shadow === null) return false;
  return only.action === shadow.action && only.status !== null && refOf(only.by) === refOf(shadow.by);
}

/** What dry_run rules would have done, and the shadow decision unless it only repeats that. */
function dryRunLines(document: TraceDocument, width: number): readonly RenderedLine[] {
  const head = [span('  '), span('◇ DRY RUN', 'warn'), span('  ')];
  const room = width - lineColumns(head);
  const lines = document.would_have.flatMap((entry) =>
    hang(head, wrap([span(entry.text), span(wouldReason(document, entry), 'dim')], room)),
  );
  const { shadow } = document;
  if (shadow === null || lines.length === 0 || isStated(document)) return lines;
  const changed = sameOutcome(shadow, document.decision)
    ? 'were every dry_run rule enforced, the outcome would be the same'
    : `were every dry_run rule enforced: ${shadow.text.charAt(0).toLowerCase()}${shadow.text.slice(1)}`;
  const blank = [span(' '.repeat(lineColumns(head)))];
  return [...lines, ...hang(blank, wrap([span(changed, 'dim')], room))];
}

/** The name of each assumed input in the output. */
const ASSUMED_WORDS: Readonly<Record<TraceDocument['assumptions'][number]['input'], string>> = {
  ip: 'address',
  country: 'country',
  asn: 'AS number',
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

/** The assumptions on one line. */
function assumedLines(document: TraceDocument, width: number): readonly RenderedLine[] {
  if (document.assumptions.length === 0) return [];
  const parts = document.assumptions.map(
    (candidate) => `${ASSUMED_WORDS[candidate.input]} ${candidate.value}`,
  );
  return hang([span('  assumed   ', 'dim')], wrap(dotted(parts, 'dim'), width - 12));
}

/** The signatures that inspected this request. */
function signaturesLines(document: TraceDocument, width: number): readonly RenderedLine[] {
  const { signatures, phases } = document;
  const inspected = phases.some(({ rules }) => rules.some(({ inspection }) => inspection !== undefined));
  if (signatures === null || !inspected) return [];
  return hang(
    [span('  inspected ', 'dim')],
    wrap([span(`with ${signaturesText(signatures)}`, 'dim')], width - 12),
  );
}

/** The error page for the status. */
function errorPageLines(document: TraceDocument, width: number): readonly RenderedLine[] {
  const answer = document.error_page;
  if (answer === null || answer.page === null) return [];
  const kind = { svc: "the service's own page", custom: 'its own page', origin: "the origin's page" }[
    answer.page
  ];
  const by = answer.by === null ? '' : `, ${labelOf(answer.by)}`;
  const text = `a ${answer.status} from the ${answer.made_by} shows ${kind}${by}`;
  return hang([span('  '), span('~ ERROR PAGE', 'accent'), span('  ')], wrap([span(text)], width - 16));
}

/** The number of rules and the time of one evaluation. */
function countText(document: TraceDocument): string {
  const { considered, matched } = document.counts;
  const time = document.timing.evaluate_us;
  const rules = `${quantity(considered, 'rule')} considered, ${matched} matched`;
  return time === null ? rules : `${rules}, ${time} µs`;
}

/** The rule that the hint names: the one that decided, else the first that matched, else the first considered. */
function explained({ decision: { by } }: TraceDocument, rules: readonly RuleNote[]): RuleNote | undefined {
  return (
    rules.find((rule) => by !== null && refOf(rule) === refOf(by)) ??
    rules.find((rule) => rule.outcome === 'matched') ??
    rules.find((rule) => !isAside(rule))
  );
}

/** The last line: counts, and the options that show more. */
function footLines(document: TraceDocument, options: RenderOptions): readonly RenderedLine[] {
  const rules = document.phases.flatMap((phase) => phase.rules);
  const candidate = explained(document, rules);
  const simulating = options.command !== 'explain';
  const hasMore = document.phases.some((phase) => foldRules(phase).shown.length < phase.rules.length);
  const parts = [
    countText(document),
    candidate === undefined || !simulating ? null : `--why ${nameToType(rules, candidate)} explains one rule`,
    hasMore && !options.all ? '--all' : null,
    '--json',
    simulating ? '--as-test' : null,
  ];
  return hang([span('  ')], wrap(dotted(parts, 'dim'), options.width - 2));
}

/** Renders a trace; `paint` converts the lines to text. */
export function renderTrace(document: TraceDocument, options: RenderOptions): readonly RenderedLine[] {
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
    ...signaturesLines(document, width),
    ...assumed,
    ...footLines(document, options),
    NOTHING,
  ];
}
