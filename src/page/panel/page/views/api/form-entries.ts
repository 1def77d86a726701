/**
 * Fields of a form: those of one control, and those with fields of their own: an object as a group, a list or a map as rows that are
 * added and removed.
 */
import type { VNode } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { FormField } from '../../../documents.ts';
import { entryOf, type FormEntry, type FormText } from '../../api/form-texts.ts';
import { described } from '../described.ts';
import { html } from '../html.ts';
import { type FormFieldProps, formField, labelOfField, mistakeOf, noteOfField } from './form-field.ts';

/** The field with what is in it, and the mistakes of the form by path. */
interface AnyFieldProps extends Omit<FormFieldProps, 'text' | 'mistake' | 'change'> {
  readonly text: FormText;
  readonly mistakes: ReadonlyMap<string, string>;
  readonly change: (text: FormText) => void;
}

/** A field of any kind. */
export function anyField(props: AnyFieldProps): VNode {
  const { text, mistakes, path } = props;
  if (typeof text !== 'object') return formField({ ...props, text, mistake: mistakes.get(path) });
  return Array.isArray(text) ? html`<${listField} ...${props} />` : html`<${objectField} ...${props} />`;
}

/** The label, the description and the mistakes of a field with fields of its own. */
function heading({ field, path, mistakes }: AnyFieldProps): VNode {
  return html`<legend>${labelOfField(field.name)}${field.required && html` <span class="needed">needed</span>`}</legend>
    ${noteOfField(field, `of-${path}`)}${mistakeOf(mistakes.get(path), `of-${path}`)}`;
}

/** The fields of an object. `row`: the name of the list whose entry it is. */
function innerFields({ field, text, path, ...props }: AnyFieldProps, row?: string): readonly VNode[] {
  const { was, texts } = text as FormEntry;
  // Nothing else of an object that is off has an effect; its mistakes are shown all the same.
  const isOff = texts['enabled'] === false && ![...props.mistakes.keys()].some((one) => one.startsWith(path));
  return field.fields
    .filter(({ name }) => !isOff || name === 'enabled')
    .map(
      (
        inner,
      ) => html`<${anyField} ...${props} key=${inner.name} field=${inner} path=${`${path}.${inner.name}`} text=${texts[inner.name]}
        label=${labelOfField(inner.name, field.name)} noteId=${row && `of-${row}-${inner.name}`}
        change=${(next: FormText) => props.change({ was, texts: { ...texts, [inner.name]: next } })} />`,
    );
}

/** An object. */
function objectField(props: AnyFieldProps): VNode {
  return html`<fieldset class="form-field entries" aria-describedby=${`of-${props.path}-note`}>${heading(props)}
    <div class="form-fields">${innerFields(props)}</div></fieldset>`;
}

/** What the fields of an entry are, once for all rows. */
function legendOf({ name, fields }: FormField): VNode {
  return html`<details class="folded"><summary>What the fields mean</summary><dl class="meanings">${fields.map(
    (inner) =>
      html`<div><dt>${labelOfField(inner.name, name)}</dt><dd id=${`of-${name}-${inner.name}`}>${described(inner.description)}</dd></div>`,
  )}</dl></details>`;
}

/** A list of objects, or a map. */
function listField(props: AnyFieldProps): VNode {
  const { field, path, mistakes, change, disabled } = props;
  const entries = props.text as readonly FormEntry[];
  const one = labelOfField(field.name).replace(/s$/, '');
  const list = useRef<HTMLFieldSetElement>(null);
  /** The entry that gets the focus once it is drawn; its number past the last is the button below. */
  const next = useRef<number | null>(null);
  useLayoutEffect(() => {
    if (next.current === null) return;
    const row = list.current!.querySelectorAll('.entry, .add')[next.current];
    (row?.querySelector<HTMLElement>('input, select, textarea') ?? (row as HTMLElement)).focus();
    next.current = null;
  }, [entries.length]);
  const replace = (index: number, ...by: readonly FormEntry[]): void => {
    if (by.length === 0 || index === entries.length) next.current = index;
    change(entries.toSpliced(index, 1, ...by));
  };
  return html`<fieldset class="form-field entries" ref=${list} aria-describedby=${`of-${path}-note`}>${heading(props)}
    ${entries.map((entry, index) => {
      const at = `${path}[${index}]`;
      return html`<fieldset class="entry" key=${index}><legend>${one} ${index + 1}</legend>
        ${innerFields({ ...props, text: entry, path: at, change: (text) => replace(index, text as FormEntry) }, field.name)}
        <button type="button" class="quiet" aria-label=${`Remove ${one.toLowerCase()} ${index + 1}`} disabled=${disabled} onClick=${() => replace(index)}>Remove</button>
        ${mistakeOf(mistakes.get(at), `of-${at}`)}</fieldset>`;
    })}
    <div class="entries-end"><button type="button" class="quiet add" disabled=${disabled || entries.length === field.most}
      onClick=${() => replace(entries.length, entryOf(field))}>Add ${one.toLowerCase()}</button>${legendOf(field)}</div>
  </fieldset>`;
}
