/** One rule of the list: its switches, what it applies to, what became of it in the request, its hits and its findings. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Rule } from '../../../../../rules/model/types.ts';
import type { RuleNote } from '../../../../../workbench/simulation/document.ts';
import { verdictOf } from '../../../../../workbench/simulation/render-rule.ts';
import type { FindingDocument } from '../../../documents.ts';
import type { HitsShown, RuleShown } from '../../api/documents.ts';
import { ruleName, switchMode, toggleRule } from '../../api/writes.ts';
import { html } from '../html.ts';
import { marks } from '../marks.ts';
import { findingLine } from '../mistakes.ts';
import { filtersOf } from '../rules.ts';
import { whenText } from './when.ts';

/** What the rows of a list share. */
export interface RowContext {
  readonly editable: boolean;
  /** What became of each rule in the request, by `<type>/<id>`. */
  readonly notes: ReadonlyMap<string, RuleNote>;
  readonly findings: ReadonlyMap<number, readonly FindingDocument[]>;
  readonly hits: ReadonlyMap<number, HitsShown['rules'][number]>;
  readonly edit: (rule: RuleShown) => void;
  readonly remove: (rule: RuleShown) => void;
  readonly move: (rule: RuleShown, by: -1 | 1) => void;
}

/** One row. */
export interface RowProps {
  readonly rule: RuleShown;
  readonly first: boolean;
  readonly last: boolean;
  readonly context: RowContext;
}

/** How often the rule matched in the last day. */
function hitMark(rule: RuleShown, { hits }: RowContext): VNode {
  const known = hits.get(rule.id);
  if (known === undefined) return html`<span class="hits"></span>`;
  const { last_at, would_change } = known;
  const title =
    last_at === null
      ? 'No hit in the last day'
      : `The last one ${whenText(last_at)}${would_change > 0 ? `; ${would_change} decisions would differ if it were enforced` : ''}`;
  return html`<span class="hits ${known.hits === 0 ? 'dim' : ''}" title=${title}>${known.hits.toLocaleString()} ${known.hits === 1 ? 'hit' : 'hits'}</span>`;
}

/** What became of the rule in the request. */
function verdictMark(rule: RuleShown, { notes }: RowContext): VNode {
  const note = notes.get(`${rule.type}/${rule.id}`);
  if (note === undefined) return html`<span class="verdict-mark"></span>`;
  const { symbol, word, tone } = verdictOf(note);
  return html`<span class="verdict-mark ${tone}" title=${note.reason.text}><span aria-hidden="true">${symbol}</span> ${word}</span>`;
}

/** The buttons of a rule that may be changed. */
function actions(
  { rule, first, last, context }: RowProps,
  busy: boolean,
  run: (act: () => Promise<void>) => void,
): VNode {
  const name = ruleName(rule);
  return html`<span class="actions">
    <button type="button" class="quiet" aria-label=${`Move ${name} up`} aria-disabled=${first} onClick=${() => context.move(rule, -1)}>↑</button>
    <button type="button" class="quiet" aria-label=${`Move ${name} down`} aria-disabled=${last} onClick=${() => context.move(rule, 1)}>↓</button>
    <button type="button" class="quiet" aria-label=${`Dry run of ${name}`} aria-pressed=${rule.action_mode === 'dry_run'}
      disabled=${rule.type === 'cache'} aria-disabled=${busy} onClick=${() => run(() => switchMode(rule))}>Dry run</button>
    <button type="button" class="quiet" aria-label=${`Delete ${name}`} aria-disabled=${busy} onClick=${() => busy || context.remove(rule)}>Delete</button>
  </span>`;
}

/** The row. */
export function ruleRow(props: RowProps): VNode {
  const { rule, context } = props;
  const { editable, edit, move } = context;
  const [busy, setBusy] = useState(false);
  // A control that is disabled while it works would lose the focus.
  const run = (act: () => Promise<void>): void => {
    if (busy) return;
    setBusy(true);
    void act().finally(() => setBusy(false));
  };
  const findings = context.findings.get(rule.id) ?? [];
  const findingsId = `findings-${rule.id}`;
  const press = (event: KeyboardEvent): void => {
    if (!editable || !event.altKey || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return;
    event.preventDefault();
    move(rule, event.key === 'ArrowUp' ? -1 : 1);
  };
  const label = typeof rule['name'] === 'string' && rule['name'] !== '' ? ` ${rule['name']}` : '';
  return html`<li class="row ${rule.enabled ? '' : 'off'}" onKeyDown=${press}>
    <label class="enabled"><input type="checkbox" role="switch" aria-label=${`${ruleName(rule)} enabled`} checked=${rule.enabled} disabled=${!editable} aria-disabled=${busy}
      onClick=${(event: Event) => {
        event.preventDefault();
        run(() => toggleRule(rule));
      }} /></label>
    <button type="button" class="row-name" aria-describedby=${findings.length === 0 ? null : findingsId} onClick=${() => edit(rule)}>
      <span class="item-name">#${rule.id}${label}${rule.action_mode === 'dry_run' && html` <span class="badge">dry run</span>`}<${marks} findings=${findings} /></span>
      <span class="item-filters">${filtersOf(rule as unknown as Rule)}</span>
    </button>
    ${verdictMark(rule, context)}
    ${hitMark(rule, context)}
    ${editable && actions(props, busy, run)}
    ${findings.length > 0 && html`<div class="findings" id=${findingsId}>${findings.map((finding) => html`<${findingLine} finding=${finding} />`)}</div>`}
  </li>`;
}
