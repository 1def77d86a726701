/** The rules of the domain: by type in the order of evaluation, each with what became of it in the request, its hits and its findings. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { RULE_TYPES, type RuleType } from '../../../../../base/vocabulary/vocabulary.ts';
import type { Rule } from '../../../../../rules/model/types.ts';
import { type RuleNote, refOf } from '../../../../../workbench/simulation/document.ts';
import type { RuleShown } from '../../api/documents.ts';
import { getApi, may } from '../../api/state.ts';
import { deleteRule, reorderRules, ruleName } from '../../api/writes.ts';
import { findingsByRule, type PageState, setState } from '../../state.ts';
import { html } from '../html.ts';
import { filtersOf } from '../rules.ts';
import { confirmDialog } from './modal.ts';
import { newRuleDialog, ruleDialog } from './rule-dialog.ts';
import { type RowContext, ruleRow } from './rule-row.ts';

/** What is open above the list. */
type Open =
  | { readonly kind: 'edit' | 'delete'; readonly rule: RuleShown }
  | { readonly kind: 'new' }
  | { readonly kind: 'nothing' };

const NOTHING: Open = { kind: 'nothing' };

/** The rules of a type, moved by a place. */
function moved(rules: readonly RuleShown[], rule: RuleShown, by: -1 | 1): readonly number[] | null {
  const ids = rules.map(({ id }) => id);
  const [from, to] = [ids.indexOf(rule.id), ids.indexOf(rule.id) + by];
  if (to < 0 || to >= ids.length) return null;
  return ids.with(from, ids[to]!).with(to, rule.id);
}

/** The current request and its decision, in one line that leads to them. */
function requestLine({ answer, form }: PageState): VNode | null {
  if (answer?.ok !== true) return null;
  const { action, status, by } = answer.document.decision;
  const what = `${action}${status === null ? '' : ` ${status}`}${by === null ? '' : ` by ${by.type} #${by.id}`}`;
  return html`<p class="request-line"><span>Marks are of this request:</span> <code>${form.method} ${form.url}</code> <b>${what}</b>
    <button type="button" class="link" onClick=${() => setState({ section: 'request' })}>Change it</button></p>`;
}

/** What became of each rule in the request, by `<type>/<id>`. */
function notesOf({ answer }: PageState): ReadonlyMap<string, RuleNote> {
  if (answer?.ok !== true) return new Map();
  return new Map(answer.document.phases.flatMap(({ rules }) => rules).map((note) => [refOf(note), note]));
}

/** The rules of one type. */
function typeSection(type: RuleType, rules: readonly RuleShown[], context: Omit<RowContext, 'move'>): VNode {
  const move = (rule: RuleShown, by: -1 | 1): void => {
    const ids = moved(rules, rule, by);
    if (ids !== null) void reorderRules(type, ids);
  };
  const summary = getApi().fields?.rules[type].summary;
  return html`<section class="rule-type" key=${type} aria-label=${type}>
    <h3 class="type-title">${type} <span class="type-summary">${summary}</span></h3>
    <ol>${rules.map(
      (rule, index) =>
        html`<${ruleRow} key=${rule.id} rule=${rule} first=${index === 0} last=${index === rules.length - 1} context=${{ ...context, move }} />`,
    )}</ol>
  </section>`;
}

/** Dialogs. @param close closes this one: another may be open by the time that its change is made */
function dialogOf(open: Open, close: () => void): VNode | null {
  switch (open.kind) {
    case 'edit':
      return html`<${ruleDialog} rule=${open.rule} close=${close} />`;
    case 'new':
      return html`<${newRuleDialog} close=${close} />`;
    case 'delete':
      return html`<${confirmDialog} title=${`Delete rule ${ruleName(open.rule)}?`} word="Delete the rule" close=${close} act=${() => deleteRule(open.rule)}
        text=${`It applies to ${filtersOf(open.rule as unknown as Rule)}. The edge forgets it with the next revision; a rollback brings its effect back, not the rule.`} />`;
    case 'nothing':
      return null;
    default:
      return open satisfies never;
  }
}

/** The section. */
export function rulesSection({ state }: { readonly state: PageState }): VNode {
  const [open, setOpen] = useState<Open>(NOTHING);
  const { rules, hits } = getApi();
  if (rules === null) return html`<p class="empty">Loading the rules…</p>`;
  const editable = may('rules.edit');
  const context = {
    editable,
    notes: notesOf(state),
    findings: findingsByRule(state),
    hits: new Map(hits?.rules.map((one) => [one.id, one])),
    edit: (rule: RuleShown) => setOpen({ kind: 'edit', rule }),
    remove: (rule: RuleShown) => setOpen({ kind: 'delete', rule }),
  };
  return html`<section class="list" aria-label="Rules">
    <div class="list-head">
      <div><h2>Rules</h2><p class="note">Types are evaluated from the top down, and within a type lower priorities come first. Alt with an arrow key moves a rule.</p></div>
      ${editable && html`<button type="button" class="primary" onClick=${() => setOpen({ kind: 'new' })}>New rule</button>`}
    </div>
    ${requestLine(state)}
    ${rules.length === 0 && html`<p class="empty">This domain has no rules: every request goes to the record's origin.</p>`}
    ${RULE_TYPES.map((type) => {
      const own = rules.filter((rule) => rule.type === type);
      return own.length > 0 && typeSection(type, own, context);
    })}
    ${dialogOf(open, () => setOpen((now) => (now === open ? NOTHING : now)))}
  </section>`;
}
