/** One rule of the trace: its outcome and the reason; unfolded, every check, and what its signatures found. */
import type { VNode } from 'preact';
import type { CheckTrace } from '../../../../engine/evaluator/trace.ts';
import type { InspectionDocument } from '../../../../workbench/simulation/decision-document.ts';
import { type RuleNote, refOf } from '../../../../workbench/simulation/document.ts';
import { failedEntry, idOf, verdictOf } from '../../../../workbench/simulation/render-rule.ts';
import type { FindingDocument } from '../../documents.ts';
import { elementOf } from '../choose-rule.ts';
import { html } from './html.ts';
import { marks } from './marks.ts';
import { findingLine } from './mistakes.ts';

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
export function ruleLine({ rule, findings, before }: RuleLineProps): VNode {
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
