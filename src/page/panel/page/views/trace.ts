/** The trace: every phase in order with its rules; rules that were skipped for one kind of reason are folded, as in a terminal. */
import type { VNode } from 'preact';
import type { CheckTrace } from '../../../../engine/evaluator/trace.ts';
import type { InspectionDocument } from '../../../../workbench/simulation/decision-document.ts';
import {
  type PhaseNote,
  type RuleNote,
  refOf,
  type TraceDocument,
} from '../../../../workbench/simulation/document.ts';
import {
  failedEntry,
  foldLine,
  foldRules,
  idOf,
  labelOf,
  verdictOf,
} from '../../../../workbench/simulation/render-rule.ts';
import type { FindingDocument } from '../../documents.ts';
import { findingsByRule, type PageState, setState } from '../state.ts';
import { findingLine, html, marks } from './parts.ts';
import { elementOf } from './rules.ts';

/** What each rule is shown with. */
interface TraceContext {
  readonly state: PageState;
  readonly findings: ReturnType<typeof findingsByRule>;
  /** Differences from the plan beside by identity; `null`: no plan is beside. */
  readonly differences: ReadonlyMap<string, RuleDifference> | null;
}

/** Rules as lines. */
function lines(rules: readonly RuleNote[], { findings, differences }: TraceContext): readonly VNode[] {
  return rules.map((rule) => {
    const difference = differences?.get(identityOf(rule));
    const before = difference === undefined ? undefined : difference.before;
    return html`<${ruleLine} key=${refOf(rule)} rule=${rule} findings=${findings.get(rule.id) ?? []} before=${before} />`;
  });
}

/** Rules that share a line until they are unfolded. */
function folded(rules: readonly RuleNote[], text: string, context: TraceContext): VNode | null {
  if (rules.length === 0) return null;
  return html`<details class="folded"><summary>${text}</summary>${lines(rules, context)}</details>`;
}

/** The words for a phase's outcome; `null`: they would say nothing. */
const OUTCOMES: Readonly<Record<PhaseNote['outcome'], string | null>> = {
  continue: null,
  final: 'the request ends here',
  passed: 'passed',
  not_reached: 'not reached',
  conditional: 'depends on the answer',
};

/** One phase. */
function phaseView(phase: PhaseNote, number: number, context: TraceContext): VNode {
  const {
    shown,
    waiting,
    folded: rest,
  } = context.state.all
    ? { shown: phase.rules, waiting: [], folded: [] }
    : phase.outcome === 'not_reached'
      ? { shown: [], waiting: [], folded: phase.rules }
      : foldRules(phase);
  const changed = rest.filter((rule) => context.differences?.has(identityOf(rule)));
  const counted = rest.filter((rule) => !changed.includes(rule));
  const countText =
    phase.outcome === 'not_reached'
      ? `${counted.length} not reached`
      : foldLine(counted)
          .map(({ text }) => text)
          .join('');
  // A page for an error ends nothing: the request ended before.
  const outcome = phase.name === 'error_page' && phase.outcome === 'final' ? null : OUTCOMES[phase.outcome];
  return html`<li key=${phase.name} class="phase ${phase.outcome}">
    <h3><span class="number">${number}</span> ${phase.name}${outcome !== null && html` <span class="phase-outcome">${outcome}</span>`}</h3>
    <div class="phase-rules">
      ${phase.note !== null && html`<p class="note">${phase.note}</p>`}
      ${lines([...shown, ...changed], context)}
      ${folded(waiting, `${waiting.length} depend on the status of the answer`, context)}
      ${folded(counted, countText, context)}
      ${phase.rules.length === 0 && phase.note === null && html`<p class="note">no rules</p>`}
    </div>
  </li>`;
}

/** Consecutive phases that were not reached, in one line. */
function unreachedView(phases: readonly PhaseNote[], first: number, context: TraceContext): VNode {
  const rules = phases.flatMap((phase) => phase.rules);
  const names = phases.map(({ name }) => name).join(', ');
  return html`<li key=${names} class="phase not_reached">
    <h3><span class="number">${first}–${first + phases.length - 1}</span> not reached</h3>
    <div class="phase-rules">${folded(rules, `${rules.length} ${rules.length === 1 ? 'rule' : 'rules'} of ${names}`, context)}</div>
  </li>`;
}

/** Whether a phase was not reached and no rule of it is shown for itself. */
function isUnreached({ outcome, rules }: PhaseNote, { state, differences }: TraceContext): boolean {
  if (outcome !== 'not_reached' || state.all) return false;
  return !rules.some((rule) => differences?.has(identityOf(rule)));
}

/** The phases in order; consecutive ones that were not reached share a line. */
function phaseList(phases: readonly PhaseNote[], context: TraceContext): readonly VNode[] {
  const views: VNode[] = [];
  for (let at = 0; at < phases.length; ) {
    let end = at;
    while (end < phases.length && isUnreached(phases[end]!, context)) end++;
    if (end - at > 1) views.push(unreachedView(phases.slice(at, end), at, context));
    else if (!isSilent(phases[at]!)) views.push(phaseView(phases[at]!, at, context));
    at = Math.max(end, at + 1);
  }
  return views;
}

/** Whether a phase says nothing: it has no rules and no note. */
function isSilent({ rules, note, outcome }: PhaseNote): boolean {
  return rules.length === 0 && (note === null || outcome === 'not_reached');
}

/** Rules that only the plan beside has. */
function removedRules({ differences }: TraceContext): VNode | null {
  const removed = [...(differences?.values() ?? [])].filter(({ now }) => now === null);
  if (removed.length === 0) return null;
  return html`<p class="removed">Only in the plan before: ${removed.map(({ before }, index) => html`${index > 0 && ', '}${labelOf(before!)} (${verdictOf(before!).word})`)}</p>`;
}

/** The differences in one sentence. */
function differenceText(differences: ReadonlyMap<string, RuleDifference>): string {
  const { size } = differences;
  if (size === 0) return 'Every rule comes out as under the plan before.';
  return `${size} ${size === 1 ? 'rule comes' : 'rules come'} out otherwise than under the plan before.`;
}

/** The trace of an answer. */
export function traceView({
  state,
  document,
}: {
  readonly state: PageState;
  readonly document: TraceDocument;
}): VNode {
  const { olderAnswer } = state;
  const found = olderAnswer?.ok === true ? differencesOf(document, olderAnswer.document) : null;
  const differences =
    found === null ? null : new Map(found.map((one) => [identityOf((one.now ?? one.before)!), one]));
  const context = { state, findings: findingsByRule(state), differences };
  const { considered, matched } = document.counts;
  const silent = document.phases.filter((phase) => isSilent(phase) && phase.outcome !== 'not_reached');
  return html`<div class="trace">
    <div class="trace-head">
      <p>${considered} ${considered === 1 ? 'rule' : 'rules'} considered, ${matched} matched.${differences !== null && ` ${differenceText(differences)}`}</p>
      <label class="check"><input type="checkbox" checked=${state.all}
        onChange=${(event: Event) => setState({ all: (event.target as HTMLInputElement).checked })} /> Every rule</label>
    </div>
    <ol class="phases">${phaseList(document.phases, context)}</ol>
    ${silent.length > 0 && html`<p class="silent">Without rules: ${silent.map(({ name }) => name).join(', ')}</p>`}
    ${removedRules(context)}
  </div>`;
}

// One rule of the trace: its outcome and the reason; unfolded, every check, and what its signatures found.

/** A rule with what is known of it besides the trace. */
export interface RuleLineProps {
  readonly rule: RuleNote;
  readonly findings: readonly FindingDocument[];
  /** The rule under the plan beside; `undefined`: no plan is beside, or nothing differs. `null`: that plan has it not. */
  readonly before?: RuleNote | null | undefined;
}

/** The mark and the word of a check. */
function markOf({ pass }: CheckTrace): {
  readonly symbol: string;
  readonly word: string;
  readonly tone: string;
} {
  if (pass === null) return { symbol: '?', word: 'unknown', tone: 'warn' };
  return pass ? { symbol: '✔', word: 'passed', tone: 'good' } : { symbol: '✘', word: 'failed', tone: 'bad' };
}

/** Every check of a rule. */
function checkList({ checks }: { readonly checks: readonly CheckTrace[] }): VNode {
  return html`<ul class="checks">${checks.map((check) => {
    const { symbol, word, tone } = markOf(check);
    return html`<li key=${check.check}><span class=${`symbol ${tone}`} aria-hidden="true">${symbol}</span>
      <b><span class="unseen">${word}: </span>${check.check}</b>
      <span>${check.text}${check.entry !== undefined && html` <code>${check.entry}</code>`}</span></li>`;
  })}</ul>`;
}

/** What the signatures found. */
function inspectionTable({ inspection }: { readonly inspection: InspectionDocument }): VNode {
  const { matches, score, threshold, paranoia } = inspection;
  return html`<div class="inspection">
    <p>Score ${score}, threshold ${threshold}, paranoia ${paranoia}</p>
    ${
      matches.length > 0 &&
      html`<ul>${matches.map(
        (match) =>
          html`<li><b>${match.id}</b> ${match.score > 0 && html`<span class="bad">+${match.score}</span> `}${match.message}${match.variable !== '' && html` <code>${match.variable} ${match.value}</code>`}</li>`,
      )}</ul>`
    }
  </div>`;
}

/** The outcome under the plan beside. */
function beforeText(before: RuleNote | null): string {
  return before === null
    ? 'not in the plan before'
    : `before: ${verdictOf(before).word}, ${before.reason.text}`;
}

/** The rule. */
function ruleLine({ rule, findings, before }: RuleLineProps): VNode {
  const { symbol, word, tone } = verdictOf(rule);
  const entry = rule.outcome === 'skipped' ? failedEntry(rule) : null;
  return html`<details class="rule ${rule.outcome}" id=${elementOf(refOf(rule))}>
    <summary>
      <span class="symbol ${tone}" aria-hidden="true">${symbol}</span>
      <span class="name"><span class="type">${rule.type}</span> ${idOf(rule)}<${marks} findings=${findings} /></span>
      <span class="word ${tone}">${word}</span>
      <span class="reason">${rule.reason.text}${before !== undefined && html`<span class="before">${beforeText(before)}</span>`}</span>
    </summary>
    <div class="unfolded">
      <${checkList} checks=${rule.checks} />
      ${rule.inspection !== undefined && html`<${inspectionTable} inspection=${rule.inspection} />`}
      <p class="where">priority ${rule.priority}${rule.mode === 'dry_run' && ' · dry run'}${entry !== null && html` · decided by <code>${entry}</code>`}${rule.at !== null && html` · <code>${rule.at}</code>`}</p>
      ${findings.map((finding) => html`<${findingLine} finding=${finding} />`)}
    </div>
  </details>`;
}

// What differs between the traces of one request under two plans, rule by rule.

/** A rule that came out otherwise, or that only one plan has. */
interface RuleDifference {
  /** `null`: the plan has no such rule. */
  readonly now: RuleNote | null;
  readonly before: RuleNote | null;
}

/** What identifies a rule in both plans: its key, or its id without one. */
function identityOf({ type, id, key }: Pick<RuleNote, 'type' | 'id' | 'key'>): string {
  return `${type}/${key ?? id}`;
}

/** The rules of a trace by what identifies them. */
export function rulesOf({ phases }: TraceDocument): ReadonlyMap<string, RuleNote> {
  return new Map(phases.flatMap(({ rules }) => rules).map((rule) => [identityOf(rule), rule]));
}

/** Whether two outcomes are one to the reader. */
function isSame(left: RuleNote, right: RuleNote): boolean {
  return (
    left.outcome === right.outcome && left.effect === right.effect && left.reason.text === right.reason.text
  );
}

/** The differences, in the order of the newer plan's rules, then those that it has not. */
function differencesOf(now: TraceDocument, before: TraceDocument): readonly RuleDifference[] {
  const newer = rulesOf(now);
  const older = rulesOf(before);
  const changed = [...newer].flatMap(([identity, rule]): readonly RuleDifference[] => {
    const other = older.get(identity) ?? null;
    return other !== null && isSame(rule, other) ? [] : [{ now: rule, before: other }];
  });
  const removed = [...older].filter(([identity]) => !newer.has(identity));
  return [...changed, ...removed.map(([, rule]) => ({ now: null, before: rule }))];
}
