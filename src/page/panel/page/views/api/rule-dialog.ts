/** Dialogs that show, change and add a rule. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { RULE_TYPES, type RuleType } from '../../../../../base/vocabulary/vocabulary.ts';
import type { FormField } from '../../../documents.ts';
import { type RuleShown, rulesPath } from '../../api/documents.ts';
import type { FormTexts } from '../../api/form-texts.ts';
import { getApi, may } from '../../api/state.ts';
import { ruleName, rulePath } from '../../api/writes.ts';
import { typedIn } from '../fields.ts';
import { html } from '../html.ts';
import { editor, type FieldGroup } from './editor.ts';
import type { Option } from './form-field.ts';
import { modal } from './modal.ts';

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
  RULE_TYPES.filter((type) => type !== 'cache').map((type) => [type, { action_mode: 'dry_run' }]),
);

/** A new rule: its type, then its form. */
export function newRuleDialog({ close }: { readonly close: () => void }): VNode {
  const [type, setType] = useState<RuleType>('drop');
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
