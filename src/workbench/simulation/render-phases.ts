/** Renders the table of a trace: every phase in order, with the outcome of its rules. */
import { PHASES, phaseNumber } from '../../engine/evaluator/trace.ts';
import type { PhaseNote, RuleNote, TraceDocument } from './document.ts';
import {
  type FoldedRules,
  foldLine,
  foldRules,
  labelOf,
  reasonSpans,
  verdictOf,
  waitingLine,
} from './render-rule.ts';
import {
  columns,
  hang,
  lineColumns,
  pad,
  quantity,
  type RenderedLine,
  span,
  type Tone,
  wholeSpan,
  wrap,
} from './render-text.ts';
import { signatureLines } from './render-why.ts';

/** Options of rendering. */
export interface RenderOptions {
  /** Columns of the terminal; `Infinity`: lines are not broken. */
  readonly width: number;
  /** Whether to list the rules that are only counted otherwise (`render-rule.ts`). */
  readonly all: boolean;
  /** The command whose options the last line lists. Default: simulate. */
  readonly command?: 'simulate' | 'explain';
}

/** With fewer columns for a reason, it is printed below its rule. */
const NARROWEST_REASON = 30;
/** Signatures printed below their rule; `--why` prints all. */
const SIGNATURES_SHOWN = 5;

/** Column widths of the table. */
interface Table {
  readonly label: number;
  readonly word: number;
  readonly width: number;
  /** Whether reasons are printed below their rule. */
  readonly stacked: boolean;
}

/** `12 ` and the longest phase name. */
const PHASE_COLUMNS = 3 + Math.max(...PHASES.map((name) => name.length)) + 1;

/** Computes the column widths for the rules that are shown. */
function tableFor(shown: readonly RuleNote[], width: number): Table {
  const label = Math.max(0, ...shown.map((rule) => columns(span(labelOf(rule)).text)));
  const word = Math.max(0, ...shown.map((rule) => verdictOf(rule).word.length));
  const used = 2 + PHASE_COLUMNS + 2 + label + 2 + word + 2;
  return { label, word, width, stacked: width - used < NARROWEST_REASON };
}

/** The lines of one rule: name, verdict, reason, signatures. */
function ruleLines(rule: RuleNote, table: Table): readonly RenderedLine[] {
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
    return [
      ...hang(first, wrap(reasonSpans(rule), table.width - lead - lineColumns(first))),
      ...inspectionLines(rule, table.width - lead),
    ];
  }
  const named = wrap(
    [span(name, tone), span('  '), span(verdict.word, verdict.tone)],
    table.width - lead - 2,
  );
  const reason = wrap(reasonSpans(rule), table.width - lead - 4);
  return [
    ...hang([symbol], named),
    ...hang([span('    ')], reason),
    ...inspectionLines(rule, table.width - lead),
  ];
}

/** The matched signatures of a waf rule, below the rule. */
function inspectionLines({ inspection }: RuleNote, width: number): readonly RenderedLine[] {
  if (inspection === undefined) return [];
  return hang([span('    ')], signatureLines(inspection, { width: width - 4, most: SIGNATURES_SHOWN }));
}

/** The rules that a phase shows, and those that it only counts. */
function shownRules(phase: PhaseNote, all: boolean): FoldedRules {
  if (all) return { shown: phase.rules, waiting: [], folded: [] };
  return phase.outcome === 'not_reached' ? { shown: [], waiting: [], folded: [] } : foldRules(phase);
}

/** The text for phases that were not reached, with the number of their rules. */
function notReached(count: number): RenderedLine {
  const rules = count === 0 ? [] : [span(' ', 'dim'), wholeSpan(`(${quantity(count, 'rule')})`, 'dim')];
  return [span('○ not reached', 'dim'), ...rules];
}

/** The lines of one phase. */
function phaseLines(phase: PhaseNote, table: Table, all: boolean): readonly RenderedLine[] {
  const head = [
    span(`  ${phaseNumber(phase.name).padStart(2)} `, 'dim'),
    span(pad(phase.name, PHASE_COLUMNS - 3), 'accent'),
  ];
  const room = table.width - lineColumns(head);
  if (phase.outcome === 'not_reached' && !all) {
    return hang(head, wrap(notReached(phase.rules.length), room));
  }
  const { shown, waiting, folded } = shownRules(phase, all);
  const body: RenderedLine[] = [];
  if (phase.note !== null)
    body.push(...wrap([span(phase.note, phase.rules.length === 0 ? 'plain' : 'dim')], room));
  for (const rule of shown) body.push(...ruleLines(rule, table));
  const either = waitingLine(waiting);
  if (either.length > 0) body.push(...hang([span('~ ', 'accent')], wrap(either, room - 2)));
  const rest = foldLine(folded);
  if (rest.length > 0) body.push(...hang([span('+ ', 'dim')], wrap(rest, room - 2)));
  if (body.length === 0) body.push([span('no rules', 'dim')]);
  return hang(head, body);
}

/** Consecutive phases that were not reached, as one line. */
function unreachedLines(phases: readonly PhaseNote[], width: number): readonly RenderedLine[] {
  const numbers = phases.map(({ name }) => phaseNumber(name));
  const range = `  ${numbers[0]!.padStart(2)}–${numbers.at(-1)} `;
  const head = [span(pad(range, 2 + PHASE_COLUMNS), 'dim')];
  const count = phases.reduce((sum, phase) => sum + phase.rules.length, 0);
  return hang(head, wrap(notReached(count), width - lineColumns(head)));
}

/** The phases in order; consecutive phases that were not reached form one group. */
function grouped(phases: readonly PhaseNote[]): readonly (readonly PhaseNote[])[] {
  const groups: PhaseNote[][] = [];
  for (const phase of phases) {
    const last = groups.at(-1);
    if (last?.[0]?.outcome === 'not_reached' && phase.outcome === 'not_reached') last.push(phase);
    else groups.push([phase]);
  }
  return groups;
}

/**
 * Renders the phases and the outcomes of their rules. Phases that were not reached share one line unless `all` is
 * set.
 */
export function phaseTable(document: TraceDocument, options: RenderOptions): readonly RenderedLine[] {
  const { width, all } = options;
  const shown = document.phases.flatMap((phase) => shownRules(phase, all).shown);
  const table = tableFor(shown, width);
  if (all) return document.phases.flatMap((phase) => phaseLines(phase, table, all));
  return grouped(document.phases).flatMap((group) =>
    group.length > 1 ? unreachedLines(group, width) : group.flatMap((phase) => phaseLines(phase, table, all)),
  );
}
