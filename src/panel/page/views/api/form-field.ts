/** One field of a form over the API: its control by the field reference, its description, and what is wrong with it. */
import type { VNode } from 'preact';
import type { FormField } from '../../../documents.ts';
import { linesOf } from '../../api/form-texts.ts';
import { typedIn } from '../fields.ts';
import { html } from '../html.ts';

/** A choice of a list. */
export interface Option {
  readonly value: string;
  readonly label: string;
}

/** The field with its text. */
export interface FormFieldProps {
  readonly field: FormField;
  readonly text: string | boolean;
  readonly mistake: string | undefined;
  readonly change: (text: string | boolean) => void;
  readonly disabled: boolean;
  /** What the entries of a list may be, where the page knows better than the reference. */
  readonly options?: readonly Option[];
}

/** Characters from which a text gets several lines. */
const LONG_TEXT = 4_000;

/** Names whose words alone would not say what is meant. */
const LABELS: Readonly<Record<string, string>> = {
  record_ids: 'Records',
  ips: 'IP addresses',
  ja4: 'JA4',
  ja4h: 'JA4H',
};
/** Words that are not written in lower case. */
const SPELLED: Readonly<Record<string, string>> = {
  ip: 'IP',
  ja4: 'JA4',
  ja4h: 'JA4H',
  ttl: 'TTL',
  mx: 'MX',
  lb: 'LB',
  id: 'ID',
  ids: 'IDs',
};

/** `path_includes` as people read it. */
export function labelOfField(name: string): string {
  const label = LABELS[name];
  if (label !== undefined) return label;
  const words = name.split('_').map((word) => SPELLED[word] ?? word);
  const [first = '', ...others] = words;
  return [first.slice(0, 1).toUpperCase() + first.slice(1), ...others].join(' ');
}

/** The choices of a list or a text; `null`: it is free. */
function optionsOf({ field, options }: FormFieldProps): readonly Option[] | null {
  if (options !== undefined) return options;
  return (
    field.options?.map((value) => ({ value: String(value), label: value === '' ? 'none' : String(value) })) ??
    null
  );
}

/** An example as the control takes it. */
function exampleOf({ kind, example }: FormField): string {
  if (example === null) return '';
  if (kind === 'texts' || kind === 'integers') return (example as readonly unknown[]).join('\n');
  return typeof example === 'object' ? JSON.stringify(example) : String(example);
}

/** Checkboxes for the entries of a list. */
function choices(props: FormFieldProps, all: readonly Option[]): VNode {
  const chosen = linesOf(String(props.text));
  const toggle = (value: string, on: boolean): void =>
    props.change(
      all
        .map((one) => one.value)
        .filter((one) => (one === value ? on : chosen.includes(one)))
        .join('\n'),
    );
  return html`<div class="options">${all.map(
    ({
      value,
      label,
    }) => html`<label class="check" key=${value}><input type="checkbox" checked=${chosen.includes(value)} disabled=${props.disabled}
      onChange=${(event: Event) => toggle(value, (event.target as HTMLInputElement).checked)} /> ${label}</label>`,
  )}</div>`;
}

/** The control. */
function control(props: FormFieldProps): VNode {
  const { field, text, change, disabled, mistake } = props;
  const id = `of-${field.name}`;
  const options = optionsOf(props);
  const common = {
    id,
    disabled,
    value: text,
    'aria-invalid': mistake === undefined ? null : 'true',
    'aria-describedby': `${id}-note ${id}-mistake`,
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: false,
    placeholder: exampleOf(field),
    onInput: (event: Event) => change(typedIn(event)),
  };
  const isList = field.kind === 'texts' || field.kind === 'integers';
  if (isList && options !== null) return choices(props, options);
  if (options !== null)
    return html`<select ...${common} onInput=${null} onChange=${common.onInput}>
      ${!options.some(({ value }) => value === text) && html`<option value="">choose one</option>`}
      ${options.map(({ value, label }) => html`<option key=${value} value=${value}>${label}</option>`)}</select>`;
  const lines = isList || field.kind === 'object' || field.kind === 'objects';
  if (lines || (field.kind === 'text' && (field.most ?? 0) > LONG_TEXT))
    return html`<textarea ...${common} rows=${Math.min(12, Math.max(2, String(text).split('\n').length))}></textarea>`;
  return html`<input type="text" ...${common} inputmode=${field.kind === 'integer' ? 'numeric' : null} />`;
}

/** The field. */
export function formField(props: FormFieldProps): VNode {
  const { field, text, mistake, change, disabled } = props;
  const id = `of-${field.name}`;
  const label = labelOfField(field.name);
  const note = html`<p class="note" id=${`${id}-note`}>${described(noteOf(field))}</p>
    <p class="refused" id=${`${id}-mistake`} role="alert">${mistake}</p>`;
  if (field.kind === 'boolean')
    return html`<div class="form-field"><label class="check"><input type="checkbox" role="switch" checked=${text === true} disabled=${disabled}
      aria-describedby=${`${id}-note`} onChange=${(event: Event) => change((event.target as HTMLInputElement).checked)} /> ${label}</label>${note}</div>`;
  const isGroup = (field.kind === 'texts' || field.kind === 'integers') && optionsOf(props) !== null;
  if (isGroup)
    return html`<fieldset class="form-field" aria-describedby=${`${id}-note`}><legend>${label}</legend>${control(props)}${note}</fieldset>`;
  return html`<div class="form-field"><label for=${id}>${label}${field.required && html` <span class="needed">needed</span>`}</label>${control(props)}${note}</div>`;
}

/** The description as a sentence. */
function noteOf({ description, kind, options }: FormField): string {
  const list = kind === 'texts' && options === null ? ' One on each line.' : '';
  return description === '' ? list : `${description}.${list}`;
}

/** A description, with its values in monospace. */
function described(text: string): readonly (string | VNode)[] {
  return text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));
}
