/** The rules of the domain: by type in the order of evaluation, each with what became of it in the request, its hits and its findings. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { ALWAYS_ENFORCED, RULE_TYPES, type RuleType } from '../../../../../base/vocabulary/vocabulary.ts';
import type { Rule } from '../../../../../rules/model/types.ts';
import { type RuleNote, refOf } from '../../../../../workbench/simulation/document.ts';
import { verdictOf } from '../../../../../workbench/simulation/render-rule.ts';
import type { FindingDocument, FormField } from '../../../documents.ts';
import { type HitsShown, type RuleShown, rulesPath } from '../../api/documents.ts';
import type { FormTexts } from '../../api/form-texts.ts';
import { getApi, may } from '../../api/state.ts';
import { deleteRule, reorderRules, ruleName, rulePath, switchMode, toggleRule } from '../../api/writes.ts';
import { findingsByRule, goTo, type PageState } from '../../state.ts';
import { findingLine, html, marks, typedIn } from '../parts.ts';
import { filtersOf } from '../rules.ts';
import { editor, type FieldGroup } from './editor.ts';
import type { Option } from './form-field.ts';
import { confirmDialog, modal, whenText } from './modal.ts';

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
    <button type="button" class="link" onClick=${() => goTo('request')}>Change it</button></p>`;
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

// Dialogs that show, change and add a rule.

/** Fields that decide whether and when the rule acts. */
const ORDER: ReadonlySet<string> = new Set(['enabled', 'action_mode', 'priority']);

/** The form of a type: what it does, which requests it applies to, when it acts. */
function groupsOf(type: RuleType): readonly FieldGroup[] {
  const section = getApi().fields?.rules[type];
  if (section === undefined) return [];
  const pick = (test: (field: FormField) => boolean): readonly FormField[] => section.common.filter(test);
  const paths = pick(({ name }) => name.startsWith('path_'));
  const others = pick(({ name }) => !name.startsWith('path_') && !ORDER.has(name));
  return [
    { title: 'What it does', fields: section.fields },
    { title: 'Which requests', fields: [...paths, ...others] },
    { title: 'When it acts', fields: pick(({ name }) => ORDER.has(name)) },
  ].filter(({ fields }) => fields.length > 0);
}

/** The proxied records, which a rule can be narrowed to. */
function recordOptions(): Readonly<Record<string, readonly Option[]>> {
  const proxied = (getApi().records ?? []).filter((record) => record.proxied);
  return {
    record_ids: proxied.map(({ id, name, type }) => ({ value: String(id), label: `${name} ${type}` })),
  };
}

/** A rule. */
export function ruleDialog({ rule, close }: { readonly rule: RuleShown; readonly close: () => void }): VNode {
  const editable = may('rules.edit');
  return html`<${modal} title=${`Rule ${ruleName(rule)}`} close=${close} wide>
    <p class="note">${getApi().fields?.rules[rule.type].summary}</p>
    <${editor} path=${rulePath(rule)} isNew=${false} groups=${groupsOf(rule.type)} options=${recordOptions()} editable=${editable}
      done=${`Rule ${ruleName(rule)} is saved.`} close=${close} />
  <//>`;
}

/** What a new rule begins with: a dry run, so that a form that was sent too early refuses nobody. */
const DRY: Partial<Readonly<Record<RuleType, FormTexts>>> = Object.fromEntries(
  RULE_TYPES.filter((type) => !ALWAYS_ENFORCED.includes(type)).map((type) => [
    type,
    { action_mode: 'dry_run' },
  ]),
);

/** A new rule: its type, then its form. */
export function newRuleDialog({
  close,
  first = 'drop',
}: {
  readonly close: () => void;
  /** The type that is proposed. */
  readonly first?: RuleType;
}): VNode {
  const [type, setType] = useState<RuleType>(first);
  const { domain, fields } = getApi();
  return html`<${modal} title="New rule" close=${close} wide>
    <div class="form-field type-field"><label for="new-type">Type</label>
      <select id="new-type" value=${type} onChange=${(event: Event) => setType(typedIn(event) as RuleType)}>
        ${RULE_TYPES.map((one) => html`<option key=${one} value=${one}>${one}</option>`)}
      </select><p class="note">${fields?.rules[type].summary}.${DRY[type] !== undefined && ' A new rule begins as a dry run: it records what it would do, until you enforce it.'}</p></div>
    <${editor} key=${type} path=${rulesPath(domain?.name ?? '', type)} isNew=${true} groups=${groupsOf(type)} options=${recordOptions()} editable=${true} proposed=${DRY[type] ?? {}}
      done=${`A rule of type ${type} is added.`} close=${close} />
  <//>`;
}

// One rule of the list: its switches, what it applies to, what became of it in the request, its hits and its findings.

/** What the rows of a list share. */
interface RowContext {
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
      disabled=${ALWAYS_ENFORCED.includes(rule.type)} aria-disabled=${busy} onClick=${() => run(() => switchMode(rule))}>Dry run</button>
    <button type="button" class="quiet" aria-label=${`Delete ${name}`} aria-disabled=${busy} onClick=${() => busy || context.remove(rule)}>Delete</button>
  </span>`;
}

/** The row. */
function ruleRow(props: RowProps): VNode {
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
