/** Fields of the form: a label with its control, bound to one field of the state. */
import type { VNode } from 'preact';
import type { RequestForm } from '../form.ts';
import { setForm } from '../state.ts';
import { html } from './html.ts';

/** One field. */
export interface FieldProps {
  readonly form: RequestForm;
  readonly name: keyof RequestForm;
  readonly label: string;
  readonly placeholder?: string;
  /** Proposed values. */
  readonly list?: readonly string[];
  /** Whether the field takes the whole width of its group. */
  readonly wide?: boolean;
  /** Lines; absent: one line that ends with Enter. */
  readonly rows?: number;
}

/** The id of a field's control. */
export function idOfField(name: keyof RequestForm): string {
  return `field-${name}`;
}

/** Moves the focus to a field, whose group it opens; of several controls, to the first. */
export function focusField(name: keyof RequestForm): void {
  const field = document.getElementById(idOfField(name));
  const group = field?.closest('details');
  if (group !== null && group !== undefined) group.open = true;
  (field?.querySelector('input') ?? field)?.focus();
}

/** The value of an event's control. */
export function typedIn(event: Event): string {
  return (event.target as HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement).value;
}

/** A text field. */
export function textField({ form, name, label, placeholder = '', list, wide, rows }: FieldProps): VNode {
  const id = idOfField(name);
  const common = {
    id,
    name,
    value: form[name],
    placeholder,
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: false,
    onInput: (event: Event) => setForm({ [name]: typedIn(event) }),
  };
  const proposals = list === undefined ? null : `${id}-list`;
  return html`<div class=${wide === true ? 'field wide' : 'field'}>
    <label for=${id}>${label}</label>
    ${rows === undefined ? html`<input type="text" ...${common} list=${proposals} />` : html`<textarea ...${common} rows=${rows}></textarea>`}
    ${proposals !== null && html`<datalist id=${proposals}>${list?.map((value) => html`<option value=${value} />`)}</datalist>`}
  </div>`;
}
